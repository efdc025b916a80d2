"""Estimated cycles, instructions, code, constants, RAM and stack of firmware in the emulator, beside what was recorded of TFLM with
CMSIS-NN, and its cycles where $INTARSIA_TFLM names a checkout of it (bench/README.md)."""
import importlib.machinery
import importlib.util
import os
import pathlib

from ..machine import ROOT
from ..tables import ratio, where_less

NAME = "cortex-m"
PEERS = []
HEADINGS = ["model", "core", "TFLM: cycles", "Intarsia: cycles", "TFLM / Intarsia", "TFLM: instructions",
            "Intarsia: instructions", "TFLM / Intarsia", "TFLM: code", "Intarsia: code", "TFLM: model file", "Intarsia: constants", "TFLM: arena", "Intarsia: RAM", "TFLM: stack", "Intarsia: stack"]
CORES = ("m4f", "m55")


def bench_run():
    """bench/run, for what it measures and the table of the peer."""
    loader = importlib.machinery.SourceFileLoader("bench_run", str(ROOT / "bench" / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
    loader.exec_module(module)
    return module


def counted_peer(run, model, core, ours):
    """Estimated cycles of the peer's fastest build, or None."""
    checkout = os.environ.get("INTARSIA_TFLM")
    if not checkout:
        return None
    peer = run.measure_peer(pathlib.Path(checkout), model, core, run.PEER_LEVELS, run.PEER_CACHE, ours, zero_wait_states=False)
    return round(peer["cycles"]["nominal"])


def make(machine, options):
    if not machine.has_cross_toolchain:
        return [], ["Not measured: there is no arm-none-eabi-gcc or no qemu-system-arm."]
    run = bench_run()
    run.INTARSIA, run.SHARED = machine.intarsia, machine.shared
    peers = run.peer_rows()
    folders = {run.folder_of(name).resolve(): name for name in run.MODELS if run.folder_of(name)}
    rows = []
    for model in options.models:
        # Inputs and outputs of a measured run lie beside the model.
        if not (model.path.parent / "in0_0.bin").exists() or (model.path.parent / "in0_1.bin").exists():
            continue
        name = folders.get(model.path.parent, model.name)
        for core in CORES:
            peer = peers.get((name, core))
            if peers and peer is None and not options.models_were_named:
                continue
            work = machine.folder()
            ours = run.measure(name, core, [], work=work)
            counted = counted_peer(run, name, core, work / "package") if peer else None
            theirs = peer or dict.fromkeys(("instructions", "flash_code_bytes", "arena_bytes", "stack"))
            cycles = round(ours["cycles"]["nominal"])
            rows.append([name, core, counted, cycles, ratio(counted, cycles), theirs["instructions"], ours["instructions"],
                         ratio(theirs["instructions"], ours["instructions"]),
                         theirs["flash_code_bytes"], ours["code"], model.path.stat().st_size if peer else None, ours["constants"],
                         theirs["arena_bytes"], ours["ram"], theirs["stack"], ours["stack"]])
    if not peers:
        return rows, ["No figures of TFLM were recorded beside the repository."]
    pairs = [(what, f"TFLM: {theirs}", f"Intarsia: {ours}") for what, theirs, ours in
             (("cycles",) * 3, ("instructions",) * 3, ("code",) * 3, ("constants", "model file", "constants"), ("RAM", "arena", "RAM"), ("stack",) * 3)]
    return rows, where_less("TFLM", HEADINGS, rows, pairs, lambda row: f"{row[0]} on {row[1]}")
