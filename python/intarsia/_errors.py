"""The exceptions of the package."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["Error", "InternalError", "Problem"]

# The compiler's messages name options as the command line has them.
_OPTIONS = {
    "--board": "board",
    "--capacity": "capacity",
    "--driver": "driver",
    "--flash-budget": "flash_budget",
    "--format": "format",
    "--input-value": "input_values",
    "--io": "io",
    "--keep-dead-channels": "keep_dead_channels",
    "--name": "name",
    "--optimise": "optimise",
    "--pin": "pins",
    "--policy": "policy",
    "--ram-budget": "ram_budget",
    "--runtime": "runtime",
    "--section": "sections",
    "--shape": "shapes",
    "--signature": "signature",
    "--single-file": "single_file",
    "--sram-limit": "sram_limit",
    "--tags": "tags",
    "--target": "target",
    "--timeout": "timeout",
    "--weights-file": "weights_file",
    "--widen-weights": "widen_weights",
}
# Whole ones: a file's name may have such letters in it.
_OPTION = re.compile(r"(?<![\w/.-])(?:" + "|".join(sorted(map(re.escape, _OPTIONS), key=len, reverse=True)) + r")(?![\w-])")


def _in_python(text: str) -> str:
    return _OPTION.sub(lambda found: _OPTIONS[found.group(0)], text)


class Problem(NamedTuple):
    """One thing that is wrong with what was asked for."""

    where: str
    """The place: an operator of the model, an argument, a file."""
    what: str
    """One sentence, without a full stop."""
    hint: str = ""
    """What to do about it; may be empty."""

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}; {self.hint}" if self.hint else text


class Error(Exception):
    """What was asked for cannot be done: a model that is not supported, an option that does not fit, too little memory.

    All problems that were found are reported together; ``str(error)`` has a line for each.
    """

    problems: tuple[Problem, ...]
    """What is wrong, at least one."""

    def __init__(self, problems: Iterable[Sequence[str]]) -> None:
        self.problems = tuple(Problem(*map(_in_python, problem)) for problem in problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class InternalError(RuntimeError):
    """A fault of Intarsia itself: please report its message, with the model if you can.

    Objects that the failed call worked on should not be used any more; everything else may.
    """


def error(where: str, what: str, hint: str = "") -> Error:
    """An Error with one problem."""
    return Error([Problem(where, what, hint)])
