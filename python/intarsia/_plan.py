"""The memory planner alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Optional, Union

from intarsia import _core
from intarsia._errors import error
from intarsia._options import Bytes, Collected, amount

__all__ = ["PlacedBuffer", "Placement", "PlanBuffer", "plan"]


class PlanBuffer(NamedTuple):
    """A buffer to be placed."""

    name: str
    lower: int
    """The first step during which it is alive."""
    upper: int
    """The step behind the last one."""
    size: int
    """Bytes."""
    alignment: int = 1
    """The offset is a multiple of it; any positive number."""
    offset: Optional[int] = None
    """Where it has to lie; None: anywhere."""


class PlacedBuffer(NamedTuple):
    """A buffer that has its place."""

    name: str
    lower: int
    upper: int
    size: int
    offset: int
    """Bytes from the beginning of the memory."""


BufferLike = Union[PlanBuffer, "tuple[object, ...]", "list[object]", Mapping[str, object]]


class Placement:
    """Where every buffer lies. Made by :func:`plan`."""

    def __init__(self, solved: _core.Solved) -> None:
        self._solved = solved
        self.buffers: tuple[PlacedBuffer, ...] = tuple(PlacedBuffer(*row) for row in solved.buffers())
        """In the order in which they were given."""

    @property
    def offsets(self) -> tuple[int, ...]:
        """Bytes from the beginning of the memory, in the order of the buffers."""
        return tuple(buffer.offset for buffer in self.buffers)

    @property
    def peak(self) -> int:
        """The highest end of a buffer: bytes of memory that are needed."""
        return self._solved.peak

    @property
    def lower_bound(self) -> int:
        """Bytes: no placement has a smaller peak."""
        return self._solved.lower_bound

    @property
    def proven_optimal(self) -> bool:
        """Whether the peak is the lower bound."""
        return self._solved.proven_optimal

    @property
    def method(self) -> str:
        """What found the placement."""
        return self._solved.method

    @property
    def steps(self) -> int:
        """Steps of the search that it took."""
        return self._solved.steps

    def to_csv(self) -> str:
        """In MiniMalloc's format, with a column ``offset``."""
        return self._solved.to_csv()

    def __repr__(self) -> str:
        quality = "proven optimal" if self.proven_optimal else f"lower bound {self.lower_bound}"
        return f"<intarsia.Placement of {len(self.buffers)} buffers: peak {self.peak}, {quality}>"


def _integer(where: str, name: str, value: object, found: Collected) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        found.add(where, f"{name} is {value!r}", "write an integer")
        return 0
    number = value.__index__()
    if not -(1 << 63) <= number < 1 << 63:
        found.add(where, f"{name} is {value!r}, which is beyond 64 bits")
        return 0
    return int(number)


def _buffer(index: int, each: object, found: Collected) -> tuple[str, int, int, int, int, int | None]:
    where = f"buffer {index}"
    try:
        row = PlanBuffer(**each) if isinstance(each, Mapping) else PlanBuffer(*each)  # type: ignore[misc]
    except TypeError:
        found.add(where, f"is {each!r}", "write (name, lower, upper, size), and perhaps alignment and offset, "
                                         "or a dictionary with these keys")
        return ("", 0, 1, 0, 1, None)
    where = f"buffer {index} '{row.name}'"
    return (str(row.name), _integer(where, "lower", row.lower, found), _integer(where, "upper", row.upper, found),
            _integer(where, "size", row.size, found), _integer(where, "alignment", row.alignment, found),
            None if row.offset is None else _integer(where, "offset", row.offset, found))


def plan(buffers: str | os.PathLike[str] | Iterable[BufferLike], *, capacity: Bytes | None = None,
         steps: int = 20_000_000) -> Placement:
    """Places buffers with known lifetimes in one memory, so that no two that live at once share a byte.

    The same buffers get the same placement everywhere. Ctrl-C ends the search.

    :param buffers: a CSV file in MiniMalloc's format (id,lower,upper,size[,alignment][,offset]), or buffers as
        :class:`PlanBuffer`, as tuples in its order, or as dictionaries with its keys.
    :param capacity: bytes that must suffice: the first placement within them is taken. Without it: the smallest
        peak that the steps allow to find.
    :param steps: of the search, at most.
    :raises Error: a buffer is ill-formed, or there is no placement in the capacity, which is proven or the search ended.
    """
    found = Collected()
    limit = amount("capacity", capacity, found)
    most = _integer("plan", "steps", steps, found)
    if most < 0:
        found.add("steps", f"is {steps}", "write 0 or more")
    if isinstance(buffers, (str, os.PathLike)):
        found.raise_if_any()
        path = os.fspath(buffers)
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError as trouble:
            raise error(str(path), f"cannot be read: {trouble.strerror}") from trouble
        return Placement(_core.place_csv(text, str(path), limit, most))
    try:
        rows = [_buffer(index, each, found) for index, each in enumerate(buffers)]
    except TypeError:
        raise error("buffers", f"is a {type(buffers).__name__}", "give the path of a CSV file, or a list of buffers") from None
    found.raise_if_any()
    return Placement(_core.place(rows, limit, most))
