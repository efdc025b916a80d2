"""The scripts of examples/python, as their page says to run them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from conftest import REPOSITORY, cross_compiler_or_skip, package_or_skip, training_package_or_skip

import intarsia

EXAMPLES = REPOSITORY / "examples" / "python"


def run(script: str, *arguments: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, EXAMPLES / script, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def trains(script: str, name: str, macs: int, cwd: Path) -> str:
    """Of a script that trains a network: firmware for a board and for an NPU, that both are right, and what was printed."""
    cross_compiler_or_skip()
    printed = run(script, "--board", "mps2-an386", "-o", "out", cwd=cwd)
    for where in ("mps2-an386", r"cortex-m55\+ethos-u55-128"):
        flash = r"\d+" if where == "mps2-an386" else r"at least \d+"
        assert re.search(rf"^{where}: \d+ bytes of RAM, {flash} of flash, {macs} multiply-accumulates$", printed, re.MULTILINE), printed
    assert len(re.findall(r"^on .*ethos-u", printed, re.MULTILINE)) == 1, printed
    assert printed.count("agree on 4 samples") == 2, printed
    right = re.findall(r"^(\d+) of 180 right$", printed, re.MULTILINE)
    assert len(right) == 2 and all(int(count) >= 150 for count in right), printed
    for folder in ("package", "npu_package"):
        assert (cwd / "out" / folder / f"{name}.c").exists()
    return printed


def test_onnx_to_firmware(tmp_path):
    package_or_skip("onnx")
    package_or_skip("onnxruntime")
    trains("onnx_to_firmware.py", "digits_mlp", 2368, tmp_path)


def test_pytorch_to_firmware(tmp_path):
    for package in ("torch", "onnxscript", "onnx", "onnxruntime"):
        training_package_or_skip(package)
    # Two convolutions of 3x3, one of them depthwise, one of 1x1, and a layer of 128 times 10.
    printed = trains("pytorch_to_firmware.py", "digits_pytorch", 64 * 9 * 16 + 16 * 9 * 16 + 16 * 16 * 32 + 128 * 10, tmp_path)
    assert_close_to_floats("PyTorch", printed)


def test_keras_to_firmware(tmp_path):
    training_package_or_skip("tensorflow")
    printed = trains("keras_to_firmware.py", "digits_keras", 64 * 9 * 16 + 16 * 9 * 16 + 16 * 16 * 32 + 128 * 10, tmp_path)
    assert_close_to_floats("Keras", printed)


def assert_close_to_floats(framework: str, printed: str) -> None:
    """The integers get as many right as the floats of the framework, but for a few."""
    floats = re.search(rf"^{framework}, in floats: (\d+) of 180 right$", printed, re.MULTILINE)
    assert floats, printed
    for count in re.findall(r"^(\d+) of 180 right$", printed, re.MULTILINE):
        assert abs(int(count) - int(floats.group(1))) <= 5, printed


def test_choose_a_target(tmp_path, digits):
    printed = run("choose_a_target.py", str(digits), "--csv", "table.csv", cwd=tmp_path)
    rows = (tmp_path / "table.csv").read_text().splitlines()
    assert len(rows) == 13 and printed.count("\n") == 14
    table = intarsia.sweep(digits, ["cortex-m4"], [2500])
    assert f"{table[0].ram:>8}" in printed and "  *" in printed
