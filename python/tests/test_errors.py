"""What cannot be done says where, what, and what to do about it, in Python's words."""

from __future__ import annotations

import os
import pickle
import shutil

import pytest

import intarsia
from intarsia import _core


def problems_of(function, *arguments, **keywords) -> list[str]:
    with pytest.raises(intarsia.Error) as caught:
        function(*arguments, **keywords)
    assert str(caught.value) == "\n".join(map(str, caught.value.problems))
    return [str(problem) for problem in caught.value.problems]


def test_a_model_that_is_not_there(tmp_path):
    found = problems_of(intarsia.compile, tmp_path / "none.tflite")
    assert len(found) == 1 and "none.tflite" in found[0]
    assert problems_of(intarsia.Model, tmp_path / "none.tflite") == found
    assert problems_of(intarsia.explain, tmp_path / "none.tflite") == found


def test_names_of_files_need_not_be_utf8(digits, tmp_path):
    """Where the system takes any bytes."""
    odd = os.path.join(tmp_path, os.fsdecode(b"m\xe9.tflite"))
    try:
        shutil.copy(digits, odd)
    except OSError:
        pytest.skip("the file system has no such names")
    assert intarsia.Model(odd).inputs == intarsia.Model(digits).inputs
    package = intarsia.compile(odd)
    assert package.report.ram == intarsia.compile(digits).report.ram
    os.remove(odd)
    assert "m\\udce9.tflite: cannot be read: No such file" in problems_of(intarsia.compile, odd)[0]
    assert problems_of(package.write, odd) == [f"folder: {odd!r} is no text of UTF-8; write another path"]
    assert problems_of(intarsia.compile, digits, target="\udce9", pins={"\udce9": "c"}) == [
        "target: '\\udce9' is no text of UTF-8", "pins: '\\udce9': 'c' is not a pair of strings; for example {'conv_3': 'npu'}"]


def test_what_is_no_model():
    assert "neither a .tflite model" in problems_of(intarsia.compile, b"nothing of the kind")[0]
    assert problems_of(intarsia.compile, 3) == [
        "model: is a int; give a path, bytes, or an object with SerializeToString(), as onnx has them"]
    assert "is empty" in problems_of(intarsia.Model, b"")[0]


def test_all_wrong_arguments_are_told_together(digits):
    assert problems_of(intarsia.compile, digits, optimise="spee", policy="best", io=8, ram_budget="much", pins=["a"], name="a b",
                       timeout=-1) == [
        "optimise: 'spee' is no choice; did you mean 'speed'?",
        "ram_budget: 'much' is no size; write bytes as 60000, '20K' or '1.5M' (K is 1024)",
        "pins: is a list; write a dictionary, for example {'conv_3': 'npu'}",
        "policy: 'best' is no choice; write one of priority, cost",
        "io: 8 is no choice; write one of float, int8",
        "timeout: -1 is no number of seconds; write 0 (for ever) to 1000000",
        f"name: 'a b' {_core.name_problem('a b')}; {_core.name_rule()}",
    ]
    assert problems_of(intarsia.compile, digits, ram_budget=0) == ["ram_budget: 0 is out of range; write a number of bytes, at least 1"]
    assert problems_of(intarsia.compile, digits, measure=False, flash_budget=1) == [
        "flash_budget: needs flash to be measured; leave measure=False out"]


def test_an_unknown_argument_is_a_type_error(digits):
    with pytest.raises(TypeError, match="optimize"):
        intarsia.compile(digits, optimize="speed")


def test_names_of_files_are_no_options(tmp_path):
    path = tmp_path / "kws--target.tflite"
    assert str(path) in problems_of(intarsia.compile, path)[0]
    assert str(intarsia.Error([("--pins", "--pin a; --pin-b", "--pin")])) == "--pins: pins a; --pin-b; pins"


def test_options_are_named_as_in_python(digits):
    assert problems_of(intarsia.compile, digits, target="cortex-m44")[0].startswith("target: ")
    assert "--" not in problems_of(intarsia.compile, digits, pins={"no_such": "c"})[0]
    assert problems_of(intarsia.compile, digits, pins={"conv": "npu"}, target="cortex-m4")[0].startswith("pins conv: ")
    assert "flash_budget: " in problems_of(intarsia.compile, digits, flash_budget="4K")[0]
    with pytest.raises(intarsia.Error, match="format"):
        intarsia.compile(digits).write("nowhere", format="zephir")


def test_too_little_memory_says_how_much_is_missing(digits):
    found = problems_of(intarsia.compile, digits, ram_budget=100)
    assert any("100" in problem for problem in found)


def test_every_operator_that_is_not_supported_is_told():
    model = b"""intarsia.graph wrong
func @main(%0) -> (%2) {
  %0 x: i8[1,4] q(0.5:0)
  %1 y: i8[1,4]
  %2 z: i8[1,5]
  relu first(%0) -> (%1)
  relu second(%1) -> (%2)
}
entry @main
"""
    assert len(problems_of(intarsia.compile, model)) >= 1


def test_a_folder_that_cannot_be_written(digits, tmp_path):
    (tmp_path / "file").write_text("in the way")
    package = intarsia.compile(digits)
    assert "file" in problems_of(package.write, tmp_path / "file")[0]
    assert (tmp_path / "file").read_text() == "in the way"
    assert problems_of(package.write, "") == ["folder: is ''; write a path"]


def test_errors_can_be_sent_to_other_processes():
    error = intarsia.Error([("here", "is wrong", "do this"), ("there", "is wrong too", "")])
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems
    assert str(again) == "here: is wrong; do this\nthere: is wrong too"
    assert error.problems[0].where == "here" and error.problems[0].hint == "do this"


def test_a_fault_of_the_library_is_an_exception(digits):
    with pytest.raises(intarsia.InternalError, match="internal error at .*two is three.*please report this"):
        _core.break_invariant("two is three")
    assert intarsia.compile(digits, measure=False).name == "digits"  # and the library goes on working


def test_progress_has_to_be_a_function(digits):
    assert problems_of(intarsia.compile, digits, progress="yes") == ["progress: is a str; give a function of two strings"]
