"""What the tests have in common: models, and skipping by name of what is missing."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DIGITS = REPOSITORY / "examples" / "digits"

# The sum of the last three inputs.
LAST_THREE = b"""intarsia.graph last_three
const @0 one = f32[1]
const @1 ones = f32[1, 1, 1]
const @2 none = f32[0]
func @main(%0) -> (%5) {
  %0 value: f32[1,1]
  %1 feature: f32[1,1] = @0
  %2 time: f32[1,3] = @1
  %3 bias: f32[1] = @2
  %4 memory: f32[1,3] variable
  %5 total: f32[1,1]
  svdf layer(%0, %1, %2, %3, %4) -> (%5, %4)
}
entry @main
"""


def needs(name: str, why: str) -> None:
    """Skips the test: for a need that has a name in tests/support/needs.h."""
    pytest.skip(f"needs {name}: {why}")


def package_or_skip(name: str, need: str = "python-packages") -> None:
    if importlib.util.find_spec(name) is None:
        needs(need, f"{name} is not installed")


def training_package_or_skip(name: str) -> None:
    """PyTorch, TensorFlow, and what comes with them: gigabytes that scripts/python-packages does not fetch."""
    package_or_skip(name, "training-packages")


def cross_compiler_or_skip() -> None:
    if shutil.which("arm-none-eabi-gcc") is None:
        needs("cross-toolchain", "there is no arm-none-eabi-gcc")


class Skips:
    """Counts skips for ./test, and refuses those that must not be."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.skipped or not isinstance(report.longrepr, tuple):
            return
        reason = report.longrepr[2].removeprefix("Skipped: ")
        need = re.match(r"needs ([^:]*): ", reason)
        allowed = os.environ.get("INTARSIA_MAY_SKIP")
        if allowed is not None and (need is None or need.group(1) not in re.split(r"[\s,;]+", allowed)):
            self.refused.append(f"{report.nodeid}: {reason}")
        if "INTARSIA_SKIP_LOG" in os.environ:
            with open(os.environ["INTARSIA_SKIP_LOG"], "a", encoding="utf-8") as log:
                log.write(f"{report.nodeid}\t{reason}\n")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.refused:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter) -> None:
        for refused in self.refused:
            terminalreporter.write_line(f"skipped, and $INTARSIA_MAY_SKIP does not allow it: {refused}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Skips())


@pytest.fixture
def digits() -> Path:
    return DIGITS / "digits.tflite"


@pytest.fixture
def images() -> np.ndarray:
    return np.fromfile(DIGITS / "test_images.bin", np.int8).reshape(-1, 1, 8, 8, 1)


@pytest.fixture
def goldens() -> np.ndarray:
    """The outputs of TensorFlow Lite Micro."""
    return np.fromfile(DIGITS / "golden_outputs.bin", np.int8).reshape(-1, 1, 10)
