"""Arrays as they come, to everything that takes some: in any order of memory, read-only, unaligned; or refused by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import intarsia

SUM = b"""intarsia.graph total
func @main(%0, %1) -> (%2) {
  %0 left: i32[1,4,6]
  %1 right: i32[1,4,6]
  %2 sum: i32[1,4,6]
  add both(%0, %1) -> (%2)
}
entry @main
"""
SHAPE = (1, 4, 6)

Takes = Callable[[object, object], np.ndarray]


def with_samples(value: object) -> object:
    """The only sample of a batch: lying where it lay, in front of its extents one more."""
    return value[np.newaxis] if isinstance(value, np.ndarray) else np.asarray(value)[np.newaxis]


TAKES: dict[str, Takes] = {
    "model": lambda *arrays: intarsia.Model(SUM)(*arrays)[0],
    "run_all": lambda *arrays: intarsia.Model(SUM).run_all(*arrays)["sum"],
    "simulator": lambda *arrays: intarsia.Simulator(SUM)(*arrays)[0],
    "simulate": lambda *arrays: intarsia.simulate(SUM, arrays)[0],
    "batch": lambda *arrays: intarsia.Simulator(SUM).batch(*map(with_samples, arrays))[0][0],
    "evaluate": lambda *arrays: intarsia.evaluate(SUM, tuple(map(with_samples, arrays))).outputs[0][0],
}


def unaligned(array: np.ndarray) -> np.ndarray:
    shifted = np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)
    assert not shifted.flags.aligned
    return shifted


def read_only(array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


LAID_OUT: dict[str, Callable[[np.ndarray], object]] = {
    "read-only": read_only,
    "a file in memory": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
    "a buffer that is read-only": lambda array: memoryview(read_only(array)),
    "Fortran's order": np.asfortranarray,
    "every second": lambda array: np.repeat(array, 2, axis=2)[:, :, ::2],
    "backwards": lambda array: array[:, ::-1, ::-1].copy()[:, ::-1, ::-1],
    "transposed": lambda array: array.transpose(0, 2, 1).copy().transpose(0, 2, 1),
    "unaligned": unaligned,
    "nested lists of numpy's numbers": lambda array: [[list(row) for row in rows] for rows in array],
    "a subclass": lambda array: array.view(np.recarray),
}


@pytest.mark.parametrize("takes", TAKES)
@pytest.mark.parametrize("layout", LAID_OUT)
def test_arrays_are_taken_as_they_lie(takes, layout):
    left = np.arange(24, dtype=np.int32).reshape(SHAPE) * 1000003
    given = LAID_OUT[layout](left)
    kept = np.array(given)
    right = np.broadcast_to(np.int32(7), SHAPE)  # one number in memory, for all elements
    np.testing.assert_array_equal(TAKES[takes](given, right), left + np.int32(7))
    np.testing.assert_array_equal(np.asarray(given), kept)  # nobody writes to it


@pytest.mark.parametrize("takes", TAKES)
def test_what_does_not_fit_is_refused_by_name(takes):
    good = np.zeros(SHAPE, np.int32)
    for bad, says in (
        (good.astype(np.int64), "has elements of type int64, the model takes int32"),
        (good.astype(np.float32), "has elements of type float32, the model takes int32"),
        (good.astype(">i4"), "has elements of type >i4, the model takes int32"),
        (good.astype(object), "has elements of type object, the model takes int32"),
        (good.astype("U1"), "has elements of type <U1, the model takes int32"),
        (np.zeros(SHAPE, [("x", np.int32)]), r"has elements of type \[\('x', '<i4'\)\], the model takes int32"),
        (good[:, :3], r"has shape \(.*1, 3, 6\), the model takes \(.*1, 4, 6\)"),
        (good.reshape(1, 24), r"has shape \(.*1, 24\), the model takes \(.*1, 4, 6\); x.reshape"),
        (np.zeros((), np.int32), r"has shape \(.*\), the model takes \(.*1, 4, 6\)"),
        (None, "has (shape|elements of type) "),
    ):
        with pytest.raises(intarsia.Error, match="input 1 'right': " + says):
            TAKES[takes](good, bad)
    with pytest.raises(intarsia.Error, match=r"takes 2 inputs \('left', 'right'\), got 1"):
        TAKES[takes](good)  # type: ignore[call-arg]


def test_verify_takes_the_same():
    left = np.arange(24, dtype=np.int32).reshape(1, *SHAPE)
    assert intarsia.verify(SUM, (np.asfortranarray(left), read_only(left)), target="cortex-m4")
    with pytest.raises(intarsia.Error, match="input 1 'right': has elements of type int64"):
        intarsia.verify(SUM, (left, left.astype(np.int64)))
