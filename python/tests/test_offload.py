"""Files of other runtimes: those that the command line writes, and what is said about them."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import intarsia
from intarsia import _resources


def command_line(*arguments: str, cwd: Path) -> None:
    done = subprocess.run([_resources.program(), *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", ["ethos-u55-128", "ethos-u65-512", "ethos-u55-256 -memory-mode=sram-only"])
def test_the_file_is_that_of_the_command_line(digits, tmp_path, target):
    command_line("compile", str(digits), "--target", target, "--format", "tflite", "--summary-csv", "summary.csv", "--layers-csv",
                 "layers.csv", "-o", "out.tflite", cwd=tmp_path)
    made = intarsia.offload(digits, target)
    assert made.data == (tmp_path / "out.tflite").read_bytes()
    assert made.figures == next(csv.DictReader((tmp_path / "summary.csv").open()))
    assert made.layers == list(csv.DictReader((tmp_path / "layers.csv").open()))
    assert made.npu_operators == 13 and made.on_cpu == ()
    assert f"Total cycles{' ' * 36} {float(made.figures['cycles_total']):9.0f}" in str(made)
    assert 0 < made.arena_bytes and (made.fast_bytes > 0) == ("u65" in target)
    made.write(tmp_path / "again.tflite")
    assert (tmp_path / "again.tflite").read_bytes() == made.data


def test_the_file_runs_in_the_simulator(digits):
    images = np.fromfile(digits.parent / "test_images.bin", np.int8).reshape(-1, 1, 8, 8, 1)
    whole = intarsia.Simulator(intarsia.offload(digits, "ethos-u55-128").data, target="ethos-u55-128")
    model = intarsia.Model(digits)
    for image in images[:5]:
        assert whole(image)[0].tobytes() == model(image)[0].tobytes()


def test_what_stays_says_why(digits):
    made = intarsia.offload(digits, "ethos-u55-128", pins={"scores": "c"})
    kept, = made.on_cpu
    assert "scores" in kept.label and "pinned to c" in kept.reason
    assert "1 on the CPU" in repr(made)


def test_networks_are_those_of_the_command_line(digits, tmp_path):
    command_line("compile", str(digits), "--target", "ethos-n78-4tops-4ple", "--format", "encn", "-o", "out", cwd=tmp_path)
    files = intarsia.bare_networks(digits, "ethos-n78-4tops-4ple")
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert files["digits_0.encn"].startswith(b"ENCN")
    assert json.loads(files["networks.json"])["target"] == "ethos-n78-4tops-4ple"


@pytest.mark.parametrize("call, words", [
    (lambda digits: intarsia.offload(digits, "cortex-m4"), "an NPU"),
    (lambda digits: intarsia.offload(digits, "ethos-n78-4tops-4ple"), "ethosn"),
    (lambda digits: intarsia.offload(b"no model", "ethos-u55-128"), "model"),
    (lambda digits: intarsia.offload(digits, "ethos-u55-128", progress=3), "give a function"),
    (lambda digits: intarsia.offload(digits, "ethos-u55-128", pins={"nobody": "c"}), "names no operator"),
    (lambda digits: intarsia.bare_networks(digits, "ethos-u55-128"), "encn"),
    (lambda digits: intarsia.bare_networks(digits, "ethos-n78-4tops-4ple", "tflite"), "format tflite: is for"),
    (lambda digits: intarsia.bare_networks(digits, "ethos-n78-4tops-4ple", ""), "write 'encn'")])
def test_what_cannot_be_done_is_an_error(digits, call, words):
    with pytest.raises(intarsia.Error) as raised:
        call(digits)
    assert words in str(raised.value)
