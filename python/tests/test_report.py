"""Figures of a compiled model, and how they show themselves."""

from __future__ import annotations

import json
import pickle
from html.parser import HTMLParser

import pytest
from conftest import package_or_skip

import intarsia


@pytest.fixture
def report(digits) -> intarsia.Report:
    return intarsia.compile(digits, target="cortex-m55+ethos-u55-128", measure=False).report


def test_figures_are_those_of_report_json(report):
    data = json.loads(report.to_json())
    assert data == report.data and (report.model, report.board) == ("digits", "host")
    assert report.ram == sum(pool["peak"] for pool in data["pools"]) == sum(memory.peak for memory in report.memories)
    assert report.macs == data["totals"]["macs"] == sum(layer.macs for layer in report.layers)
    assert report.constant_bytes >= data["totals"]["stream_bytes"] > 0
    assert report.cycles and set(report.cycles) == {row["member"] for row in data["estimated_cycles"]["devices"]}
    assert report.microseconds > 0
    assert report.flash is None and report.stack is None and "not to be measured" in report.not_measured


def test_layers_come_in_order(report):
    assert [layer.name for layer in report.layers] == [row["name"] for row in report.data["operators"]]
    assert {layer.device for layer in report.layers} <= {"c", "ethos-u"}
    cpu = intarsia.Report(report.data)
    assert cpu.layers == report.layers


def test_cycles_of_a_cpu_s_operators_are_their_own(digits):
    report = intarsia.compile(digits, target="cortex-m4", measure=False).report
    assert all(layer.cycles is not None for layer in report.layers)
    assert sum(layer.cycles for layer in report.layers) == report.cycles["c"]


def alike(one: intarsia.PlannedBuffer, other: intarsia.PlannedBuffer) -> bool:
    """A result that is written over an operand: both have the steps of the two together."""
    return (one.first_step, one.last_step) == (other.first_step, other.last_step) and (
        other.written_by in one.read_by or one.written_by in other.read_by)


def test_the_page_is_the_one_that_compile_writes(digits, report):
    package = intarsia.compile(digits, target="cortex-m55+ethos-u55-128", measure=False)
    assert report.to_html() == package.files["report.html"].decode()
    compared = report.to_html(baseline=intarsia.compile(digits, measure=False).report)
    assert compared != report.to_html() and "<script" in compared
    with pytest.raises(intarsia.Error, match="report"):
        intarsia.Report({"model": "m", "target": "t"}).to_html()


def test_the_plan_holds_every_buffer_in_its_place(report):
    assert report.plan and report.parts == ()
    for memory in report.memories:
        inside = [buffer for buffer in report.plan if buffer.memory == memory.name]
        assert max((buffer.end for buffer in inside), default=0) <= memory.peak
    for index, one in enumerate(report.plan):
        assert one.begin < one.end and one.first_step <= one.last_step
        for other in report.plan[index + 1:]:
            lives = one.first_step <= other.last_step and other.first_step <= one.last_step
            shares = one.memory == other.memory and one.begin < other.end and other.begin < one.end
            assert not (lives and shares) or one.alias or other.alias or alike(one, other), (one, other)


def test_a_model_for_several_cpus_has_a_report_for_each(digits):
    target = "low: c -mcpu=cortex-m0; fast: c -mcpu=cortex-m7"
    operators = [operator.name for operator in intarsia.explain(digits).operators]
    report = intarsia.compile(digits, target=target, pins={operators[0]: "low", operators[-1]: "fast"}, measure=False).report
    assert len(report.parts) == 2
    blocks = report.data["blocks"]
    assert {block["member"] for block in blocks} == {"low", "fast"}
    assert report.ram == sum(block["bytes"] for block in blocks) + report.data["mailbox_bytes"]
    ends = [operators[0], operators[-1]]  # "low" runs two stages, in one block
    report = intarsia.compile(digits, target=target, pins={name: "low" if name in ends else "fast" for name in operators}, measure=False).report
    assert len(report.parts) == 3 and len(report.data["blocks"]) == 2
    assert report.ram < sum(part.ram for part in report.parts) + report.data["mailbox_bytes"]
    assert [layer.name for layer in report.layers] == [layer.name for part in report.parts for layer in part.layers]
    assert all(part.plan for part in report.parts) and report.plan == ()
    assert report.flash is None and "parts" in report.not_measured and report.macs > 0 and report.constant_bytes > 0


def test_notebooks_show_a_table_that_is_escaped(report):
    class Tags(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.cells = [], []

        def handle_starttag(self, tag, attributes):
            self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

        def handle_data(self, data):
            if self.open and self.open[-1] == "td":
                self.cells.append(data)

    data = json.loads(report.to_json())
    data["operators"][0]["name"] = "<script>alert(1)</script>"
    shown = intarsia.Report(data)._repr_html_()
    tags = Tags()
    tags.feed(shown)
    assert tags.open == [] and "<script>" not in shown
    assert "<script>alert(1)</script>" in tags.cells and f"{report.ram:,} bytes" in tags.cells


def test_reports_can_be_sent_to_other_processes(report):
    again = pickle.loads(pickle.dumps(report))
    assert again.to_json() == report.to_json() and again.plan == report.plan


def test_layers_as_a_data_frame(report):
    package_or_skip("pandas")
    frame = report.layers_frame()
    assert list(frame["name"]) == [layer.name for layer in report.layers]
    assert frame["macs"].sum() == report.macs


def test_a_missing_package_is_named(report, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        report.layers_frame()
