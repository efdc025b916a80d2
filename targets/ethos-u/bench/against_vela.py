#!/usr/bin/env python3
"""Compares what Intarsia and Arm's Vela make of the same models: both streams are executed and timed by the
same simulator, and by a second opinion, what Vela 3.10's own estimator is known to do (literal_estimate.h).
Prints one row per model, NPU and memory mode, with ratios (Vela / ours for cycles: above 1 is faster than Vela).

  against_vela.py --measure build/bench/.../bench_ethos_u MODEL.tflite... [--npu TAG...] [--mode MODE...]

Vela comes from PyPI into virtual environments of its own (3.10.0, and the newest); without a way to get
it, or with --alone, only our own figures are printed, and a line says so.
"""
import argparse
import csv
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


def best(figures, key):
    values = [f[key] for f in figures if f and "error" not in f]
    return min(values) if values else None


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


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


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


def name_of(line):
    return f"{line['npu'].removeprefix('ethos-')} {line['mode']}"


def print_ratios(lines, velas):
    """The ratios of all Velas as a table in Markdown: a row for each NPU and mode, a column for each model. First by the
    simulator's clock, with a star where the literal estimate says the opposite; then by that estimate."""
    models = list(dict.fromkeys(line["model"] for line in lines))
    for key, title in (("cycles", "by the clock"), ("literal", "by the literal estimate")):
        rows = {}
        for line in lines:
            if "error" in line["ours"]:
                continue
            cells = rows.setdefault(name_of(line), {})
            cells[line["model"]] = [ratios_of(line, vela, key) for vela in velas]
        print(f"| {title} | " + " | ".join(models) + " | mean | mean of the worse |")
        print("|---" * (len(models) + 3) + "|")
        for name, cells in rows.items():
            known = [cells.get(model, [None] * len(velas)) for model in models]
            means = [geometric_mean([v[0] for v in values if v]) for values in zip(*known)]
            worse = geometric_mean([min(v[0] for v in cell if v) for cell in known if any(cell)])
            text = [" / ".join(f"{v[0]:.2f}{'' if v[1] or key != 'cycles' else '*'}" if v else "none" for v in cell)
                    for cell in known]
            text += [" / ".join(f"{m:.2f}" if m else "none" for m in means), f"{worse:.2f}" if worse else "none"]
            print(f"| {name} | " + " | ".join(text) + " |")
        print()


def ratios_of(line, vela, key):
    """Vela's cycles divided by ours, and whether clock and literal estimate agree which is less; None without Vela."""
    both = [best(line[vela.name], k) for k in ("cycles", "literal")]
    if both[0] is None:
        return None
    clock, literal = both[0] / line["ours"]["cycles"], both[1] / line["ours"]["literal"]
    return (clock if key == "cycles" else literal), (clock >= 1) == (literal >= 1)


def thousands(value):
    return f"{value / 1000:.1f}"


def print_npus(lines, velas):
    """A table for each NPU: of each network and memory mode the better of all Velas' streams and ours in thousands of cycles,
    by the clock, by the literal estimate, and what Vela printed for its own; then geometric means, of all networks with
    and without elimination of dead channels, and without it and with sums in one operation that the NPU rounds, as all of
    Vela's are. A star: clock and literal estimate do not agree which is faster."""
    means = {}
    for npu in dict.fromkeys(line["npu"] for line in lines):
        print(f"| {npu.removeprefix('ethos-')} | network | our clock: Vela / ours | literal estimate: Vela / ours "
              "| Vela prints | with dead channels kept | kept, sums as the NPU rounds them | SRAM: Vela / ours |")
        print("|---" * 8 + "|")
        for line in (one for one in lines if one["npu"] == npu and "error" not in one["ours"]):
            figures = [f for vela in velas for f in line[vela.name] if f and "error" not in f]
            if not figures:
                continue
            texts, ratios = [], {}
            for key in ("cycles", "literal"):
                vela = best(figures, key)
                ratios[key] = vela / line["ours"][key]
                ratios["kept " + key] = vela / line["kept"][key]
                ratios["rounded " + key] = vela / line["rounded"][key]
                texts.append(f"{thousands(vela)} / {thousands(line['ours'][key])} = {ratios[key]:.2f}")
            star = "" if (ratios["cycles"] >= 1) == (ratios["literal"] >= 1) else "*"
            printed = min((f["printed"] for f in figures if f.get("printed")), default=None)
            fast = min(line[vela.name][0]["sram"] for vela in velas
                       if line[vela.name][0] and "error" not in line[vela.name][0])
            print(f"| {line['mode']} | {line['model']} | {texts[0]}{star} | {texts[1]} | "
                  f"{thousands(printed) if printed else 'none'} | {ratios['kept cycles']:.2f}, "
                  f"{ratios['kept literal']:.2f} | {ratios['rounded cycles']:.2f}, {ratios['rounded literal']:.2f} | {fast} / {line['ours']['sram']} |")
            means.setdefault((npu, line["mode"]), []).append(ratios)
        print()
    print("| geometric mean | networks | clock | literal | clock, dead channels kept | literal, kept | least clock, kept "
          "| clock, kept, the NPU's sums | literal, kept, the NPU's sums |")
    print("|---" * 9 + "|")
    everything = [ratios for values in means.values() for ratios in values]
    for name, values in [(f"{npu.removeprefix('ethos-')} {mode}", values)
                         for (npu, mode), values in means.items()] + [("all", everything)]:
        text = [f"{geometric_mean([ratios[key] for ratios in values]):.2f}"
                for key in ("cycles", "literal", "kept cycles", "kept literal")]
        least = min(ratios["kept cycles"] for ratios in values)
        rounded = [f"{geometric_mean([ratios['rounded ' + key] for ratios in values]):.2f}" for key in ("cycles", "literal")]
        print(f"| {name} | {len(values)} | " + " | ".join([*text, f"{least:.3f}", *rounded]) + " |")
    print()


def print_bounds(lines, velas):
    """Where the clock's cycles of our streams go, in thousands, without elimination of dead channels: what the units would take
    if nothing ever waited (the busier of MAC array and output unit, operation by operation), of that element-wise operations; how
    long each port is busy; in how many cycles no operation is under way; the lower bound, the larger of the units and of reading
    all constants once; and how often that and our cycles are in those of the better Vela."""
    print("| NPU | network | clock | units | of it element-wise | AXI0 | AXI1 | no operation | lower bound | Vela / bound | Vela / ours |")
    print("|---" * 11 + "|")
    means = []
    for line in lines:
        ours = line["ours"]
        if "error" in ours:
            continue
        bound = max(ours["bound"], ours["constants_once"])
        text = [thousands(ours[key]) for key in ("cycles", "bound", "elementwise", "axi0", "axi1", "idle")]
        vela = best([f for one in velas for f in line[one.name] if f], "cycles")
        most = [vela / bound, vela / ours["cycles"]] if vela else None
        if most:
            means.append(most)
        text += [thousands(bound), *(f"{value:.2f}" for value in most or [])]
        print(f"| {name_of(line)} | {line['model']} | " + " | ".join(text) + " |")
    for index, name in enumerate(("of Vela / bound", "of Vela / ours")):
        mean = geometric_mean([values[index] for values in means])
        if mean:
            print(f"\nGeometric mean {name}: {mean:.2f}")


def print_columns(lines, velas):
    """Of the streams that Vela makes for speed, in thousands of cycles: our clock, the literal estimate, what Vela printed."""
    models = list(dict.fromkeys(line["model"] for line in lines))
    for vela in velas:
        print(f"| Vela {vela.name} | " + " | ".join(models) + " |")
        print("|---" * (len(models) + 1) + "|")
        rows = {}
        for line in lines:
            figures = line[vela.name][0]
            if figures and "error" not in figures and figures.get("printed"):
                text = [f"{figures[key] / 1000:.1f}" for key in ("cycles", "literal", "printed")]
                rows.setdefault(name_of(line), {})[line["model"]] = " / ".join(text)
        for name, cells in rows.items():
            print(f"| {name} | " + " | ".join(cells.get(model, "none") for model in models) + " |")
        print()


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
    (print_npus if arguments.npus else print_bounds if arguments.bounds else print_ratios if arguments.ratios
     else print_columns if arguments.columns else print_table)(lines, velas)
    if arguments.json:
        arguments.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
