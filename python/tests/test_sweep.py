"""Tables of many compilations, whoever makes them."""

from __future__ import annotations

import concurrent.futures
import csv
import dataclasses
import io
import json
import multiprocessing
import os
import signal

import pytest
from conftest import LAST_THREE, cross_compiler_or_skip, package_or_skip
from test_compile import command_line

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

    models = {f"{name}{copy}": model for copy in range(20) for name, model in (("digits", digits), ("last", LAST_THREE))}
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        workers = list(client.run(os.getpid).values())
        ready = []

        def progress(done: int, all: int) -> None:
            if not ready:
                os.kill(workers[0], signal.SIGKILL)
            ready.append(done)

        swept = intarsia.sweep(models, TARGETS, [None, "2500"], executor=client.get_executor(), progress=progress)
        assert workers[0] not in client.run(os.getpid).values()
    assert ready == list(range(1, len(models) * 6 + 1))
    named = [dataclasses.replace(row, model=row.model.rstrip("0123456789")) for row in swept]
    assert named == list(expected) * 20


@pytest.mark.parametrize("boards", [["host"], ["mps2-an385", "mps2-an386"]])
def test_the_command_has_the_same_rows(digits, tmp_path, boards):
    if boards != ["host"]:
        cross_compiler_or_skip()
    targets = TARGETS[:2] if boards == ["host"] else [None]
    budgets = ["2500"] if boards == ["host"] else ["2500", "auto"]
    table = intarsia.sweep(digits, targets, [None, *budgets], boards=boards, measure=True)
    options = [word for target in targets if target for word in ("--target", target)]
    options += [word for board in boards for word in ("--board", board)]
    options += [word for budget in ("none", *budgets) for word in ("--ram-budget", budget)]
    rows = json.loads(command_line("sweep", str(digits), *options, "--json", cwd=tmp_path))
    best = table.pareto()
    assert [row.pop("unbeaten") for row in rows] == [row in best for row in table]
    assert len(rows) == len(table)
    for row, ours in zip(rows, table):
        assert intarsia.SweepRow(**{**row, "error": ours.error}) == ours
        assert (row["error"] is None) == (ours.error is None)


def test_rows_are_compared_by_flash_where_it_is_known_of_all():
    def row(flash: int | None, constants: int) -> intarsia.SweepRow:
        return intarsia.SweepRow("m", "t", "b", None, ram=1, flash=flash, constants=constants, microseconds=1.0)

    assert intarsia.Sweep([row(2, 1), row(1, 2)]).pareto() == (row(1, 2),)
    assert intarsia.Sweep([row(2, 1), row(None, 2)]).pareto() == (row(2, 1),)


def test_an_exception_of_a_worker_is_raised(digits):
    class Broken(concurrent.futures.Executor):
        def submit(self, function, /, *arguments, **keywords):
            future: concurrent.futures.Future = concurrent.futures.Future()
            future.set_exception(OSError("the worker is gone"))
            return future

    with pytest.raises(OSError, match="the worker is gone"):
        intarsia.sweep(digits, "cortex-m4", executor=Broken())


def test_one_model_may_be_in_any_bytes(digits):
    contents = digits.read_bytes()
    rows = [intarsia.sweep(model, ["cortex-m4"]).rows for model in (contents, bytearray(contents), memoryview(contents))]
    assert [len(each) for each in rows] == [1, 1, 1] and rows[0] == rows[1] == rows[2] and rows[0][0].error is None


def test_models_are_named_by_their_files(digits, tmp_path):
    (tmp_path / "digits.tflite").write_bytes(digits.read_bytes())
    swept = intarsia.sweep([digits, tmp_path / "digits.tflite", LAST_THREE], None)
    assert [row.model for row in swept] == ["digits", str(tmp_path / "digits.tflite"), "model2"]
    assert [row.model for row in intarsia.sweep(str(digits), ["c"])] == ["digits"]
    boards = intarsia.sweep(digits, [None], boards=["mps2-an385", "mps2-an386"])
    assert [row.board for row in boards] == ["mps2-an385", "mps2-an386"] and len({row.target for row in boards}) == 2
    with pytest.raises(intarsia.Error, match="budgets"):
        intarsia.sweep(digits, "c", ["much"])


def test_one_of_each_needs_no_list(digits):
    swept = intarsia.sweep(digits, "cortex-m4", "20K", boards="mps2-an386")
    assert [(row.board, row.ram_budget, row.error) for row in swept] == [("mps2-an386", 20480, None)]
    assert [row.ram_budget for row in intarsia.sweep(digits, "c", 20480, boards=None)] == [20480]
    for name in ("targets", "budgets", "boards"):
        with pytest.raises(intarsia.Error, match=f"{name}: is a float; write one, or a list of them"):
            intarsia.sweep(digits, **{"targets": "c", name: 0.5})


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
