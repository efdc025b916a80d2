"""Ethos-U: Vela's command streams and ours in one simulator, with Vela's own estimate beside it."""
import re

from .. import models
from ..machine import Failure
from ..tables import ratio, where_less
from ..vela import Compiled
from .results import difference, input_files, interface, our_outputs, peer_outputs

NAME = "ethos-u"
PEERS = ["ethos-u-vela", "tflite-micro"]
HEADINGS = ["model", "NPU, memory mode, made for", "Vela: cycles by its estimate", "Vela: cycles of the NPU, simulated",
            "Intarsia: cycles of the NPU, simulated", "Vela / Intarsia", "Vela: SRAM", "Intarsia: RAM", "Vela: file for the firmware",
            "Intarsia: streams, weights, tables", "Vela: operators left to the CPU", "Intarsia: operators left to the CPU",
            "Vela's stream / TFLM: elements that differ", "Intarsia's stream / TFLM"]
# What both are asked for: Vela's --optimise, ours.
PURPOSES = {"speed": ("Performance", "speed"), "size": ("Size", "size")}


def simulated(machine, model, options, first, files, reference, outputs):
    """(cycles of the NPU for the first input, elements that differ from `reference` over all inputs); words where refused."""
    try:
        run = machine.json("run", model, *options, *[word for file in first for word in ("--input", file)],
                           "--output-dir", machine.folder())
        made = our_outputs(machine, model, files, options)
    except Failure as failure:
        return "refused: " + re.sub(r"^\S*/", "", str(failure).splitlines()[0]), None
    return round(sum(device["cycles"] for device in run.get("devices", []))), difference(made, reference, outputs)


class Case:
    """A model with its inputs, and what TFLM computes for them."""

    def __init__(self, machine, model, samples):
        self.model = model
        inputs, self.outputs = interface(machine, model.path)
        self.files, self.first = input_files(machine, model, inputs, samples), input_files(machine, model, inputs, 1)
        self.reference = peer_outputs(machine, "tflite-micro", "tflm", model.path, self.files, samples, len(self.outputs))

    def simulated(self, machine, model, options):
        return simulated(machine, model, options, self.first, self.files, self.reference, self.outputs)


def row(machine, case, npu, mode, purpose):
    model = case.model
    theirs_for, ours_for = PURPOSES[purpose]
    target = ["--target", npu, "--optimise", ours_for]
    report = machine.json("compile", model.path, *target, "-o", machine.folder() / "package")
    ours, our_difference = case.simulated(machine, model.path, target)
    left = sum(operator["member"] != "ethos-u" for operator in report["operators"])
    totals = report["totals"]
    constants = totals["stream_bytes"] + totals["weight_bytes"] + totals["table_bytes"]
    estimate = cycles = sram = file_bytes = their_left = their_difference = None
    if machine.vela:
        vela = Compiled(machine, model.path, npu, mode, theirs_for)
        if vela.error:
            estimate = "refused"
        else:
            cycles, their_difference = case.simulated(machine, vela.file, ["--target", npu])
            estimate, sram, file_bytes, their_left = vela.cycles, vela.sram, vela.file.stat().st_size, vela.cpu_operators
    if not ours and not cycles:
        return None  # nothing is for the NPU
    # Cycles are the NPU's alone: they compare where neither leaves the CPU anything to do.
    comparable = left == 0 and their_left == 0 and isinstance(cycles, int) and isinstance(ours, int)
    return [model.name, f"{npu}, {mode}, {purpose}", estimate, cycles, ours, ratio(cycles, ours) if comparable else None, sram,
            sum(pool["peak"] for pool in report["pools"]), file_bytes, constants, their_left, left, their_difference, our_difference]


def vela_reads_vela(machine, options):
    """Whether Vela estimates what was compiled already, its own file for one."""
    first = Compiled(machine, options.models[0].path, options.npus[0], "shared-sram")
    if first.error:
        return []
    again = Compiled(machine, first.file, options.npus[0], "shared-sram")
    return [f"Vela given the file that it wrote for {options.models[0].name}: " +
            (again.error or f"{again.npu_operators} operators for the NPU, {again.cpu_operators} for the CPU, "
             f"{again.cycles} cycles estimated.")]


def make(machine, options):
    rows = []
    for model in options.models:
        try:
            case = Case(machine, model, options.samples)
            rows += [row(machine, case, npu, "shared-sram", purpose) for npu in options.npus for purpose in PURPOSES]
        except Failure:
            continue  # `accepted` counts what we refuse
    rows = [made for made in rows if made]
    if not machine.vela:
        return rows, []
    pairs = [("SRAM", "Vela: SRAM", "Intarsia: RAM"), ("bytes for the firmware", "Vela: file for the firmware", "Intarsia: streams, weights, tables")]
    name = lambda row: f"{row[0]} for {row[1].split(', ')[-1]}"
    comparable = [row for row in rows if row[HEADINGS.index("Vela / Intarsia")]]
    cycles = [("cycles", "Vela: cycles of the NPU, simulated", "Intarsia: cycles of the NPU, simulated")]
    return rows, [*where_less("Vela", HEADINGS, rows, pairs, name), *where_less("Vela", HEADINGS, comparable, cycles, name), "",
                  *vela_reads_vela(machine, options)]
