"""Whether results are equal: elements of the outputs that differ, over seeded inputs."""
import json

from .. import models
from ..machine import Failure

NAME = "results"
PEERS = ["tflite-micro", "ai-edge-litert"]
HEADINGS = ["model", "output elements", "Intarsia / TFLM: differ", "Intarsia / LiteRT's reference kernels",
            "LiteRT's default kernels / TFLM", "Intarsia / results recorded beside the model"]


def our_outputs(machine, model, files, options=()):
    """Bytes of each output, all samples one after another."""
    folder = machine.folder()
    machine.json("run", model, *options, "--batch", *[word for file in files for word in ("--input", file)], "--output-dir", folder)
    return [file.read_bytes() for file in sorted(folder.glob("out[0-9]*.bin"), key=lambda file: int(file.stem[3:]))]


def interface(machine, model):
    """(inputs, outputs) of the report."""
    report = machine.json("compile", model, "-o", machine.folder() / "package")
    return report["inputs"], report["outputs"]


def input_files(machine, model, inputs, samples):
    folder = machine.folder()
    for index, tensor in enumerate(inputs):
        (folder / f"in{index}.bin").write_bytes(models.seeded(model, index, tensor, samples))
    return [folder / f"in{index}.bin" for index in range(len(inputs))]


def peer_outputs(machine, distribution, probe, model, files, samples, count, **more):
    """As our_outputs; None where the peer is absent, its words where it fails."""
    folder = machine.folder()
    answers = machine.probe(distribution, probe, [{"model": str(model), "inputs": [str(file) for file in files],
                                                   "samples": samples, "out": str(folder), **more}])
    if answers is None:
        return None
    if "error" in answers[0]:
        return answers[0]["error"]
    return [(folder / f"out{index}.bin").read_bytes() for index in range(count)]


def difference(first, second, outputs):
    if first is None or second is None:
        return None
    if isinstance(first, str) or isinstance(second, str):
        return "refused"
    return sum(models.differing(a, b, models.ELEMENT_BYTES[about["type"]]) for a, b, about in zip(first, second, outputs))


def recorded_difference(machine, model, outputs):
    """Against what the scripts in tests/golden recorded of TFLM; None without such files."""
    folder = model.path.parent
    if not (folder / "out0_0.bin").exists() or len(outputs) != 1 or (folder / "in0_1.bin").exists():
        return None
    different = 0
    for sample in range(len(json.loads((folder / "meta.json").read_text())["samples"])):
        ours = our_outputs(machine, model.path, [folder / f"in{sample}_0.bin"])
        different += difference(ours, [(folder / f"out{sample}_0.bin").read_bytes()], outputs)
    return different


def make(machine, options):
    rows = []
    for model in options.models:
        try:
            inputs, outputs = interface(machine, model.path)
        except Failure:
            continue  # `accepted` counts what we refuse
        files = input_files(machine, model, inputs, options.samples)
        ours = our_outputs(machine, model.path, files)
        peer = lambda distribution, probe, **more: peer_outputs(
            machine, distribution, probe, model.path, files, options.samples, len(outputs), **more)
        tflm, fast = peer("tflite-micro", "tflm"), peer("ai-edge-litert", "litert")
        rows.append([model.name, sum(len(data) // models.ELEMENT_BYTES[about["type"]] for data, about in zip(ours, outputs)),
                     difference(ours, tflm, outputs),
                     difference(ours, peer("ai-edge-litert", "litert", reference=True), outputs),
                     difference(fast, tflm, outputs), recorded_difference(machine, model, outputs)])
    return rows, [f"Inputs of each model: {options.samples}, seeded by its name."]
