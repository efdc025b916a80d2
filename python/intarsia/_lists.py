"""Targets and boards there are."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, overload

from intarsia import _core, _resources

__all__ = ["Attribute", "Board", "BoardMemory", "Device", "Kind", "Tag", "Target", "TargetCatalogue", "boards", "targets"]


@dataclass(frozen=True)
class Attribute:
    """What can be said about a device of a kind."""

    name: str
    type: str
    """bool, int, string, enum or string list."""
    help: str
    required: bool
    default: Any
    """None: it has none."""
    choices: tuple[Any, ...]
    """The only values; empty: any of the type."""


@dataclass(frozen=True)
class Kind:
    """A kind of device."""

    name: str
    role: str
    """"cpu", "accelerator" (only beside a CPU) or "device" (likewise)."""
    summary: str
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True)
class Tag:
    """A name for a target."""

    name: str
    summary: str
    target: str
    """The target string that it stands for."""
    host: str | None
    """The CPU beside it when the tag is used alone."""


@dataclass(frozen=True)
class TargetCatalogue:
    """All kinds and tags."""

    kinds: tuple[Kind, ...]
    tags: tuple[Tag, ...]


@dataclass(frozen=True)
class Device:
    """A device of a target, with the values of all its attributes."""

    name: str
    kind: str
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Target:
    """A target, spelled out."""

    string: str
    """As a target string."""
    json: dict[str, Any]
    tag: str | None
    """The tag, or tags joined by "+", that is exactly this target."""
    devices: tuple[Device, ...]
    """The CPU first."""


@dataclass(frozen=True)
class BoardMemory:
    name: str
    kind: str
    """"flash" or "ram"."""
    base: int
    """Address."""
    size: int
    """Bytes."""
    available: int
    """Bytes of it that a model may take."""
    cycles_per_access: int


@dataclass(frozen=True)
class Board:
    name: str
    summary: str
    cores: tuple[str, ...]
    """The one that boots first."""
    memories: tuple[BoardMemory, ...]
    emulated: bool
    """Whether `intarsia run` can run it in an emulator."""


def _kind(data: dict[str, Any]) -> Kind:
    return Kind(data["name"], data["role"], data["summary"], tuple(
        Attribute(each["name"], each["type"], each["help"], each["required"], each.get("default"),
                  tuple(each.get("choices", ()))) for each in data["attributes"]))


@overload
def targets(name: None = None, *, tags: str | os.PathLike[str] | None = None) -> TargetCatalogue: ...
@overload
def targets(name: str, *, tags: str | os.PathLike[str] | None = None) -> Kind | Target: ...
def targets(name: str | None = None, *, tags: str | os.PathLike[str] | None = None) -> TargetCatalogue | Kind | Target:
    """What a model can be compiled for.

    :param name: a kind, a tag, or a whole target in any spelling. Without it: all kinds and tags.
    :param tags: a JSON file of your own target tags.
    :raises Error: there is no such kind or target.
    """
    data = json.loads(_core.targets(_resources.root(), name, "" if tags is None else os.fspath(tags)))
    if "kinds" in data:
        return TargetCatalogue(tuple(map(_kind, data["kinds"])), tuple(
            Tag(each["name"], each["summary"], each["target"], each.get("host")) for each in data["tags"]))
    if "role" in data:
        return _kind(data)
    return Target(data["target_string"], data["json"], data["tag"],
                  tuple(Device(each["name"], each["kind"], each["attributes"]) for each in data["members"]))


@overload
def boards(name: None = None) -> tuple[Board, ...]: ...
@overload
def boards(name: str | os.PathLike[str]) -> Board: ...
def boards(name: str | os.PathLike[str] | None = None) -> tuple[Board, ...] | Board:
    """The boards of this installation and of $INTARSIA_BOARDS, or the one of that name or path.

    :raises Error: there is no such board, or its file has mistakes.
    """
    found = tuple(Board(each["name"], each["summary"], tuple(each["cores"]),
                        tuple(BoardMemory(**memory) for memory in each["memories"]), each["emulated"])
                  for each in json.loads(_core.boards(_resources.root(), "" if name is None else os.fspath(name))))
    return found if name is None else found[0]
