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
    def one(file):
        status, _, words = machine.run("dump", file, "--stage", "import")
        return status == 0 or not OURS_LACKS.search(words)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, files))


def known_by_peer(machine, distribution, probe, files):
    answers = machine.probe(distribution, probe, [{"model": file} for file in files])
    return [not PEER_LACKS.search(answer["text"] + answer.get("error", "")) for answer in answers]


def known(ask, files):
    """Names that the tool knows in some version; `ask(files)` says it of each file."""
    names = set()
    for version in range(len(next(iter(files.values())))):
        left = [name for name in files if name not in names]
        names |= {name for name, yes in zip(left, ask([files[name][version] for name in left])) if yes}
    return names


def make(machine, options):
    answers = machine.probe("tflite-micro", "operator_models", [{"out": str(machine.folder()), "writer": str(ROOT / "tests" / "golden")}])
    if answers is None:
        return [], ["The models of one operator are written with the schema in tflite-micro, which is not here."]
    files = answers[0]["result"]
    everything = {"Intarsia": known(lambda left: known_by_us(machine, left), files)}
    for tool, distribution, probe in (("TFLM", "tflite-micro", "tflm"), ("LiteRT", "ai-edge-litert", "litert")):
        if distribution in machine.found:
            everything[tool] = known(lambda left: known_by_peer(machine, distribution, probe, left), files)
    builtin = {name for name in files if not name.startswith("custom ")}
    shared = {tool: names & builtin for tool, names in everything.items()}
    rows = [["in the schema", len(builtin), ""], *[[f"{tool} knows", len(names), ""] for tool, names in shared.items()]]
    for tool in shared:
        for first, second in ((tool, "Intarsia"), ("Intarsia", tool)):
            if tool != "Intarsia":
                names = shared[first] - shared[second]
                rows.append([f"{first} knows and {second} does not", len(names), listed(sorted(names))])
    custom = {name.removeprefix("custom ") for name in everything["TFLM"] - everything["Intarsia"] if name not in builtin}
    rows.append(["custom operators that TFLM knows and Intarsia does not", len(custom), listed(sorted(custom))])
    return rows, []
