"""Ctrl-C ends long work soon, and what it had started with it; other threads go on while the compiler works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from conftest import LAST_THREE

import intarsia

PATIENCE = 60  # seconds, for machines that are busy

# Three of the buffers do not fit between two walls, and there are more than two for each gap: no placement fits, and it takes
# minutes to show it.
HARD = """
buffers = [(f"wall{gap}", 0, 2, 1, 1, gap * 1001 + 1000) for gap in range(10)] + [(str(i), 0, 2, 334 + i) for i in range(21)]
"""
SEARCH = "intarsia.plan(buffers, capacity=10010, steps=1 << 62)"

# Two thousand million rounds.
ENDLESS = b"""intarsia.graph endless
const @0 zero = i32[0]
const @1 one = i32[1]
const @2 limit = i32[2000000000]
func @main(%1) -> (%5) {
  %0 first: i32[] = @0
  %1 a: i32[1]
  %2 limit: i32[] = @2
  %3 last: i32[]
  %4 same: i32[]
  %5 x: i32[1]
  while loop(%0, %2, %1) -> (%3, %4, %5) {condition=goes_on, body=next}
}
func @goes_on(%0, %1, %2) -> (%3) {
  %0 i: i32[]
  %1 n: i32[]
  %2 a: i32[1]
  %3 less: bool[]
  less compare(%0, %1) -> (%3)
}
func @next(%0, %1, %2) -> (%4, %1, %5) {
  %0 i: i32[]
  %1 n: i32[]
  %2 a: i32[1]
  %3 one: i32[] = @1
  %4 ni: i32[]
  %5 sum: i32[1]
  add count(%0, %3) -> (%4)
  add more(%2, %2) -> (%5)
}
entry @main
"""


def start(code: str, **keywords) -> subprocess.Popen:
    """A Python that says "ready", works, and says how that ended."""
    script = "import intarsia\n" + textwrap.dedent(code).strip()
    body = textwrap.indent(script, "    ")
    program = f"import sys\ntry:\n{body}\n    print('done')\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, **keywords)


def interrupt(process: subprocess.Popen) -> str:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)  # until the work has begun; it does not end by itself
    process.send_signal(signal.SIGINT)
    try:
        out, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return out


def test_ends_the_planner():
    process = start(HARD + "print('ready', flush=True)\n" + SEARCH)
    assert interrupt(process) == "interrupted\n"


def test_ends_the_evaluator():
    process = start(f"""
        import numpy
        model = intarsia.Model({ENDLESS!r})
        print('ready', flush=True)
        model(numpy.zeros(1, numpy.int32))
        """)
    assert interrupt(process) == "interrupted\n"


def test_ends_the_engine():
    process = start(f"""
        import numpy
        simulator = intarsia.Simulator({ENDLESS!r})
        print('ready', flush=True)
        simulator(numpy.zeros(1, numpy.int32))
        """)
    assert interrupt(process) == "interrupted\n"


def test_ends_the_board_s_compiler_too(digits, tmp_path):
    compiler = tmp_path / "arm-none-eabi-gcc"
    compiler.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/pids\nsleep 1000\n")
    compiler.chmod(0o755)
    environment = dict(os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}", XDG_CACHE_HOME=str(tmp_path), TMPDIR=str(tmp_path))
    process = start(f"""
        print('ready', flush=True)
        intarsia.compile({str(digits)!r}, board="mps2-an386")
        """, env=environment)
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / "pids").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert interrupt(process) == "interrupted\n"
    for pid in (tmp_path / "pids").read_text().split():
        assert not Path("/proc", pid).exists()
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) in ([], ["intarsia"])  # no folder of its own stays


def test_a_signal_handler_s_exception_is_raised():
    process = start(HARD + textwrap.dedent("""
        import signal
        class Stop(Exception): pass
        def stop(*_): raise Stop
        signal.signal(signal.SIGINT, stop)
        print('ready', flush=True)
        try:
            SEARCH
        except Stop:
            print('stopped')
        """.replace("SEARCH", SEARCH)))
    assert interrupt(process) == "stopped\ndone\n"


def test_other_threads_go_on(digits, tmp_path, monkeypatch):
    # The board's compiler waits for a file that the main thread makes: with Python's lock held nobody could.
    compiler = tmp_path / "arm-none-eabi-gcc"
    compiler.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\nwhile [ ! -e {tmp_path}/go ]; do sleep 0.02; done\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    reports: list[intarsia.Report] = []
    thread = threading.Thread(target=lambda: reports.append(intarsia.compile(digits, board="mps2-an386").report))
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    (tmp_path / "go").touch()
    thread.join(PATIENCE)
    assert reports and reports[0].flash is None and reports[0].not_measured


def test_a_further_interpreter_is_refused(tmp_path):
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        interpreters = pytest.importorskip("_interpreters")
    code = textwrap.dedent("""
        import sys
        sys.path[:0] = PATHS
        try:
            import intarsia
        except ImportError as error:
            open(OUT, 'w').write(str(error))
        else:
            open(OUT, 'w').write('imported')
        """)
    out = tmp_path / "said"
    child = subprocess.run([sys.executable, "-c", f"""
import {interpreters.__name__} as interpreters, sys
import intarsia
other = interpreters.create()
interpreters.run_string(other, {code!r}.replace('PATHS', repr(sys.path)).replace('OUT', repr({str(out)!r})))
print(intarsia.compile({LAST_THREE!r}, measure=False).name)
"""], capture_output=True, text=True, check=False)
    assert child.returncode == 0 and child.stdout == "last_three\n", child.stderr
    assert "interpreter" in out.read_text()

