"""Many models, targets and budgets at once."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from intarsia import _core
from intarsia._compile import compile as compile_model
from intarsia._errors import Error, error
from intarsia._options import Bytes, ModelLike, bytes_of

if TYPE_CHECKING:
    import pandas

__all__ = ["Sweep", "SweepRow", "sweep"]

TargetLike = Union[str, Mapping[str, Any], None]


@dataclass(frozen=True)
class SweepRow:
    """One model, compiled for one target within one budget."""

    model: str
    target: str
    board: str
    ram_budget: Union[int, str, None]
    """Bytes, or "auto"; None: none was given."""
    ram: Optional[int] = None
    """Bytes."""
    flash: Optional[int] = None
    """Bytes; None where it was not measured."""
    constants: Optional[int] = None
    """Bytes of weights, tables and command streams."""
    stack: Optional[int] = None
    """Bytes; None where it was not measured."""
    cycles: Optional[int] = None
    """Estimated, of all devices together."""
    microseconds: Optional[float] = None
    """Estimated, at the clocks that the estimate assumes."""
    macs: Optional[int] = None
    error: Optional[str] = None
    """Why there are no figures."""


_FIGURES = ("ram", "flash", "constants", "stack", "cycles", "microseconds", "macs")


class Sweep(Sequence[SweepRow]):
    """A table: a row for each model, target and budget, in that order. Made by :func:`sweep`."""

    def __init__(self, rows: Iterable[SweepRow]) -> None:
        self.rows: tuple[SweepRow, ...] = tuple(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    @property
    def failed(self) -> tuple[SweepRow, ...]:
        """Rows without figures."""
        return tuple(row for row in self.rows if row.error is not None)

    def pareto(self, *by: str, model: str | None = None) -> tuple[SweepRow, ...]:
        """The rows that no other row of the same model beats: none is as good in every figure and better in one.

        :param by: figures, of which less is better. Default: "ram", "microseconds", and "flash", or "constants" where flash was
            not measured of every row. Rows that lack one are left out.
        :param model: rows of this model only.
        """
        measured = all(row.flash is not None for row in self.rows if row.error is None)
        keys = by or ("ram", "flash" if measured else "constants", "microseconds")
        for key in keys:
            if key not in _FIGURES:
                raise error("pareto", f"{key!r} is no figure", f"write some of {', '.join(_FIGURES)}")
        rows = [row for row in self.rows if model is None or row.model == model]
        kept = _core.unbeaten([row.model for row in rows], [[getattr(row, key) for key in keys] for row in rows])
        return tuple(row for row, is_kept in zip(rows, kept) if is_kept)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """As CSV with a header; written to a file too where a path is given."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(field.name for field in fields(SweepRow))
        writer.writerows(["" if value is None else value for value in asdict(row).values()] for row in self.rows)
        if path is not None:
            Path(path).write_text(text.getvalue(), encoding="utf-8")
        return text.getvalue()

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """As a JSON array of objects; written to a file too where a path is given."""
        text = json.dumps([asdict(row) for row in self.rows], indent=2) + "\n"
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def frame(self) -> pandas.DataFrame:
        """As a ``pandas.DataFrame``. Raises ImportError where pandas is not installed."""
        try:
            import pandas
        except ImportError as missing:
            raise ImportError("frame() needs pandas, which is not installed: pip install pandas") from missing
        return pandas.DataFrame([asdict(row) for row in self.rows], columns=[field.name for field in fields(SweepRow)])

    def plot(self, x: str = "ram", y: str = "microseconds", *, axes: Any = None) -> Any:
        """Two figures against each other, a colour for each model, its Pareto front as a line; the axes of matplotlib.

        Raises ImportError where matplotlib is not installed.
        """
        try:
            from matplotlib import pyplot
        except ImportError as missing:
            raise ImportError("plot() needs matplotlib, which is not installed: pip install matplotlib") from missing
        if axes is None:
            _, axes = pyplot.subplots()
        for model in dict.fromkeys(row.model for row in self.rows):
            shown = [row for row in self.rows
                     if row.model == model and getattr(row, x) is not None and getattr(row, y) is not None]
            dots = axes.scatter([getattr(row, x) for row in shown], [getattr(row, y) for row in shown], label=model)
            front = sorted((getattr(row, x), getattr(row, y)) for row in self.pareto(x, y, model=model))
            axes.plot([point[0] for point in front], [point[1] for point in front], color=dots.get_facecolor()[0])
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.legend()
        return axes

    def _repr_html_(self) -> str:
        import html

        names = [field.name for field in fields(SweepRow)]
        lines = ["<table><thead><tr>" + "".join(f"<th>{name}</th>" for name in names) + "</tr></thead><tbody>"]
        lines += ["<tr>" + "".join(f"<td>{html.escape('' if value is None else str(value))}</td>"
                                   for value in asdict(row).values()) + "</tr>" for row in self.rows]
        return "\n".join([*lines, "</tbody></table>"])

    def __repr__(self) -> str:
        return f"<intarsia.Sweep of {len(self.rows)} rows, {len(self.failed)} without figures>"


def _compile_one(model: Any, row: SweepRow, target: TargetLike, board: str | None, options: Mapping[str, Any]) -> SweepRow:
    """A row's figures; run by a worker. A refusal is a result, and a fault of the compiler is an exception."""
    try:
        made = compile_model(model, target=target, board=board, ram_budget=row.ram_budget, **options)
    except Error as refused:
        return replace(row, error=str(refused))
    figures: dict[str, Any] = made._compiled.sweep_figures
    return replace(row, target=made.report.target, board=made.report.board, **figures)


def _named_models(models: Any) -> dict[str, Any]:
    """Models by name, as what can be sent to a worker: paths that are absolute, or bytes."""
    if isinstance(models, (str, bytes, bytearray, memoryview, os.PathLike)) or hasattr(models, "SerializeToString"):
        models = [models]
    if isinstance(models, Mapping):
        named = dict(models)
    else:
        named = {}
        for index, model in enumerate(models):
            is_path = isinstance(model, (str, os.PathLike))
            name = Path(model).stem if is_path else f"model{index}"
            if name in named and is_path:  # folders tell them apart
                name = str(Path(model))
            named[name if name not in named else f"{name}#{index}"] = model
    portable = {}
    for name, model in named.items():
        held, path = bytes_of(model)
        portable[name] = os.path.abspath(path) if held is None else bytes(held)  # type: ignore[call-overload]
    return portable


def sweep(models: ModelLike | Iterable[ModelLike] | Mapping[str, ModelLike], targets: TargetLike | Iterable[TargetLike],
          budgets: Bytes | Iterable[Bytes | None] | None = (None,), *,
          boards: str | Iterable[str | None] | None = (None,), executor: Executor | None = None,
          progress: Callable[[int, int], object] | None = None, measure: bool = False, **options: Any) -> Sweep:
    """Compiles every model for every target, board and RAM budget, and puts RAM, flash and cycles into a table.

    A combination that the compiler refuses is a row with its ``error``.

    :param models: one model, several, or several by name.
    :param targets: target strings or tags, dictionaries, or None for the board's own core.
    :param budgets: of RAM, one or several, in bytes; None: no budget; "auto": what each board has, where the model does not fit otherwise.
    :param boards: names of boards, one or several; None: this machine.
    :param executor: any ``concurrent.futures.Executor``: threads, processes, a Dask client's ``get_executor()``. Default: one
        after the other. Models that are paths have to be readable by its workers.
    :param progress: called with the number of rows that are ready and of all rows.
    :param measure: build the C for the boards, to measure flash and stack.
    :param options: as of :func:`compile`, for all.
    :raises Error: an argument is wrong. Exceptions of the executor are raised as they are.
    """
    all_targets = _several("targets", targets, (str, Mapping))
    all_boards = _several("boards", boards, (str, os.PathLike))
    all_budgets = _several("budgets", budgets, (int, str))
    tasks = []
    for name, model in _named_models(models).items():
        for target in all_targets:
            for board in all_boards:
                for budget in all_budgets:
                    text = "" if target is None else target if isinstance(target, str) else json.dumps(target)
                    tasks.append((model, SweepRow(name, text, board or "host", _budget(budget)), target, board))
    settings = {**options, "measure": measure}
    rows: list[SweepRow | None] = [None] * len(tasks)
    if executor is None:
        for index, task in enumerate(tasks):
            rows[index] = _compile_one(*task, settings)
            if progress is not None:
                progress(index + 1, len(tasks))
    else:
        futures: dict[Future[SweepRow], int] = {executor.submit(_compile_one, *task, settings): index for index, task in enumerate(tasks)}
        try:
            for done, future in enumerate(as_completed(futures)):
                rows[futures[future]] = future.result()
                if progress is not None:
                    progress(done + 1, len(tasks))
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return Sweep(row for row in rows if row is not None)


def _several(where: str, given: Any, one: tuple[type, ...]) -> list[Any]:
    """One, or several: a string is one, and not its letters."""
    if given is None or isinstance(given, one):
        return [given]
    if not isinstance(given, Iterable):
        raise error(where, f"is a {type(given).__name__}", "write one, or a list of them")
    return list(given)


def _budget(budget: Bytes | None) -> int | str | None:
    if budget == "auto":
        return "auto"
    from intarsia._options import Collected, amount

    found = Collected()
    number = amount("budgets", budget, found)
    found.raise_if_any()
    return number
