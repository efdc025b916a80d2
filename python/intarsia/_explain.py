"""Who runs each operator, and why not another."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intarsia import _core, _resources
from intarsia._options import Bytes, ModelLike, bytes_of, options_of

__all__ = ["Explanation", "Offer", "PlacedOperator", "explain"]


@dataclass(frozen=True)
class Offer:
    """A device's answer about an operator."""

    device: str
    can: bool
    taken: bool
    """It runs the operator."""
    microseconds: float | None
    """Estimated, of the operator alone; None where it cannot."""
    reason: str | None
    """Why it cannot, or why another one was preferred."""
    note: str | None
    """When it can, but not as the operator is: how, and why not."""


@dataclass(frozen=True)
class PlacedOperator:
    """An operator and where it runs."""

    name: str
    kind: str
    shapes: str
    device: str
    offers: tuple[Offer, ...]
    """One for each device, in the target's order."""

    @property
    def refusals(self) -> tuple[Offer, ...]:
        """Of the devices that cannot take it."""
        return tuple(offer for offer in self.offers if not offer.can)


class Explanation:
    """The partition of a model over the devices of a target. ``print`` shows who has what, and every refusal."""

    def __init__(self, text: str, notes: list[str]) -> None:
        self._json = text
        self.data: dict[str, Any] = json.loads(text)
        """What ``intarsia explain --json`` prints."""
        self.notes: tuple[str, ...] = tuple(notes)
        """What was decided that nobody asked for."""
        self.operators: tuple[PlacedOperator, ...] = tuple(
            PlacedOperator(row["name"], row["kind"], row["shapes"], row["member"], tuple(
                Offer(each["member"], each["can"], each["taken"], each.get("microseconds"), each.get("reason"),
                      each.get("note")) for each in row["offers"])) for row in self.data["operators"])
        """Every operator of the model, in order."""

    @property
    def microseconds(self) -> float:
        """Estimated, of the whole: its functions and the transfers between devices."""
        return float(self.data["estimated_microseconds"])

    @property
    def transfer_bytes(self) -> int:
        """Bytes that cross from one device to another."""
        return int(self.data["transfer_bytes"])

    def by_device(self) -> dict[str, tuple[str, ...]]:
        """The names of each device's operators."""
        devices: dict[str, tuple[str, ...]] = {}
        for row in self.operators:
            devices[row.device] = (*devices.get(row.device, ()), row.name)
        return devices

    def to_json(self) -> str:
        """What ``intarsia explain --json`` prints."""
        return self._json

    def __str__(self) -> str:
        lines = []
        for row in self.operators:
            lines.append(f"{row.name} ({row.kind}) {row.shapes}: runs on {row.device}")
            lines += [f"  not {offer.device}: {offer.reason or '-'}" for offer in row.offers if not offer.taken]
        lines.append(f"estimated {self.microseconds:.1f} us")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        lines = ["<table><thead><tr><th>operator</th><th>kind</th><th>device</th><th>why not another</th></tr></thead><tbody>"]
        for row in self.operators:
            why = "; ".join(f"{offer.device}: {offer.reason or '-'}" for offer in row.offers if not offer.taken)
            lines.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in (row.name, row.kind, row.device, why)) + "</tr>")
        return "\n".join([*lines, "</tbody></table>"])


def explain(model: ModelLike, *, target: str | Mapping[str, Any] | None = None, board: str | os.PathLike[str] | None = None,
            optimise: str = "balanced", ram_budget: Bytes | None = None, sram_limit: Bytes | None = None,
            pins: Mapping[str, str] | None = None, policy: str = "priority", io: str = "float",
            tags: str | os.PathLike[str] | None = None, keep_dead_channels: bool = False,
            shapes: Mapping[str, Sequence[int]] | None = None,
            input_values: Mapping[str, float | Sequence[float]] | None = None, widen_weights: bool = False, signature: str | None = None, refused_only: bool = False) -> Explanation:
    """Who runs each operator, and for every device that does not, the exact reason; as ``intarsia explain`` does.

    The arguments are those of :func:`compile`.

    :param refused_only: only operators that some device cannot take.
    :raises Error: as :func:`compile`.
    """
    held, path = bytes_of(model)
    options = options_of(path, {
        "target": target, "board": board, "optimise": optimise, "ram_budget": ram_budget, "sram_limit": sram_limit, "pins": pins,
        "policy": policy, "io": io, "tags": tags, "keep_dead_channels": keep_dead_channels,
        "shapes": shapes, "input_values": input_values, "widen_weights": widen_weights, "signature": signature})
    text, notes = _core.explain(_resources.root(), held, options, refused_only)
    return Explanation(text, notes)
