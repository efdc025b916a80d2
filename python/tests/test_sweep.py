"""Tables of many compilations, whoever makes them."""

from __future__ import annotations

import concurrent.futures
import csv
import io
import json
import multiprocessing
import os
import signal

import pytest
from conftest import LAST_THREE, package_or_skip

import intarsia

TARGETS = ["cortex-m4", "cortex-m55+ethos-u55-128", "no-such-target"]


@pytest.fixture
def expected(digits) -> intarsia.Sweep:
    return intarsia.sweep({"digits": digits, "last": LAST_THREE}, TARGETS, [None, "2500"])


def test_rows_come_in_order_with_the_figures_of_reports(digits, expected):
    assert [(row.model, row.ram_budget) for row in expected] == [
        (model, budget) for model in ("digits", "last") for _ in TARGETS for budget in (None, 2500)]
    report = intarsia.compile(digits, target="cortex-m4", ram_budget=2500, measure=False).report
    row = expected[1]
    assert (row.target, row.board, row.ram, row.constants) == (report.target, "host", report.ram, report.constant_bytes)
    assert (row.cycles, row.microseconds, row.macs) == (sum(report.cycles.values()), report.microseconds, report.macs)
    assert row.flash is None and row.error is None
    assert [(row.model, row.target, row.ram_budget) for row in expected.failed] == [
        ("digits", "cortex-m55+ethos-u55-128", 2500), *((model, "no-such-target", budget) for model in ("digits", "last")
                                                        for budget in (None, 2500))]
    assert "ram_budget" in expected.failed[0].error and "no-such-target" in expected.failed[1].error


def test_threads_and_processes_make_the_same_table(digits, expected):
    told = []
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        swept = intarsia.sweep({"digits": digits, "last": LAST_THREE}, TARGETS, [None, "2500"], executor=pool,
                               progress=lambda done, all: told.append((done, all)))
    assert swept.rows == expected.rows and told == [(done, 12) for done in range(1, 13)]
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        swept = intarsia.sweep({"digits": digits, "last": LAST_THREE}, TARGETS, [None, "2500"], executor=pool)
    assert swept.rows == expected.rows


def test_dask_goes_on_when_it_loses_a_worker(digits, expected):
    package_or_skip("distributed")
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        lost = []

        def progress(done: int, all: int) -> None:
            if not lost:
                lost.append(client.run(os.getpid))
                os.kill(next(iter(lost[0].values())), signal.SIGKILL)

        swept = intarsia.sweep({"digits": digits, "last": LAST_THREE}, TARGETS, [None, "2500"], executor=client.get_executor(),
                               progress=progress)
        assert lost
    assert swept.rows == expected.rows


def test_an_exception_of_a_worker_is_raised(digits):
    class Broken(concurrent.futures.Executor):
        def submit(self, function, /, *arguments, **keywords):
            future: concurrent.futures.Future = concurrent.futures.Future()
            future.set_exception(OSError("the worker is gone"))
            return future

    with pytest.raises(OSError, match="the worker is gone"):
        intarsia.sweep(digits, "cortex-m4", executor=Broken())


def test_models_are_named_by_their_files(digits, tmp_path):
    (tmp_path / "digits.tflite").write_bytes(digits.read_bytes())
    swept = intarsia.sweep([digits, tmp_path / "digits.tflite", LAST_THREE], None)
    assert [row.model for row in swept] == ["digits", str(tmp_path / "digits.tflite"), "model2"]
    assert [row.model for row in intarsia.sweep(str(digits), ["c"])] == ["digits"]
    boards = intarsia.sweep(digits, [None], boards=["mps2-an385", "mps2-an386"])
    assert [row.board for row in boards] == ["mps2-an385", "mps2-an386"] and len({row.target for row in boards}) == 2
    with pytest.raises(intarsia.Error, match="budgets"):
        intarsia.sweep(digits, "c", ["much"])


def test_tables_can_be_written(expected, tmp_path):
    text = expected.to_csv(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["ram"] for row in rows] == ["" if row.ram is None else str(row.ram) for row in expected]
    data = json.loads(expected.to_json(tmp_path / "table.json"))
    assert json.loads((tmp_path / "table.json").read_text()) == data
    assert [intarsia.SweepRow(**row) for row in data] == list(expected)
    assert "cortex-m4" in expected._repr_html_() and "12 rows, 5 without" in repr(expected)


def test_nobody_beats_the_pareto_front():
    def row(model: str, ram: int | None, microseconds: float) -> intarsia.SweepRow:
        return intarsia.SweepRow(model, "t", "b", None, ram=ram, constants=1, microseconds=microseconds)

    rows = [row("a", 10, 5), row("a", 20, 3), row("a", 20, 5), row("a", 30, 3), row("a", None, 1), row("b", 40, 9), row("a", 10, 5)]
    table = intarsia.Sweep(rows)
    assert table.pareto() == (rows[0], rows[1], rows[5], rows[6])
    assert table.pareto("ram", model="a") == (rows[0], rows[6])
    with pytest.raises(intarsia.Error, match="'speed' is no figure"):
        table.pareto("speed")


def test_tables_for_other_packages(expected):
    package_or_skip("pandas")
    assert list(expected.frame()["model"]) == [row.model for row in expected]
    package_or_skip("matplotlib")
    import matplotlib

    matplotlib.use("Agg")
    axes = expected.plot("ram", "microseconds")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("ram", "microseconds")
