"""What ExecuTorch makes of a network of PyTorch, and what its runtime has to bring for it."""
from ..machine import ROOT
from ..tables import listed

NAME = "executorch"
PEERS = ["executorch"]
HEADINGS = ["tool and device", "file, streams or constants", "memory planned", "scratch of the delegate", "delegates",
            "operators that the runtime has to have"]
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"
NPU = "ethos-u55-128"
FORMS = (("portable kernels, float", {"for": "portable"}), ("kernels of Cortex-M, int8", {"for": "cortex-m"}),
         (f"{NPU}, int8", {"for": "ethos-u", "npu": NPU}))


def our_row(machine, target):
    report = machine.json("compile", DIGITS, "--target", target, "-o", machine.folder() / "package")
    totals = report["totals"]
    return [f"Intarsia, {target}", totals["stream_bytes"] + totals["weight_bytes"] + totals["table_bytes"],
            sum(pool["peak"] for pool in report["pools"]), 0, None, "none: the package has its code"]


def make(machine, options):
    folder = machine.folder()
    jobs = [{**job, "out": str(folder / f"{index}.pte")} for index, (_, job) in enumerate(FORMS)]
    answers = machine.probe("executorch", "executorch", [*jobs, {"file": str(DIGITS)}])
    rows = []
    for (name, _), answer in zip(FORMS, answers or []):
        made = answer.get("result")
        figures = [answer["error"].splitlines()[0], None, None, None, None] if not made else [
            made["bytes"], made["planned"], made["scratch"], listed(made["delegates"]), listed(made["operators"])]
        rows.append([f"ExecuTorch, {name}", *figures])
    rows += [our_row(machine, "cortex-m55"), our_row(machine, NPU)]
    notes = []
    if answers:
        refused = machine.run("compile", folder / "0.pte", "-o", folder / "package")
        notes = [f"`torch.export.load` given `digits.tflite`: {answers[-1].get('result') or answers[-1]['error'].splitlines()[0]}", "",
                 f"Intarsia given ExecuTorch's first file: {'taken' if refused[0] == 0 else 'refused, exit status ' + str(refused[0])}."]
    return rows, notes
