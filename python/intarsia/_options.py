"""What users write, as options of the compiler."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, Union, runtime_checkable

from intarsia import _core
from intarsia._errors import Error, Problem, error

__all__ = ["ModelLike", "SerializesToString"]


@runtime_checkable
class SerializesToString(Protocol):
    """An ``onnx.ModelProto``, say."""

    def SerializeToString(self) -> bytes: ...  # noqa: N802


ModelLike = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, SerializesToString]
"""A model: the path of a ``.tflite`` or ``.onnx``, its bytes, or an object that serialises itself to them."""

Bytes = Union[int, str]
"""A number of bytes: 60000, "20K" or "1.5M" (K is 1024)."""

CHOICES = {
    "optimise": ("size", "speed", "balanced"),
    "weights_file": ("auto", "never", "always"),
    "policy": ("priority", "cost"),
    "io": ("float", "int8"),
    "driver": ("intarsia", "arm"),
}


class Collected:
    """Problems of several arguments, raised together."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, where: str, what: str, hint: str = "") -> None:
        self.problems.append(Problem(where, what, hint))

    def raise_if_any(self) -> None:
        if self.problems:
            raise Error(self.problems)


def _whole_number(where: str, value: object, least: int, most: int, hint: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value.__index__() <= most:
        raise error(where, f"is {value!r}", hint)
    return int(value.__index__())


def thread_count(threads: object) -> int:
    """That work at once, as the command line's --jobs has them."""
    return _whole_number("threads", threads, 0, 1024, "write 0 (one for each core) to 1024")


def sample_count(samples: object) -> int:
    """That are made, as the command line's --samples has them."""
    return _whole_number("samples", samples, 1, 10000, "write 1 to 10000")


def is_utf8(text: str) -> bool:
    """Names of files that are none have other code points in Python, which no library takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read(path: str) -> tuple[object | None, str]:
    shown = path.encode(errors="backslashreplace").decode()
    try:
        with open(path, "rb") as file:
            return file.read(), shown
    except OSError as failure:
        raise error(shown, f"cannot be read: {failure.strerror}", "check the path and its permissions") from None


def bytes_of(model: ModelLike) -> tuple[object | None, str]:
    """What holds the model's bytes, or None for a file; and its path, or a name for messages."""
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        if isinstance(path, str):
            return (None, path) if is_utf8(path) else _read(path)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return model, "model"
    if isinstance(model, SerializesToString):
        return model.SerializeToString(), "model.onnx"
    raise error("model", f"is a {type(model).__name__}",
                "give a path, bytes, or an object with SerializeToString(), as onnx has them")


def amount(where: str, value: object, found: Collected) -> int | None:
    """A number of bytes, from any spelling."""
    if value is None:
        return None
    number = _core.parse_bytes(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        found.add(where, f"{value!r} is no size", "write bytes as 60000, '20K' or '1.5M' (K is 1024)")
        return None
    if not 1 <= number.__index__() < 1 << 63:
        found.add(where, f"{value!r} is out of range", "write a number of bytes, at least 1")
        return None
    return int(number.__index__())


def _pairs(where: str, value: object, example: str, found: Collected) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, Mapping):
        found.add(where, f"is a {type(value).__name__}", f"write a dictionary, for example {example}")
        return []
    pairs = []
    for key, to in value.items():
        if isinstance(key, str) and isinstance(to, str) and is_utf8(key + to):
            pairs.append(f"{key}={to}")
        else:
            found.add(where, f"{key!r}: {to!r} is not a pair of strings", f"for example {example}")
    return pairs


def _shapes(value: object, found: Collected) -> list[str]:
    if not isinstance(value, Mapping):
        found.add("shapes", f"is a {type(value).__name__}", "write a dictionary, for example {'image': (1, 96, 96, 3)}")
        return []
    shapes = []
    for name, extents in value.items():
        try:
            shapes.append(f"{name}={'x'.join(str(operator.index(extent)) for extent in extents)}")
        except TypeError:
            found.add("shapes", f"{name!r}: {extents!r} are no extents", "for example {'image': (1, 96, 96, 3)}")
    return shapes


def _values(value: object, found: Collected) -> list[str]:
    if not isinstance(value, Mapping):
        found.add("input_values", f"is a {type(value).__name__}", "write a dictionary, for example {'sr': 16000}")
        return []
    values = []
    for name, numbers in value.items():
        try:
            several = list(numbers) if isinstance(numbers, Iterable) and not isinstance(numbers, str) else [numbers]
            values.append(f"{name}={','.join(format(float(number), '.17g') for number in several)}")
        except (TypeError, ValueError):
            found.add("input_values", f"{name!r}: {numbers!r} are no numbers", "for example {'sr': 16000}")
    return values


def _text(where: str, value: object, found: Collected) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        found.add(where, f"is a {type(value).__name__}", "write a string")
        return ""
    if not value:
        found.add(where, "is empty")
    if not is_utf8(value):
        found.add(where, f"{value!r} is no text of UTF-8")
        return ""
    return value


def options_of(path: str, arguments: Mapping[str, Any]) -> _core.ModelOptions:
    """The options that keyword arguments say, those that are None being left out. All problems are raised together."""
    found = Collected()
    options = _core.ModelOptions()
    options.model = path
    for key, value in arguments.items():
        if value is None:
            continue
        if key in CHOICES:
            if value not in CHOICES[key]:
                near = [word for word in CHOICES[key] if isinstance(value, str) and word[:2] == value[:2].lower()]
                found.add(key, f"{value!r} is no choice",
                          f"did you mean {near[0]!r}?" if near else f"write one of {', '.join(CHOICES[key])}")
                continue
            setattr(options, key, value)
        elif key == "ram_budget" and value == "auto":
            options.ram_budget_is_auto = True
        elif key in ("ram_budget", "flash_budget", "sram_limit"):
            setattr(options, key, amount(key, value, found))
        elif key == "pins":
            options.pins = _pairs(key, value, "{'conv_3': 'npu'}", found)
        elif key == "sections":
            options.sections = _pairs(key, value, "{'weights': '.qspi'}", found)
        elif key == "shapes":
            options.shapes = _shapes(value, found)
        elif key == "input_values":
            options.input_values = _values(value, found)
        elif key == "target" and isinstance(value, Mapping):
            options.target = json.dumps(value)
        elif key in ("target", "board", "name", "signature"):
            setattr(options, key, _text(key, value, found))
        elif key == "tags":
            options.tags_file = _text(key, value, found)
        elif key == "in_place":
            options.no_in_place = not value
        elif key in ("keep_dead_channels", "widen_weights"):
            setattr(options, key, bool(value))
        elif key == "timeout":
            if not isinstance(value, (int, float)) or not 0 <= value <= 1e6:
                found.add(key, f"{value!r} is no number of seconds", "write 0 (for ever) to 1000000")
            else:
                options.timeout = float(value)
        else:
            raise TypeError(f"unexpected argument {key!r}")
    if options.name and (problem := _core.name_problem(options.name)):
        found.add("name", f"{options.name!r} {problem}", _core.name_rule())
    found.raise_if_any()
    return options
