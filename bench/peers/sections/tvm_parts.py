"""What apache-tvm has for microcontrollers: modules, kinds of targets, and what its target `c` makes."""
from ..tables import listed

NAME = "tvm"
PEERS = ["apache-tvm"]
HEADINGS = ["question to apache-tvm", "answer"]
MODULES = ["tvm.micro", "tvm.relay", "tvm.relay.backend.contrib.ethosu", "tvm.relax", "tvm.relax.frontend.tflite", "tvm.relax.frontend.onnx"]


def make(machine, options):
    answers = machine.probe("apache-tvm", "tvm", [{"module": name} for name in MODULES] + [{"kinds": True}, {"c": True}])
    if answers is None:
        return [["all", "not here"]], []
    said = [answer.get("result", answer.get("error")) for answer in answers]
    rows = [[f"`import {name}`", answer] for name, answer in zip(MODULES, said)]
    rows.append(["kinds of targets", listed(sorted(said[-2])) if isinstance(said[-2], list) else said[-2]])
    made = said[-1]
    if isinstance(made, dict):
        rows.append(["headers that the C of its target `c` includes, for an addition of eight bytes", listed(f"`{name}`" for name in made["includes"])
                     if made["includes"] else "none"])
        rows.append(["functions of its runtime that this C calls", listed(made["calls"])])
    else:
        rows.append(["C of its target `c`", made])
    return rows, []
