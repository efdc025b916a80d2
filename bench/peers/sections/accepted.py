"""How many of a list of models each tool takes, by its own exit status or exception."""
import concurrent.futures
import json
import os
import pathlib
import tempfile

from .. import models
from ..machine import ROOT
from ..tables import listed
from ..vela import Compiled

NAME = "accepted"
PEERS = ["tflite-micro", "ai-edge-litert", "ethos-u-vela"]
HEADINGS = ["list", "files", "Intarsia, C", "TFLM", "LiteRT", "Intarsia, `{npu}`", "Intarsia, without the CPU", "Vela, `{npu}`",
            "Vela, without the CPU"]
HEADINGS = [heading.format(npu="ethos-u55-128") for heading in HEADINGS]
NPU = "ethos-u55-128"
EXAMPLES = 12


def ours(machine, target, listed_models):
    """For each model: None when refused, else whether nothing is left to the CPU."""
    def one(model):
        # Hundreds of packages are thousands of files: each goes at once.
        with tempfile.TemporaryDirectory(dir=machine.work) as folder:
            status, text, _ = machine.run("compile", model.path, "--target", target, "-o", pathlib.Path(folder, "package"), "--json")
        return None if status != 0 else all(operator["member"] == "ethos-u" for operator in json.loads(text)["operators"])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, listed_models))


def vela(machine, listed_models):
    if not machine.vela:
        return None
    def one(model):
        made = Compiled(machine, model.path, NPU, "shared-sram")
        return None if made.error else made.cpu_operators == 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, listed_models))


def interpreter(machine, distribution, probe, listed_models):
    """For each model: None unless it computes a result for zeros, or else for ones (nothing is divided by zero)."""
    if distribution not in machine.found:
        return None
    answers = [None] * len(listed_models)
    for fill in (0, 1):
        left = [index for index, answer in enumerate(answers) if answer is None]
        jobs = [{"model": str(listed_models[index].path), "samples": 1, "fill": fill} for index in left]
        for index, answer in zip(left, machine.probe(distribution, probe, jobs)):
            answers[index] = True if "result" in answer else None
    return answers


def taken(answers):
    return None if answers is None else sum(answer is not None for answer in answers)


def whole(answers):
    return None if answers is None else sum(answer is True for answer in answers)


def only(first, second, listed_models):
    """Models that the first takes and the second does not."""
    return [model.name for model, a, b in zip(listed_models, first, second) if a is not None and b is None]


def short(names):
    return listed(names[:EXAMPLES]) + (f" and {len(names) - EXAMPLES} more" if len(names) > EXAMPLES else "")


def lists(machine, options):
    if options.models_were_named:
        return [("the models named", options.models)]
    onnx = [models.Model(path) for path in sorted((ROOT / "tests/golden").glob("onnx*/**/*.onnx"))]
    return [("networks, `.tflite`", options.models), ("cases of operators, `.tflite`", models.operator_cases(machine)),
            ("networks and cases of operators, `.onnx`", onnx)]


def make(machine, options):
    rows, notes = [], []
    for name, listed_models in lists(machine, options):
        c, npu, arm = ours(machine, "c", listed_models), ours(machine, NPU, listed_models), vela(machine, listed_models)
        tflm = interpreter(machine, "tflite-micro", "tflm", listed_models)
        litert = interpreter(machine, "ai-edge-litert", "litert", listed_models)
        rows.append([name, len(listed_models), taken(c), taken(tflm), taken(litert), taken(npu), whole(npu), taken(arm), whole(arm)])
        for peer, answers in (("TFLM", tflm), ("LiteRT", litert)):
            if taken(answers):
                notes.append(f"* {name}: {peer} takes and Intarsia does not: {short(only(answers, c, listed_models))}")
                notes.append(f"* {name}: Intarsia takes and {peer} does not: {short(only(c, answers, listed_models))}")
    return rows, notes
