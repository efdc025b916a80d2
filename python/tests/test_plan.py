"""The memory planner alone."""

from __future__ import annotations

import subprocess

import pytest

import intarsia
from intarsia import _resources

ROWS = [("a", 0, 2, 100), ("b", 1, 3, 50), ("c", 2, 4, 100), ("d", 3, 5, 60, 16)]


def check(placement: intarsia.Placement) -> None:
    buffers = placement.buffers
    assert placement.peak == max(buffer.offset + buffer.size for buffer in buffers)
    for index, one in enumerate(buffers):
        for other in buffers[index + 1:]:
            lives = one.lower < other.upper and other.lower < one.upper
            shares = one.offset < other.offset + other.size and other.offset < one.offset + one.size
            assert not (lives and shares), (one, other)


def test_buffers_in_every_spelling():
    placement = intarsia.plan(ROWS)
    check(placement)
    assert (placement.peak, placement.lower_bound, placement.proven_optimal) == (160, 160, True) or placement.peak >= 160
    assert placement.offsets[3] % 16 == 0
    keys = intarsia.PlanBuffer._fields
    for spelled in ([intarsia.PlanBuffer(*row) for row in ROWS], [dict(zip(keys, row)) for row in ROWS], iter(ROWS), map(list, ROWS)):
        assert intarsia.plan(spelled).offsets == placement.offsets
    assert intarsia.plan([]).peak == 0
    assert intarsia.plan([("fixed", 0, 1, 10, 1, 40), ("free", 0, 1, 30)]).offsets == (40, 0)


def test_files_are_minimalloc_s(tmp_path):
    (tmp_path / "in.csv").write_text("id,lower,upper,size\na,0,2,100\nb,1,3,50\nc,2,4,100\n")
    placement = intarsia.plan(tmp_path / "in.csv", capacity="1K")
    check(placement)
    subprocess.run([_resources.program(), "plan", "in.csv", "--capacity", "1024", "-o", "out.csv"], cwd=tmp_path, check=True,
                   capture_output=True)
    assert placement.to_csv() == (tmp_path / "out.csv").read_text()


def problems_of(*arguments, **keywords) -> list[str]:
    with pytest.raises(intarsia.Error) as caught:
        intarsia.plan(*arguments, **keywords)
    return [str(problem) for problem in caught.value.problems]


def test_what_does_not_fit_says_what_would():
    assert problems_of(ROWS, capacity=120) == [
        "plan: does not fit in 120 bytes: 160 bytes are needed at once (lower bound); the best placement found needs capacity 160"]


def test_what_is_wrong_with_buffers_is_told_together(tmp_path):
    assert problems_of([("a", 0, 2), ("b", 0, 1.5, 10), ("c", 0, 1, 1 << 63)]) == [
        "buffer 0: is ('a', 0, 2); write (name, lower, upper, size), and perhaps alignment and offset, or a dictionary with these keys",
        "buffer 1 'b': upper is 1.5; write an integer",
        "buffer 2 'c': size is 9223372036854775808, which is beyond 64 bits",
    ]
    assert len(problems_of([("a", 2, 1, 10), ("b", 0, 1, -3)])) == 2
    assert problems_of(3) == ["buffers: is a int; give the path of a CSV file, or a list of buffers"]
    assert problems_of(tmp_path / "none.csv") == [f"{tmp_path}/none.csv: cannot be read: No such file or directory"]
    assert problems_of(ROWS, capacity="none")[0].startswith("capacity: 'none' is no size")
