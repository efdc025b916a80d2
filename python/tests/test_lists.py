"""Targets and boards, and who runs what."""

from __future__ import annotations

import json
import subprocess

import pytest

import intarsia
from intarsia import _resources


def command_line(*arguments: str) -> dict:
    return json.loads(subprocess.run([_resources.program(), *arguments, "--json"], check=True, capture_output=True, text=True).stdout)


def test_targets_are_those_of_the_command_line():
    catalogue, listed = intarsia.targets(), command_line("targets")
    assert [kind.name for kind in catalogue.kinds] == [kind["name"] for kind in listed["kinds"]]
    assert [(tag.name, tag.target) for tag in catalogue.tags] == [(tag["name"], tag["target"]) for tag in listed["tags"]]
    kind = intarsia.targets("c")
    assert isinstance(kind, intarsia.Kind) and kind.role == "cpu" and "mcpu" in [each.name for each in kind.attributes]
    target = intarsia.targets("cortex-m55+ethos-u55-128")
    assert isinstance(target, intarsia.Target) and target.tag == "ethos-u55-128"
    assert [device.kind for device in target.devices] == ["c", "ethos-u"]
    assert target.devices[1].attributes["macs"] == 128
    assert intarsia.targets(target.string) == target and intarsia.targets(json.dumps(target.json)) == target


def test_tags_of_one_s_own(tmp_path, digits):
    (tmp_path / "tags.json").write_text('{"mine": "c -mcpu=cortex-m4"}')
    target = intarsia.targets("mine", tags=tmp_path / "tags.json")
    assert target.tag == "mine" or target.string == "c -mcpu=cortex-m4"
    assert intarsia.compile(digits, target="mine", tags=tmp_path / "tags.json").target == target.string
    with pytest.raises(intarsia.Error):  # and they are gone again
        intarsia.targets("mine")


def test_boards_are_those_of_the_command_line(tmp_path, monkeypatch):
    boards = intarsia.boards()
    assert [board.name for board in boards] == [board["name"] for board in command_line("boards")]
    board = intarsia.boards("mps2-an386")
    assert board in boards and board.cores == ("cortex-m4",) and board.emulated
    assert {memory.kind for memory in board.memories} == {"flash", "ram"}
    with pytest.raises(intarsia.Error, match="mps2-an38"):
        intarsia.boards("mps2-an38")
    monkeypatch.setenv("INTARSIA_BOARDS", str(tmp_path / "none"))
    with pytest.raises(intarsia.Error, match="INTARSIA_BOARDS"):
        intarsia.boards()


def test_explanations_are_those_of_the_command_line(digits):
    for options in ({}, {"target": "cortex-m55+ethos-u55-128"}, {"target": "ethos-n78-4tops-4ple", "refused_only": True},
                    {"ram_budget": 2500}):
        explanation = intarsia.explain(digits, **options)
        flags = {"refused_only": "--refused"}
        written = [part for key, value in options.items()
                   for part in ([flags[key]] if key in flags else ["--" + key.replace("_", "-"), str(value)])]
        assert explanation.data == command_line("explain", str(digits), *written)


def test_an_explanation_names_refusals(digits):
    explanation = intarsia.explain(digits, target="ethos-u55-128")
    refused = [operator for operator in explanation.operators if operator.refusals]
    for operator in explanation.operators:
        taken = [offer.device for offer in operator.offers if offer.taken]
        assert taken == [operator.device]
        assert all(offer.reason for offer in operator.offers if not offer.taken)
    assert set(explanation.by_device()) == {operator.device for operator in explanation.operators}
    assert explanation.microseconds > 0 and explanation.transfer_bytes >= 0
    assert explanation.operators[0].name in str(explanation) and explanation.operators[0].name in explanation._repr_html_()
    assert len(refused) == len(intarsia.explain(digits, target="ethos-u55-128", refused_only=True).operators)
