"""The figures of a compiled model."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from intarsia import _core

if TYPE_CHECKING:
    import pandas

__all__ = ["Flash", "Layer", "Memory", "PlannedBuffer", "Range", "Report"]


@dataclass(frozen=True)
class Range:
    """Bytes of a memory that an operator works in."""

    buffer: str
    """What it is to the operator: an input, an output, scratch."""
    memory: str
    begin: int
    """First byte, from the beginning of the model's block in that memory."""
    end: int
    """The byte behind the last one."""


@dataclass(frozen=True)
class Layer:
    """One operator, in the order they run."""

    name: str
    what: str
    device: str
    """The device of the target that runs it."""
    region: str
    """The part of the partitioned model that it is in; operators of one command stream share one."""
    macs: int
    """Multiply-accumulates."""
    weight_bytes: int
    table_bytes: int
    stream_bytes: int
    """Of the whole command stream, with the first of its operators."""
    cycles: int | None
    """Estimated, of its device's clock. None for operators of a command stream, which save each other work: see
    :attr:`Report.cycles` for their sum."""
    kernels: tuple[str, ...]
    """The C functions that compute it; none: loops of its own."""
    memory: tuple[Range, ...]


@dataclass(frozen=True)
class Memory:
    """What one instance of the model takes of one memory."""

    name: str
    peak: int
    """Bytes."""
    lower_bound: int
    """Bytes: no plan for this order of operators takes less."""
    proven_optimal: bool
    size: int | None
    """Bytes that the board has for a model; None: no limit is known."""
    fullest_at: str
    """The operator during which most bytes are in use."""


@dataclass(frozen=True)
class Flash:
    """Bytes of flash, as the board's compiler and linker made them."""

    code: int
    constants: int
    """Weights and tables."""
    streams: int
    """Command streams, with the weights that devices read."""

    @property
    def total(self) -> int:
        return self.code + self.constants + self.streams


@dataclass(frozen=True)
class PlannedBuffer:
    """Where a buffer lies, and for how long."""

    name: str
    use: str
    """"input", "output", "tensor" (between operators), "scratch" or "state"."""
    tensor: str
    """The model's, where it holds one; may be empty."""
    memory: str
    begin: int
    """First byte, from the beginning of the model's block in that memory."""
    end: int
    """The byte behind the last one."""
    first_step: int
    last_step: int
    """Inclusive, as the first one. Steps are counted over the whole run."""
    alias: str
    """The buffer whose bytes it shares on purpose; may be empty."""
    written_by: str
    """The operator; empty for what the application fills."""
    read_by: tuple[str, ...]
    """Operators."""


class Report:
    """The figures of a compiled model: :attr:`ram`, :attr:`flash`, :attr:`layers`, :attr:`plan` and more.

    In notebooks it shows itself as a table; :meth:`to_html` is the whole page.

    :param data: report.json, as text or as what it holds.
    :param text: report.txt, for ``print``.
    """

    def __init__(self, data: str | Mapping[str, Any], text: str = "") -> None:
        self._json = data if isinstance(data, str) else json.dumps(data, indent=2) + "\n"
        self._text = text
        self.data: dict[str, Any] = json.loads(self._json)
        """report.json: keys stay what they are from version to version."""
        self.parts: tuple[Report, ...] = tuple(map(Report, self.data.get("stages", [])))
        """Of a model that several CPUs run: the report of each. Empty for others."""

    @property
    def plan(self) -> tuple[PlannedBuffer, ...]:
        """Every buffer that the memory plan has a place for. Of a model in parts see :attr:`parts`."""
        return tuple(PlannedBuffer(row["name"], row["use"], row["tensor"], row["pool"], row["begin"], row["end"], row["first_step"],
                                   row["last_step"], row["alias"], row["written_by"], tuple(row["read_by"]))
                     for row in self.data.get("buffers", []))

    @property
    def model(self) -> str:
        """Its name in C."""
        return str(self.data["model"])

    @property
    def target(self) -> str:
        return str(self.data["target"])

    @property
    def board(self) -> str:
        return str(self.data["board"])

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Of every memory that can be written."""
        return tuple(Memory(pool["name"], pool["peak"], pool["lower_bound"], pool["proven_optimal"], pool["size"] or None,
                            pool["fullest"]["at"]) for pool in self.data.get("pools", []))

    @property
    def ram(self) -> int:
        """Bytes of RAM for one instance of the model, in all memories together; the stack (:attr:`stack`) comes on top.

        Of a model in parts: the blocks that their stages use in turn, and the mailbox."""
        if self.parts:
            blocks = self.data.get("blocks")
            working = sum(part.ram for part in self.parts) if blocks is None else sum(int(block["bytes"]) for block in blocks)
            return working + int(self.data["mailbox_bytes"])
        return sum(memory.peak for memory in self.memories)

    @property
    def flash(self) -> int | None:
        """Bytes of flash; None where it was not measured, and :attr:`not_measured` says why."""
        parts = self.flash_parts
        return None if parts is None else parts.total

    @property
    def flash_parts(self) -> Flash | None:
        """What :attr:`flash` is made of."""
        flash = self.data.get("flash")
        if flash is None:
            return None
        return Flash(flash["code_bytes"], flash["constant_bytes_linked"], flash["stream_bytes_linked"])

    @property
    def constant_bytes(self) -> int:
        """Bytes of weights, tables and command streams: what flash holds at least, known without a compiler."""
        if self.parts:
            return sum(part.constant_bytes for part in self.parts)
        totals = self.data["totals"]
        return int(totals["weight_bytes"] + totals["table_bytes"] + totals["stream_bytes"])

    @property
    def stack(self) -> int | None:
        """Bytes of stack below the run function at most; None where it was not measured."""
        stack = self.data.get("stack")
        return None if stack is None else int(stack["bytes"])

    @property
    def stack_chain(self) -> tuple[str, ...]:
        """The chain of calls that reaches :attr:`stack`."""
        return tuple(self.data.get("stack", {}).get("chain", []))

    @property
    def compiler(self) -> str | None:
        """With which flash and stack were measured."""
        return self.data.get("compiler")

    @property
    def not_measured(self) -> str | None:
        """Why flash and stack are not known."""
        if self.parts:
            return self.parts[0].not_measured
        return self.data.get("not_measured")

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one run."""
        if self.parts:
            return sum(part.macs for part in self.parts)
        return int(self.data["totals"]["macs"])

    @property
    def cycles(self) -> dict[str, int]:
        """Estimated cycles of one run, by device, each of its own clock."""
        return {row["member"]: row["cycles"] for row in self.data.get("estimated_cycles", {}).get("devices", [])}

    @property
    def microseconds(self) -> float | None:
        """Estimated, of one run, at the clocks that the estimate assumes; devices run one after the other.

        Copies between devices are not in it.
        """
        rows = self.data.get("estimated_cycles", {}).get("devices", [])
        return sum(row["cycles"] / row["assumed_mhz"] for row in rows) if rows else None

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Every operator, in the order they run; of a model in parts, one part after the other."""
        if self.parts:
            cycles = self._operator_cycles()
            return tuple(self._layer(row, cycles) for part in self.parts for row in part.data["operators"])
        cycles = self._operator_cycles()
        return tuple(self._layer(row, cycles) for row in self.data["operators"])

    def _operator_cycles(self) -> dict[tuple[str, str], int]:
        return {(row["name"], row["member"]): row["cycles"] for row in self.data.get("estimated_cycles", {}).get("operators", [])}

    @staticmethod
    def _layer(row: Mapping[str, Any], cycles: Mapping[tuple[str, str], int]) -> Layer:
        memory = tuple(Range(each["buffer"], each["pool"], each["begin"], each["end"]) for each in row["memory"])
        return Layer(row["name"], row["what"], row["member"], row["region"], row["macs"], row["weight_bytes"],
                     row["table_bytes"], row["stream_bytes"], cycles.get((row["name"], row["member"])),
                     tuple(row["kernels"]), memory)

    def layers_frame(self) -> pandas.DataFrame:
        """:attr:`layers` as a ``pandas.DataFrame``, one row each, without their memory.

        Raises ImportError where pandas is not installed.
        """
        try:
            import pandas
        except ImportError as missing:
            raise ImportError("layers_frame() needs pandas, which is not installed: pip install pandas") from missing
        columns = [name for name in Layer.__dataclass_fields__ if name != "memory"]
        rows = [{name: value for name, value in asdict(layer).items() if name != "memory"} for layer in self.layers]
        return pandas.DataFrame(rows, columns=columns)

    def to_json(self) -> str:
        """The text of report.json, as `compile` writes it."""
        return self._json

    def to_html(self, *, baseline: Report | None = None, trace: Mapping[str, Any] | None = None) -> str:
        """The page of report.html, as `compile` writes it: memory maps, operators, the network. It needs no other file and no
        network.

        :param baseline: another report, to compare with.
        :param trace: what simulated devices did, of ``Simulator.trace()``.
        :raises Error: the data are not those of a report.
        """
        return _core.report_page(self._json, "" if baseline is None else baseline.to_json(),
                                 "" if trace is None else json.dumps(trace))

    def __str__(self) -> str:
        return self._text or f"report of {self.model} for {self.target}"

    def __repr__(self) -> str:
        return f"<intarsia.Report of {self.model} for {self.target}: {self.ram} bytes of RAM, {_amount(self.flash)} of flash>"

    def _repr_html_(self) -> str:
        figures = [("RAM", _amount(self.ram)), ("flash", _amount(self.flash)), ("stack", _amount(self.stack)),
                   ("multiply-accumulates", f"{self.macs:,}")]
        figures += [(f"estimated cycles of {device}", f"{cycles:,}") for device, cycles in self.cycles.items()]
        lines = [f"<p><b>{html.escape(self.model)}</b> for {html.escape(self.target)}, board {html.escape(self.board)}</p>",
                 "<table><tbody>"]
        lines += [f'<tr><th style="text-align:left">{html.escape(name)}</th><td>{html.escape(value)}</td></tr>'
                  for name, value in figures]
        lines += ["</tbody></table>", "<table><thead><tr>"]
        lines += [f"<th>{name}</th>" for name in ("operator", "what", "device", "MACs", "weights", "cycles")]
        lines += ["</tr></thead><tbody>"]
        for layer in self.layers:
            cells = (layer.name, layer.what, layer.device, f"{layer.macs:,}", f"{layer.weight_bytes:,}",
                     "" if layer.cycles is None else f"{layer.cycles:,}")
            lines.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
        lines.append("</tbody></table>")
        return "\n".join(lines)


def _amount(count: int | None) -> str:
    return "not measured" if count is None else f"{count:,} bytes"
