"""RAM: the arena that TFLM's interpreter allocates, and the bytes that our plan needs."""
import re

from ..machine import Failure
from ..tables import where_less

NAME = "memory"
PEERS = ["tflite-micro"]
HEADINGS = ["model", "TFLM: arena", "of it planned", "of it kept", "Intarsia: planned", "of it state", "lower bound of the plan",
            "proven"]
PART = re.compile(r"Arena allocation (total|head|tail) (\d+) bytes")


def arena(answer):
    """(total, planned for activations, kept by the interpreter), as the recording allocator prints them."""
    found = dict(PART.findall(answer["text"]))
    if len(found) != 3:
        return [answer.get("error", "nothing printed").split("\n")[0], None, None]
    return [int(found[name]) for name in ("total", "head", "tail")]


def state_bytes(machine, model):
    """Bytes of the model's variables, which stay between two runs."""
    report = machine.json("compile", model, "-o", machine.folder() / "package")
    return report, sum(b["end"] - b["begin"] for b in report["buffers"] if b["use"] == "state")


def make(machine, options):
    answers = machine.probe("tflite-micro", "tflm", [{"model": str(model.path), "arena": True} for model in options.models])
    rows = []
    for index, model in enumerate(options.models):
        theirs = arena(answers[index]) if answers else [None] * 3
        try:
            report, state = state_bytes(machine, model.path)
        except Failure:
            rows.append([model.name, *theirs, "refused", None, None, None])
            continue
        pools = report["pools"]
        rows.append([model.name, *theirs, sum(pool["peak"] for pool in pools), state, sum(pool["lower_bound"] for pool in pools),
                     "yes" if all(pool["proven_optimal"] for pool in pools) else "no"])
    return rows, where_less("TFLM", HEADINGS, rows, [("arena", "TFLM: arena", "Intarsia: planned"),
                                                     ("planned alone", "of it planned", "Intarsia: planned")], lambda row: row[0])
