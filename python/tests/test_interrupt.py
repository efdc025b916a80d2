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

# No placement fits, and it takes more steps than anybody lives to show it.
HARD = """
import random
random.seed(4)
buffers = []
for i in range(400):
    lower = random.randrange(300)
    buffers.append((str(i), lower, lower + random.randrange(1, 60), random.randrange(1, 5000)))
"""

ENDLESS = b"""intarsia.graph endless
const @0 yes = bool[true]
func @main(%0) -> (%1) {
  %0 x: i32[1]
  %1 y: i32[1]
  while loop(%0) -> (%1) {condition="always", body="same"}
}
func @always(%0) -> (%1) {
  %0 x: i32[1]
  %1 y: bool[1] = @0
}
func @same(%0) -> (%0) {
  %0 x: i32[1]
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
    process = start(HARD + "print('ready', flush=True)\nintarsia.plan(buffers, steps=1 << 62)")
    assert interrupt(process) == "interrupted\n"


def test_ends_the_evaluator():
    process = start(f"""
        import numpy
        model = intarsia.Model({ENDLESS!r})
        print('ready', flush=True)
        model(numpy.zeros(1, numpy.int32))
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
            intarsia.plan(buffers, steps=1 << 62)
        except Stop:
            print('stopped')
        """))
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

