"""Packages: the files are the command line's, whatever a model is given as."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest
from conftest import LAST_THREE, cross_compiler_or_skip

import intarsia
from intarsia import _resources


def command_line(*arguments: str, cwd: Path) -> str:
    done = subprocess.run([_resources.program(), *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files_below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Serialised:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def SerializeToString(self) -> bytes:  # noqa: N802
        return self.data


@pytest.mark.parametrize("options", [
    [], ["--target", "ethos-u55-128"], ["--target", "cortex-m4", "--name", "net"], ["--optimise", "speed", "--ram-budget", "2500"],
    ["--policy", "cost", "--target", "cortex-m55+ethos-u55-128"]])
def test_files_are_those_of_the_command_line(digits, tmp_path, options):
    command_line("compile", str(digits), *options, "-o", "out", cwd=tmp_path)
    keywords = {option.removeprefix("--").replace("-", "_"): value for option, value in zip(options[::2], options[1::2])}
    package = intarsia.compile(digits, **keywords)
    assert package.files == files_below(tmp_path / "out")
    assert str(package.report) == (tmp_path / "out" / "report.txt").read_text()
    package.write(tmp_path / "ours")
    assert files_below(tmp_path / "ours") == files_below(tmp_path / "out")


def test_figures_of_a_board_are_those_of_the_command_line(digits, tmp_path):
    cross_compiler_or_skip()
    printed = command_line("compile", str(digits), "--board", "mps2-an386", "--json", "-o", "out", cwd=tmp_path)
    report = intarsia.compile(digits, board="mps2-an386").report
    assert report.to_json() == printed
    assert report.flash == report.data["flash"]["total_bytes"] > report.constant_bytes
    assert report.stack is not None and report.stack_chain[0].startswith("digits_run ")
    assert report.not_measured is None and report.compiler.startswith("arm-none-eabi-gcc")


def test_the_budget_of_a_board_is_that_of_the_command_line(digits, tmp_path):
    cross_compiler_or_skip()
    options = {"board": "stm32vldiscovery", "ram_budget": "auto"}
    printed = command_line("compile", str(digits), "--board", "stm32vldiscovery", "--ram-budget", "auto", "--json", "-o", "out", cwd=tmp_path)
    report = intarsia.compile(digits, **options).report
    assert report.to_json() == printed
    assert report.data["ram_budget"]["budget"] == 5 * 1024
    with pytest.raises(intarsia.Error, match="board host has no limit"):
        intarsia.compile(digits, ram_budget="auto")


@pytest.mark.parametrize("format", intarsia.formats())
def test_formats_are_those_of_the_command_line(digits, tmp_path, format):
    command_line("compile", str(digits), "--target", "c", "--format", format, "-o", "out", cwd=tmp_path)
    intarsia.compile(digits, target="c").write(tmp_path / "ours", format=format)
    assert files_below(tmp_path / "ours") == files_below(tmp_path / "out")
    assert format.summary


def test_what_a_format_cannot_carry_is_refused(digits, tmp_path):
    with pytest.raises(intarsia.Error, match="format esp-idf: digits was compiled for cortex-m4, .* compile it with target c"):
        intarsia.compile(digits, target="cortex-m4").write(tmp_path / "ours", format="esp-idf")
    assert not (tmp_path / "ours").exists()


def test_other_forms_of_the_package(digits, tmp_path):
    package = intarsia.compile(digits)
    package.write(tmp_path / "single", single_file=True)
    assert {"digits.c", "digits.h"} == {name for name in files_below(tmp_path / "single") if name.endswith((".c", ".h"))}
    package.write(tmp_path / "model", runtime=tmp_path / "runtime")
    assert any(name.startswith("intarsia/") for name in files_below(tmp_path / "runtime"))
    assert not any(name.startswith("intarsia/") for name in files_below(tmp_path / "model"))


def test_a_model_is_a_path_or_bytes_or_what_becomes_bytes(digits):
    data = digits.read_bytes()
    expected = intarsia.compile(str(digits)).files
    for model in (digits, data, bytearray(data), memoryview(data), Serialised(data)):
        files = intarsia.compile(model, name="digits").files
        assert files == expected
    assert intarsia.compile(data).name == "model"


def test_packages_describe_themselves(digits):
    package = intarsia.compile(digits, target="cortex-m55+ethos-u55-128", policy="cost")
    assert package.name == "digits" and package.board == "host"
    assert "digits" in repr(package) and "ethos-u" in package.target
    assert package.notes == ()
    small = intarsia.compile(LAST_THREE, target="cortex-m55+ethos-u55-128")
    assert len(small.notes) == 1 and "runs nothing of last_three" in small.notes[0]
    assert small.name == "last_three"


def test_a_target_may_be_a_dictionary(digits):
    spelled = intarsia.targets("ethos-u55-128")
    assert intarsia.compile(digits, target=spelled.json).files == intarsia.compile(digits, target="ethos-u55-128").files


def test_progress_names_the_stages_in_order(digits):
    stages = []
    intarsia.compile(digits, progress=lambda stage, detail: stages.append(stage) if not detail else None)
    assert stages == ["import", "eliminate", "partition", "lower", "plan", "emit", "package", "measure"]
    stages.clear()
    intarsia.compile(digits, measure=False, progress=lambda stage, detail: stages.append(stage))
    assert stages[-1] == "package"


def test_progress_tells_what_is_compiled(digits, tmp_path, monkeypatch):
    cross_compiler_or_skip()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    told = []
    intarsia.compile(digits, board="mps2-an386", progress=lambda stage, detail: told.append((stage, detail)))
    assert any(stage == "measure" and detail.startswith("compiling sources: ") for stage, detail in told)


@pytest.mark.parametrize("at", ["import", "partition", "plan", "package"])
def test_what_a_callback_raises_is_raised(digits, at):
    class Enough(Exception):
        pass

    later = []

    def progress(stage: str, detail: str) -> None:
        if later:
            later.append(stage)
        if stage == at:
            later.append(stage)
            raise Enough("of it")

    with pytest.raises(Enough, match="of it"):
        intarsia.compile(digits, progress=progress)
    assert later == [at]  # nobody is told anything afterwards


def test_what_a_callback_raises_while_other_threads_compile_is_raised(digits, tmp_path, monkeypatch):
    cross_compiler_or_skip()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # nothing is compiled already

    def progress(stage: str, detail: str) -> None:
        if stage == "measure" and detail:
            raise KeyError(detail)

    with pytest.raises(KeyError, match="compiling"):
        intarsia.compile(digits, board="mps2-an386", progress=progress)


def test_threads_compile_different_models(digits):
    expected = {target: intarsia.compile(digits, target=target).files for target in ("c", "ethos-u55-128", "cortex-m4")}
    got: dict[tuple[str, int], dict[str, bytes]] = {}

    def work(target: str, index: int) -> None:
        got[target, index] = intarsia.compile(digits, target=target).files

    threads = [threading.Thread(target=work, args=(target, index)) for target in expected for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 9
    for (target, _), files in got.items():
        assert files == expected[target]
