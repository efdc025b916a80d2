"""The scripts of examples/python, as their page says to run them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from conftest import REPOSITORY, cross_compiler_or_skip, package_or_skip

import intarsia

EXAMPLES = REPOSITORY / "examples" / "python"


def run(script: str, *arguments: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, EXAMPLES / script, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_onnx_to_firmware(tmp_path):
    package_or_skip("onnx")
    package_or_skip("onnxruntime")
    cross_compiler_or_skip()
    printed = run("onnx_to_firmware.py", "--board", "mps2-an386", "-o", "out", cwd=tmp_path)
    assert re.search(r"^\d+ bytes of RAM, \d+ of flash, 2368 multiply-accumulates$", printed, re.MULTILINE), printed
    assert "agree on 4 samples" in printed
    right = re.search(r"^(\d+) of 180 right$", printed, re.MULTILINE)
    assert right and int(right.group(1)) >= 150, printed
    assert (tmp_path / "out" / "package" / "digits_mlp.c").exists()


def test_choose_a_target(tmp_path, digits):
    printed = run("choose_a_target.py", str(digits), "--csv", "table.csv", cwd=tmp_path)
    rows = (tmp_path / "table.csv").read_text().splitlines()
    assert len(rows) == 13 and printed.count("\n") == 14
    table = intarsia.sweep(digits, ["cortex-m4"], [2500])
    assert f"{table[0].ram:>8}" in printed and "  *" in printed
