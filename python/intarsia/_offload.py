"""A model in the files of other runtimes."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intarsia import _core, _resources
from intarsia._compile import Progress
from intarsia._errors import error
from intarsia._options import Bytes, Collected, ModelLike, bytes_of, options_of

__all__ = ["KeptOperator", "Offloaded", "bare_networks", "offload"]


@dataclass(frozen=True)
class KeptOperator:
    """An operator that stays on the CPU."""

    label: str
    """As the file has it: its number, name and version."""
    reason: str
    """Why the NPU does not run it."""


def _rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table)))


class Offloaded:
    """A ``.tflite`` file in which an NPU runs what it can. Made by :func:`offload`."""

    def __init__(self, made: _core.Offloaded) -> None:
        self._made = made

    @property
    def data(self) -> bytes:
        """The file."""
        return bytes(self._made.data)

    @property
    def target(self) -> str:
        """What it is compiled for, as a target string."""
        return self._made.target

    @property
    def on_cpu(self) -> tuple[KeptOperator, ...]:
        """What the interpreter runs itself, in the order of the file."""
        return tuple(KeptOperator(label, reason) for label, reason in self._made.on_cpu)

    @property
    def npu_operators(self) -> int:
        """How many of the model's operators the NPU runs."""
        return self._made.npu_operators

    @property
    def arena_bytes(self) -> int:
        """Of the arena, in which the file's metadata places every tensor."""
        return self._made.arena_bytes

    @property
    def fast_bytes(self) -> int:
        """Of the fast arena beside it, where the NPU has a memory of its own."""
        return self._made.fast_bytes

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided that nobody asked for, a sentence each."""
        return tuple(self._made.notes)

    @property
    def figures(self) -> dict[str, str]:
        """Memory, traffic and cycles by Vela's names of columns: ``figures["cycles_total"]``."""
        return _rows(self._made.figures_csv)[0]

    @property
    def layers(self) -> list[dict[str, str]]:
        """The NPU's operations, each by Vela's names of columns: ``layers[0]["Op Cycles"]``."""
        return _rows(self._made.layers_csv)

    def __str__(self) -> str:
        return self._made.summary.strip("\n")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the file.

        :raises OSError: it cannot be written.
        """
        Path(path).write_bytes(self.data)

    def __repr__(self) -> str:
        return f"<intarsia.Offloaded for {self.target}: {self.npu_operators} operators on the NPU, {len(self.on_cpu)} on the CPU>"


def _checked(progress: Progress) -> None:
    if progress is not None and not callable(progress):
        found = Collected()
        found.add("progress", f"is a {type(progress).__name__}", "give a function of two strings")
        found.raise_if_any()


def offload(model: ModelLike, target: str | Mapping[str, Any], *, name: str | None = None, optimise: str = "balanced",
            sram_limit: Bytes | None = None, pins: Mapping[str, str] | None = None, tags: str | os.PathLike[str] | None = None,
            keep_dead_channels: bool = False, in_place: bool = True, progress: Progress = None) -> Offloaded:
    """A ``.tflite`` file whose operators an Ethos-U runs, as Vela writes it: ``intarsia compile --format tflite``.

    :param model: the path of a ``.tflite``, its bytes; or of another format, where the NPU runs all of it.
    :param target: a CPU with an Ethos-U: "ethos-u55-128".
    :param name: the network's name in the figures. Default: from the file's name.
    :param optimise: "size", "speed" or "balanced".
    :param sram_limit: bytes of fast memory that the NPU may keep alive at once.
    :param pins: operators by name, and the device that has to run each.
    :param tags: a JSON file of your own target tags.
    :param keep_dead_channels: keep what provably does not change the results.
    :param in_place: operators may write their result over an operand that nobody else reads.
    :param progress: see :data:`Progress`.
    :raises Error: the model is not supported, an argument is wrong, or the target has no NPU whose streams such a file holds.
    :raises InternalError: a fault of Intarsia.
    """
    held, path = bytes_of(model)
    options = options_of(path, {"target": target, "name": name, "optimise": optimise, "sram_limit": sram_limit, "pins": pins, "tags": tags,
                                "keep_dead_channels": keep_dead_channels, "in_place": in_place})
    _checked(progress)
    return Offloaded(_core.offload(_resources.root(), held, options, progress))


def bare_networks(model: ModelLike, target: str | Mapping[str, Any], format: str = "encn", *, name: str | None = None,
                  optimise: str = "balanced", pins: Mapping[str, str] | None = None, io: str = "float",
                  tags: str | os.PathLike[str] | None = None, keep_dead_channels: bool = False, in_place: bool = True,
                  shapes: Mapping[str, Sequence[int]] | None = None,
                  input_values: Mapping[str, float | Sequence[float]] | None = None, widen_weights: bool = False, signature: str | None = None,
                  progress: Progress = None) -> dict[str, bytes]:
    """What an NPU runs of a model, in files of the NPU's own tools: ``intarsia compile --format encn``.
    What is not listed here is as :func:`compile` has it.

    :param format: the end of such a file's name.
    :return: by its name each network, and ``networks.json``, which says what is between them.
    :param progress: see :data:`Progress`.
    :raises Error: the model is not supported, an argument is wrong, or the target has no NPU whose tools have such files.
    :raises InternalError: a fault of Intarsia.
    """
    held, path = bytes_of(model)
    options = options_of(path, {"target": target, "name": name, "optimise": optimise, "pins": pins, "io": io, "tags": tags,
                                "keep_dead_channels": keep_dead_channels, "in_place": in_place, "shapes": shapes,
                                "input_values": input_values, "widen_weights": widen_weights, "signature": signature})
    if not isinstance(format, str) or not format:
        raise error("format", f"is {format!r}", "write 'encn'")
    _checked(progress)
    return _core.bare_networks(_resources.root(), held, options, format, progress)
