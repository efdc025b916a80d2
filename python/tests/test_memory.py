"""Nothing is left behind: many compilations and evaluations within little memory."""

from __future__ import annotations

import os
import subprocess
import sys

from conftest import DIGITS

# 10,000 where there is time: a compilation that loses 1 KiB then fails; otherwise one that loses 16.
TIMES = 10_000 if os.environ.get("INTARSIA_LONG") == "1" else 500


def within_little_memory(work: str) -> None:
    code = f"""
import resource
import numpy, intarsia
model_bytes = open({str(DIGITS / 'digits.tflite')!r}, "rb").read()
image = numpy.zeros((1, 8, 8, 1), numpy.int8)
{work}
for _ in range(100):
    once()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (8 << 20),) * 2)
for _ in range({TIMES}):
    once()
print("done")
"""
    environment = dict(os.environ, MALLOC_ARENA_MAX="1", OPENBLAS_NUM_THREADS="1")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "done\n", done.stderr


def test_compiling():
    within_little_memory("""
def once():
    intarsia.compile(model_bytes, measure=False, progress=lambda *_: None).report
""")


def test_failing():
    within_little_memory("""
def once():
    for broken, pins in ((model_bytes[:200], {}), (b"", {}), (model_bytes, {"nobody": "c"})):
        try:
            intarsia.compile(broken, measure=False, pins=pins, target="cortex-m4")
        except intarsia.Error as error:
            assert error.problems
        else:
            raise AssertionError
    try:
        intarsia.compile(model_bytes, measure=False, progress=lambda *_: 1 / 0)
    except ZeroDivisionError:
        pass
""")


def test_evaluating():
    within_little_memory("""
model, simulator = intarsia.Model(model_bytes), intarsia.Simulator(model_bytes)
def once():
    model(image)
    model.run_all(image)
    simulator(image)
    simulator.run_all(image)
    intarsia.Model(model_bytes)
""")
