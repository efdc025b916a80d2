"""Types: the package is checked as strictly as mypy can, and what it says is there."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import package_or_skip

import intarsia


def test_the_package_says_that_it_has_types():
    folder = Path(intarsia.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_core.pyi").read_text()
    for name in ("def compile(", "class Compiled", "class ModelOptions", "def place("):
        assert name in stub


@pytest.mark.parametrize("name", intarsia.__all__)
def test_everything_is_documented_and_has_types(name):
    thing = getattr(intarsia, name)
    if name in ("ModelLike", "Progress"):  # names of types
        return
    assert inspect.getdoc(thing), name
    functions = [thing] if inspect.isfunction(thing) else [
        member for key, member in vars(thing).items() if inspect.isfunction(member) and not key.startswith("_")]
    for function in functions:
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty, function
        for parameter in list(signature.parameters.values())[0 if function is thing else 1:]:
            assert parameter.annotation is not inspect.Parameter.empty, (function, parameter)
        assert inspect.getdoc(function), function


def test_mypy_finds_nothing(tmp_path):
    package_or_skip("mypy")
    (tmp_path / "user.py").write_text('''
import numpy as np

import intarsia

package = intarsia.compile("digits.tflite", board="mps2-an386", pins={"conv": "npu"}, progress=lambda stage, detail: None)
ram: int = package.report.ram
flash: int | None = package.report.flash
scores = intarsia.Model("digits.tflite")(np.zeros((1, 8, 8, 1), np.int8))[0]
boards: tuple[intarsia.Board, ...] = intarsia.boards()
board: intarsia.Board = intarsia.boards("host")
peak: int = intarsia.plan([("a", 0, 1, 10)]).peak
intarsia.sweep(["a.tflite"], ["cortex-m4"]).to_csv("table.csv")
''')
    (tmp_path / "intarsia").mkdir()  # without its resources, and without links
    for source in Path(intarsia.__file__).parent.glob("*.py*"):
        (tmp_path / "intarsia" / source.name).write_text(source.read_text())
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache"),
                           "intarsia", "user.py"],
                          cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
