"""Compiling a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Optional

from intarsia import _core, _resources
from intarsia._errors import error
from intarsia._options import Bytes, Collected, ModelLike, bytes_of, is_utf8, options_of
from intarsia._report import Report

__all__ = ["Format", "Package", "Progress", "compile", "formats"]

Progress = Optional[Callable[[str, str], object]]
"""Called with a stage's name ("import", "eliminate", "partition", "lower", "plan", "emit", "package", "measure") when it begins,
the second string being empty, and with what is going on in it now and then. What it returns does not matter; what it raises
ends the work and is raised from there."""


class Format(str):
    """A name that ``Package.write(format=...)`` takes."""

    summary: str
    """What it is for, one line."""

    def __new__(cls, name: str, summary: str) -> Format:
        made = super().__new__(cls, name)
        made.summary = summary
        return made


def formats() -> tuple[Format, ...]:
    """The formats that packages can be written in, "plain" first."""
    return tuple(Format(name, summary) for name, summary in _core.formats())


class Package:
    """A compiled model: C sources, command streams, the runtime that they call, and a report. Made by :func:`compile`."""

    def __init__(self, compiled: _core.Compiled) -> None:
        self._compiled = compiled
        self._files: dict[str, bytes] | None = None
        self._report: Report | None = None

    @property
    def name(self) -> str:
        """The model's name in C and of its files."""
        return self._compiled.name

    @property
    def target(self) -> str:
        """What it is compiled for, as a target string."""
        return self._compiled.target

    @property
    def board(self) -> str:
        return self._compiled.board

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided that nobody asked for, a sentence each: an open batch that became 1, a device without work."""
        return tuple(self._compiled.notes)

    @property
    def files(self) -> dict[str, bytes]:
        """Every file of the package by its path in the folder, with ``/``: what ``write(folder)`` writes."""
        if self._files is None:
            self._files = self._compiled.files()
        return dict(self._files)

    @property
    def report(self) -> Report:
        """RAM, flash, stack and cycles, operators and the memory plan."""
        if self._report is None:
            self._report = Report(self._compiled.report_json, self._compiled.report_text)
        return self._report

    def write(self, folder: str | os.PathLike[str], format: str = "plain", *,
              runtime: str | os.PathLike[str] | None = None, single_file: bool = False) -> tuple[str, ...]:
        """Makes ``folder`` hold the package, as ``intarsia compile --format`` does.

        The folder is replaced whole or not at all: files of an earlier compilation go, other people's stay.

        :param format: one of :func:`formats`: "plain", "cmake", "zephyr", "arduino" and so on.
        :param runtime: a folder for the runtime as a package of its own, which the models of a program share.
        :param single_file: one ``.c`` and one ``.h`` (format "plain", models of a CPU).
        :return: notes, a sentence each: a name that had to be changed, for example.
        :raises Error: there is no such format, it cannot carry this model, or the folder cannot be written.
        """
        path = os.fspath(folder)
        if not isinstance(path, str) or not path:
            raise error("folder", f"is {path!r}", "write a path")
        if not is_utf8(path):
            raise error("folder", f"{path!r} is no text of UTF-8", "write another path")
        return tuple(self._compiled.write(path, format, "" if runtime is None else os.fspath(runtime), single_file))

    def __copy__(self) -> Package:
        return self  # nothing of it ever changes

    def __deepcopy__(self, memo: object) -> Package:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an intarsia.Package cannot be pickled: send its files, report or name (package.files, package.report, "
                        "package.name), or compile the model where the package is needed")

    def __repr__(self) -> str:
        return f"<intarsia.Package {self.name} for {self.target}, board {self.board}>"


def compile(model: ModelLike, *, target: str | Mapping[str, Any] | None = None, board: str | os.PathLike[str] | None = None,
            name: str | None = None, optimise: str = "balanced", ram_budget: Bytes | None = None,
            flash_budget: Bytes | None = None, sram_limit: Bytes | None = None, driver: str | None = None, pins: Mapping[str, str] | None = None,
            policy: str = "priority", io: str = "float", sections: Mapping[str, str] | None = None,
            weights_file: str = "auto", tags: str | os.PathLike[str] | None = None, keep_dead_channels: bool = False, in_place: bool = True,
            shapes: Mapping[str, Sequence[int]] | None = None,
            input_values: Mapping[str, float | Sequence[float]] | None = None, widen_weights: bool = False, signature: str | None = None, measure: bool = True, timeout: float = 600, progress: Progress = None) -> Package:
    """Compiles a model to C and command streams, as ``intarsia compile`` does.

    Other threads of Python go on meanwhile; several models can be compiled in threads at once. Ctrl-C ends it.

    :param model: the path of a ``.tflite`` or ``.onnx``, its bytes, or an object with ``SerializeToString()``.
    :param target: what runs it: a tag ("cortex-m55+ethos-u55-128"), a target string, or its JSON as a dictionary;
        :func:`targets` lists them. Default: the board's core, or plain C.
    :param board: one of :func:`boards`, or the path of a board's folder. Default: this machine.
    :param name: the model's name in C and of its files. Default: from the file's name, or "model".
    :param optimise: "size", "speed" or "balanced": small code from a CPU, speed from an NPU.
    :param ram_budget: bytes of activations and scratch to stay within; "auto": what the board has, where the model does not
        fit otherwise.
    :param flash_budget: bytes of code, constants and command streams to stay within (boards with a cross compiler).
    :param sram_limit: bytes of fast memory that an accelerator may keep alive at once.
    :param driver: what runs an Ethos-U's streams: "intarsia", the driver in the package, or "arm", Arm's core driver.
    :param pins: operators or functions by name, and the device that has to run each.
    :param policy: who takes what: "priority", in the target's order, or "cost", by the least estimated time.
    :param io: "float": inputs and outputs as in the file; "int8": without conversions at the model's edges.
    :param sections: linker sections of "weights", "streams", a memory, or a constant.
    :param weights_file: weights as a binary file that the assembler takes in, instead of arrays of C: "auto" (above 1 MiB),
        "never" or "always".
    :param tags: a JSON file of your own target tags.
    :param keep_dead_channels: keep what provably does not change the results.
    :param in_place: operators may write their result over an operand that nobody else reads.
    :param shapes: shapes of inputs whose extents the file leaves open, by name.
    :param input_values: inputs that become constants, which the model then has no more: one number for all elements, or one
        for each, by name; of a quantised input the integers that it holds.
    :param widen_weights: integer weights that meet float activations become floats, instead of the activations being
        quantised as the model runs.
    :param signature: of a ``.tflite`` with several networks the one with this signature. Default: the first one.
    :param measure: build the C for the board to measure flash and stack, where its compiler is installed; without it
        compiling takes milliseconds instead of seconds.
    :param timeout: seconds that each run of the board's compiler may take; 0: for ever.
    :param progress: see :data:`Progress`.
    :raises Error: the model is not supported, an argument is wrong, or something does not fit.
    :raises InternalError: a fault of Intarsia.
    """
    held, path = bytes_of(model)
    options = options_of(path, {
        "target": target, "board": board, "name": name, "optimise": optimise, "ram_budget": ram_budget,
        "flash_budget": flash_budget, "sram_limit": sram_limit, "driver": driver, "pins": pins, "policy": policy, "io": io, "sections": sections,
        "weights_file": weights_file,
        "tags": tags, "keep_dead_channels": keep_dead_channels, "in_place": in_place, "shapes": shapes, "input_values": input_values, "widen_weights": widen_weights, "signature": signature,
        "timeout": timeout})
    found = Collected()
    if not measure and flash_budget is not None:
        found.add("flash_budget", "needs flash to be measured", "leave measure=False out")
    if progress is not None and not callable(progress):
        found.add("progress", f"is a {type(progress).__name__}", "give a function of two strings")
    found.raise_if_any()
    return Package(_core.compile(_resources.root(), held, options, measure, progress))
