#!/usr/bin/env python3
"""Compares what Intarsia and Arm's Vela make of the same models: both streams are executed, checked and
timed by the same simulator. Prints one row per model, NPU and memory mode, with ratios (Vela / ours for
cycles: above 1 is faster than Vela).

  against_vela.py --measure build/bench/.../bench_ethos_u MODEL.tflite... [--npu TAG...] [--mode MODE...]

Vela comes from PyPI into virtual environments of its own (3.10.0, and the newest); without a way to get
it, or with --alone, only our own figures are printed, and a line says so.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import venv

NPUS = ["ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256", "ethos-u65-256", "ethos-u65-512"]
MODES = {"ethos-u55": ["shared-sram", "sram-only"], "ethos-u65": ["dedicated-sram", "shared-sram", "sram-only"]}
VELA_MODE = {"shared-sram": "Shared_Sram", "sram-only": "Sram_Only", "dedicated-sram": "Dedicated_Sram"}
VELA_SYSTEM = {"ethos-u55": "Ethos_U55_High_End_Embedded", "ethos-u65": "Ethos_U65_High_End"}
# 3.10 overflows a 32-bit integer with NumPy 2.
VELAS = {"3.10.0": ["ethos-u-vela==3.10.0", "numpy<2"], "newest": ["ethos-u-vela"]}


class Vela:
    """One release of Vela in a virtual environment below `work`."""

    def __init__(self, name, packages, work):
        self.name, self.work = name, work / f"vela-{name}"
        self.program = self.work / "venv/bin/vela"
        if not self.program.exists():
            venv.create(self.work / "venv", with_pip=True)
            subprocess.run([self.work / "venv/bin/pip", "install", "-q", *packages], check=True)
        self.config = next((self.work / "venv").rglob("Arm/vela.ini"))

    def compile(self, model, npu, mode, optimise):
        """Path of the compiled file, or None when Vela fails."""
        folder = self.work / model.parent.name / model.stem / f"{npu}-{mode}-{optimise}"
        made = folder / f"{model.stem}_vela.tflite"
        if not made.exists():
            subprocess.run([self.program, model, "--accelerator-config", npu, "--config", self.config,
                            "--system-config", VELA_SYSTEM[npu[:9]], "--memory-mode", VELA_MODE[mode],
                            "--optimise", optimise, "--output-dir", folder],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return made if made.exists() else None


def measure(program, arguments):
    """The program's JSON; its words on failure."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"error": (done.stderr or done.stdout).strip().splitlines()[-1:]}
    return json.loads(done.stdout)


def best(figures, key):
    values = [f[key] for f in figures if f and "error" not in f]
    return min(values) if values else None


def row(program, velas, model, npu, mode):
    ours = measure(program, ["compile", model, npu, mode])
    line = {"model": model.parent.name, "npu": npu, "mode": mode, "ours": ours}
    for vela in velas:
        files = [vela.compile(model, npu, mode, optimise) for optimise in ("Performance", "Size")]
        line[vela.name] = [measure(program, ["stream", made, mode]) if made else None for made in files]
    return line


def print_table(lines, velas):
    head = f"{'model':24} {'npu':13} {'mode':14} {'cycles':>9} {'SRAM':>7} {'weights':>8} {'stream':>7} {'ms':>6}"
    for vela in velas:
        head += f" | Vela {vela.name}: cycles ratio   SRAM weights  stream"
    print(head)
    ratios = {vela.name: {} for vela in velas}
    for line in lines:
        ours = line["ours"]
        text = f"{line['model']:24} {line['npu']:13} {line['mode']:14} "
        if "error" in ours:
            print(text + str(ours["error"]))
            continue
        text += (f"{ours['cycles']:9.0f} {ours['sram']:7} {ours['weights']:8} {ours['stream']:7} "
                 f"{ours['compile_ms']:6.1f}")
        for vela in velas:
            figures = line[vela.name]
            cycles = best(figures, "cycles")
            if cycles is None:
                text += " | none"
                continue
            ratio = cycles / ours["cycles"]
            ratios[vela.name].setdefault((line["npu"], line["mode"]), []).append(ratio)
            text += (f" | {cycles:9.0f} {ratio:6.2f}x {best(figures, 'sram'):7} {best(figures, 'weights'):8} "
                     f"{best(figures, 'stream'):7}")
        print(text)
    for vela in velas:
        for (npu, mode), values in ratios[vela.name].items():
            mean = math.exp(sum(map(math.log, values)) / len(values))
            print(f"geometric mean against Vela {vela.name}, {npu}, {mode}: {mean:.2f}x over {len(values)} models")


def print_ratios(lines, velas):
    """The ratios of all Velas as a table in Markdown: a row for each NPU and mode, a column for each model."""
    models = list(dict.fromkeys(line["model"] for line in lines))
    rows = {}
    for line in lines:
        if "error" in line["ours"]:
            continue
        cycles = [best(line[vela.name], "cycles") for vela in velas]
        rows.setdefault(f"{line['npu'].removeprefix('ethos-')} {line['mode']}", {})[line["model"]] = [
            c / line["ours"]["cycles"] if c else None for c in cycles]
    print("| NPU and memory mode | " + " | ".join(models) + " | mean |")
    print("|---" * (len(models) + 2) + "|")
    for name, ratios in rows.items():
        cells = [ratios.get(model, [None] * len(velas)) for model in models]
        means = []
        for values in zip(*cells):
            known = [v for v in values if v]
            means.append(math.exp(sum(map(math.log, known)) / len(known)) if known else None)
        text = [" / ".join(f"{v:.2f}" if v else "none" for v in cell) for cell in [*cells, means]]
        print(f"| {name} | " + " | ".join(text) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", required=True, help="the program bench_ethos_u")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/against-vela"))
    parser.add_argument("--npu", nargs="+", default=NPUS, choices=NPUS)
    parser.add_argument("--mode", nargs="+", default=list(VELA_MODE), choices=list(VELA_MODE))
    parser.add_argument("--alone", action="store_true", help="do not run Vela")
    parser.add_argument("--ratios", action="store_true", help="print the ratios alone, in Markdown")
    parser.add_argument("--json", type=pathlib.Path, help="write every figure here as well")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()

    velas = []
    if arguments.alone:
        print("our figures alone", file=sys.stderr)
    for name, packages in () if arguments.alone else VELAS.items():
        try:
            velas.append(Vela(name, packages, arguments.work.resolve()))
        except (subprocess.CalledProcessError, StopIteration, OSError) as failure:
            print(f"Vela {name} cannot be had here, its columns are missing: {failure}", file=sys.stderr)
    lines = [row(arguments.measure, velas, model.resolve(), npu, mode)
             for model in arguments.models for npu in arguments.npu
             for mode in MODES[npu[:9]] if mode in arguments.mode]
    (print_ratios if arguments.ratios else print_table)(lines, velas)
    if arguments.json:
        arguments.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
