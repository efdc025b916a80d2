#!/usr/bin/env python3
"""Compares what Intarsia and Arm's Vela make of the same models: both streams are executed and timed by the
same simulator, and by a second opinion, what Vela 3.10's own estimator is known to do (literal_estimate.h).
Prints one row per model, NPU and memory mode, with ratios (Vela / ours for cycles: above 1 is faster than Vela).

  against_vela.py --measure build/bench/.../bench_ethos_u MODEL.tflite... [--npu TAG...] [--mode MODE...]
  against_vela.py --measure ... MODEL.tflite... --npus --update docs/ethos-u-timing.md

Vela comes from PyPI into virtual environments of its own (3.10.0, and the newest); without a way to get
it, or with --alone, only our own figures are printed, and a line says so.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import venv

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parents[2] / "bench"
sys.path[:0] = [str(HERE), str(BENCH), str(BENCH / "coverage")]
import against_vela_tables as tables  # noqa: E402
from block import with_block  # noqa: E402

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
        self.version = next((self.work / "venv").rglob("ethos_u_vela-*.dist-info")).name.removesuffix(".dist-info").split("-")[1]
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

    def printed(self, model, npu, mode, optimise):
        """The cycles that Vela itself prints for what it made; None when it made nothing."""
        folder = self.work / model.parent.name / model.stem / f"{npu}-{mode}-{optimise}"
        summary = next(folder.glob("*_summary_*.csv"), None)
        if summary is None:
            return None
        with open(summary, newline="", encoding="utf-8") as text:
            return float(next(csv.DictReader(text))["cycles_total"])


def measure(program, arguments):
    """The program's JSON; its words on failure."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"error": (done.stderr or done.stdout).strip().splitlines()[-1:]}
    return json.loads(done.stdout)


def row(program, velas, model, npu, mode, keep_dead_channels, both=False):
    kept = ["keep-dead-channels"]
    ours = measure(program, ["compile", model, npu, mode, *(kept if keep_dead_channels else [])])
    line = {"model": model.parent.name, "npu": npu, "mode": mode, "ours": ours}
    if both:
        line["kept"] = measure(program, ["compile", model, npu, mode, *kept])
        line["rounded"] = measure(program, ["compile", model, npu, mode, *kept, "npu-sums"])
    for vela in velas:
        files = [vela.compile(model, npu, mode, optimise) for optimise in ("Performance", "Size")]
        line[vela.name] = [measure(program, ["stream", made, mode]) if made else None for made in files]
        for figures, optimise in zip(line[vela.name], ("Performance", "Size")):
            if figures and "error" not in figures:
                figures["printed"] = vela.printed(model, npu, mode, optimise)
    return line


def tables_of(arguments):
    """What is to be printed, by the names of its blocks on a page."""
    if arguments.npus:
        return {"npus": tables.npu_tables, "means": tables.mean_table}
    if arguments.bounds:
        return {"bounds": tables.bound_table}
    if arguments.ratios:
        return {"ratios": tables.ratio_tables}
    return {"columns": tables.column_tables} if arguments.columns else {"table": tables.plain_table}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", required=True, help="the program bench_ethos_u")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/against-vela"))
    parser.add_argument("--npu", nargs="+", default=NPUS, choices=NPUS)
    parser.add_argument("--mode", nargs="+", default=list(VELA_MODE), choices=list(VELA_MODE))
    parser.add_argument("--alone", action="store_true", help="do not run Vela")
    parser.add_argument("--ratios", action="store_true", help="print the ratios alone, in Markdown")
    parser.add_argument("--columns", action="store_true",
                        help="print clock, literal estimate and Vela's printed cycles of Vela's streams, in Markdown")
    parser.add_argument("--bounds", action="store_true",
                        help="print where the cycles go and how far they are from what nothing could be below, in Markdown")
    parser.add_argument("--npus", action="store_true",
                        help="print a table for each NPU and geometric means, with and without elimination of dead "
                             "channels, in Markdown")
    parser.add_argument("--keep-dead-channels", "--no-slim", action="store_true",
                        help="without elimination of dead channels")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE", help="write what is printed into the blocks of this page")
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
    lines = [row(arguments.measure, velas, model.resolve(), npu, mode, arguments.keep_dead_channels, arguments.npus)
             for model in arguments.models for npu in arguments.npu
             for mode in MODES[npu[:9]] if mode in arguments.mode]
    printed = {name: "\n".join(table(lines, velas)).strip("\n").splitlines() for name, table in tables_of(arguments).items()}
    if arguments.update:
        page = arguments.update.read_text(encoding="utf-8")
        for name, text in printed.items():
            page = with_block(page, text, f"<!-- against_vela.py {name}: begin -->", "<!-- against_vela.py: end -->")
        arguments.update.write_text(page, encoding="utf-8")
    else:
        print("\n\n".join("\n".join(text) for text in printed.values()))
    if arguments.json:
        arguments.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
