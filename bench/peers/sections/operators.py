"""Operators of the TFLite schema that each tool knows, by what it says of a model of that one operator."""
import concurrent.futures
import os
import re

from ..machine import ROOT
from ..tables import listed

NAME = "operators"
PEERS = ["tflite-micro", "ai-edge-litert"]
HEADINGS = ["of the operators of the schema", "count", "names"]
# What each says of an operator that it does not know; of one that it knows, it says something of its inputs or nothing.
OURS_LACKS = re.compile(r"is an operator Intarsia does not have")
PEER_LACKS = re.compile(r"[Dd]idn't find op for|[Uu]nresolved custom op|[Uu]nresolved op")


def known_by_us(machine, files):
    def one(name):
        status, _, words = machine.run("dump", files[name], "--stage", "import")
        return status == 0 or not OURS_LACKS.search(words)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return {name for name, known in zip(files, pool.map(one, files)) if known}


def known_by_peer(machine, distribution, probe, files):
    answers = machine.probe(distribution, probe, [{"model": files[name]} for name in files])
    if answers is None:
        return None
    return {name for name, answer in zip(files, answers) if not PEER_LACKS.search(answer["text"] + answer.get("error", ""))}


def make(machine, options):
    answers = machine.probe("tflite-micro", "operator_models", [{"out": str(machine.folder()), "writer": str(ROOT / "tests" / "golden")}])
    if answers is None:
        return [], ["The models of one operator are written with the schema in tflite-micro, which is not here."]
    files = answers[0]["result"]
    everything = {"Intarsia": known_by_us(machine, files), "TFLM": known_by_peer(machine, "tflite-micro", "tflm", files),
                  "LiteRT": known_by_peer(machine, "ai-edge-litert", "litert", files)}
    builtin = {name for name in files if not name.startswith("custom ")}
    known = {tool: names & builtin for tool, names in everything.items() if names is not None}
    rows = [["in the schema", len(builtin), ""], *[[f"{tool} knows", len(names), ""] for tool, names in known.items()]]
    for tool in known:
        for first, second in ((tool, "Intarsia"), ("Intarsia", tool)):
            if tool != "Intarsia":
                names = known[first] - known[second]
                rows.append([f"{first} knows and {second} does not", len(names), listed(sorted(names))])
    custom = {name.removeprefix("custom ") for name in everything["TFLM"] - everything["Intarsia"] if name not in builtin}
    rows.append(["custom operators that TFLM knows and Intarsia does not", len(custom), listed(sorted(custom))])
    return rows, []
