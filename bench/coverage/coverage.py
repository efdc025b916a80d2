#!/usr/bin/env python3
"""What Intarsia makes of networks that anybody can make again, beside Vela, TFLite Micro and LiteRT, for CPUs and NPUs.

    coverage.py NETWORKS --work DIR --peers DIR:DIR           measures every .tflite of the folder, and prints the page's block
    coverage.py NETWORKS --work DIR --update docs/coverage.md     writes it into the page
    coverage.py NETWORKS --work DIR --page-only               from what has been measured

Results go to DIR/results/NETWORK.json as they come, so that a run may be ended and begun again: what is there of the same
network (and of ours, by the same compiler) is not measured twice. Peers are virtual environments, as bench/compare_peers has
them: tflite-micro, ai-edge-litert, ethos-u-vela. make_networks.py makes the networks.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import block  # noqa: E402
import by_operator  # noqa: E402
from compared import difference  # noqa: E402
from limited import run  # noqa: E402
from peers.machine import ROOT, Machine  # noqa: E402
from peers.models import Model, seeded  # noqa: E402
from peers.sections.memory import arena  # noqa: E402
from peers.vela import CPU_OPERATORS, against_vela  # noqa: E402

NPUS = {"ethos-u55-128": "shared-sram", "ethos-u55-256": "shared-sram", "ethos-u65-256": "dedicated-sram"}
TARGETS = ["cortex-m4", "cortex-m55", *(f"cortex-m55+{npu}" for npu in NPUS)]


def npu_of(target):
    return target.partition("+")[2]


def given(inputs):
    return [word for file in inputs for word in ("--input", file)]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


class Subject:
    """A network, what is known of it, and how more is found out."""

    def __init__(self, options, machine, path):
        self.options, self.machine, self.model = options, machine, Model(path)
        self.file = options.work / "results" / f"{path.stem}.json"
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}
        if self.known.get("network") != digest(path):
            self.known = {"network": digest(path), "bytes": path.stat().st_size, "ours": {}, "vela": {}}
        self.folder = options.work / path.stem
        self.folder.mkdir(parents=True, exist_ok=True)

    def keep(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        scratch = self.file.with_suffix(".new")
        scratch.write_text(json.dumps(self.known, indent=1) + "\n")
        os.replace(scratch, self.file)

    def limited(self, *command, **more):
        return run(command, self.options.seconds, self.options.gigabytes, **more)

    def ours(self, command, *arguments):
        ended = self.limited(self.options.intarsia, command, self.model.path, *arguments)
        ended.err = ended.err.replace(f"{self.model.path.parent}/", "")  # a page has no paths of one machine
        return ended

    # ---- peers ----

    def inputs(self):
        """Files of one random sample, the same everywhere; None where the network does not import."""
        if "inputs" not in self.known:
            with tempfile.TemporaryDirectory() as package:
                ended = self.ours("compile", "-o", f"{package}/p", "--json")
            if ended.status != 0:
                self.known["refused"] = ended.words
                return None
            report = json.loads(ended.out)
            for key in ("inputs", "outputs"):
                self.known[key] = [{part: each[part] for part in ("name", "type", "bytes")} for each in report[key]]
            self.known.pop("refused", None)
            self.known["operators"] = len(report["operators"])
        files = []
        for index, tensor in enumerate(self.known["inputs"]):
            files.append(self.folder / f"in{index}.bin")
            files[-1].write_bytes(seeded(self.model, index, tensor, 1))
        return files

    def ask_interpreters(self, inputs):
        """What the first of them computes that takes the network, and TFLM's arena."""
        if "peer" in self.known:
            return
        self.known["peer"], self.known["tflm"] = None, {}
        job = {"model": str(self.model.path), "inputs": [str(file) for file in inputs], "samples": 1, "out": str(self.folder)}
        for distribution, probe, more in (("tflite-micro", "tflm", {"arena": True}), ("ai-edge-litert", "litert", {"reference": True})):
            answers = self.machine.probe(distribution, probe, [job | more])
            if answers is None:
                return self.known.pop("peer")  # another run may have it
            if probe == "tflm":
                total = arena(answers[0])[1:] if "error" in answers[0] else [arena(answers[0])[0]]
                self.known["tflm"] = {"arena": total[0] if isinstance(total[0], int) else None, "why": answers[0].get("error", "")}
            if "error" not in answers[0]:
                self.known["peer"] = "TFLM" if probe == "tflm" else "LiteRT"
                return

    def ask_vela(self, npu):
        """Again beside each of our compilers: the simulator's clock may be another, and a machine's speed changes from hour to hour."""
        if self.machine.vela is None or self.known["vela"].get(npu, {}).get("beside") == self.options.compiler:
            return
        mode, names = NPUS[npu], against_vela()
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            ended = self.limited(self.machine.vela, self.model.path, "--accelerator-config", npu, "--config", "Arm/vela.ini",
                                 "--system-config", names.VELA_SYSTEM[npu[:9]], "--memory-mode", names.VELA_MODE[mode],
                                 "--optimise", "Performance", "--output-dir", out, cwd=out)
            made = pathlib.Path(out, f"{self.model.path.stem}_vela.tflite")
            found = {"beside": self.options.compiler, "seconds": ended.cpu_seconds,
                     "off": int((CPU_OPERATORS.search(ended.out) or [0, 0])[1])}
            if ended.status != 0 or not made.exists():
                found["error"] = ended.words
            else:
                found |= self.figures("stream", made, mode)
        self.known["vela"][npu] = found

    def figures(self, *arguments):
        """Of one stream, by our clock and by the literal estimate; nothing where it is not the whole network."""
        ended = self.limited(self.options.measure, *arguments)
        if ended.status != 0:
            return {"unmeasured": ended.words}
        found = json.loads(ended.out)
        # No stream of these operations takes less: the units if nothing ever waited, or every constant once through its port.
        return {key: found[key] for key in ("cycles", "literal", "sram")} | {"bound": max(found["bound"], found["constants_once"])}

    # ---- ours ----

    def ask_ours(self, target, inputs):
        if self.known["ours"].get(target, {}).get("compiler") == self.options.compiler:
            return
        found = self.known["ours"][target] = {"compiler": self.options.compiler}
        npu = npu_of(target)
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            ended = self.ours("compile", "--target", target, "-o", f"{scratch}/package", "--json")
            found |= {"seconds": ended.cpu_seconds, "megabytes": round(ended.peak_megabytes)}
            if ended.status != 0:
                found["error"] = ended.words
                return
            report = json.loads(ended.out)
            found["ram"] = sum(pool["peak"] for pool in report["pools"])
            if npu:
                self.look_at_npu(npu, report, found)
            else:
                found["cycles"] = sum(device["cycles"] for device in report["estimated_cycles"]["devices"])
            found["exact"] = self.compared(target, inputs, pathlib.Path(scratch))
            if found["exact"] is None or found["exact"] and self.known["peer"] == "LiteRT":
                found["by_operator"] = self.by_operator(inputs, pathlib.Path(scratch))

    def look_at_npu(self, npu, report, found):
        left = [each for each in report["operators"] if each["member"] == report["target"].split(" ")[0]]
        found["off"] = len(left)
        found["off_kinds"] = sorted({each["kind"] for each in left})
        found |= self.figures("compile", self.model.path, npu, NPUS[npu], "balanced")  # as without an option

    def compared(self, target, inputs, scratch):
        """"" where the results are the peer's, otherwise the first difference; None without a peer."""
        ended = self.ours("run", "--target", target, *given(inputs), "--output-dir", scratch)
        if ended.status != 0:
            return "does not run: " + ended.words
        if not self.known.get("peer"):
            return None
        for index, tensor in enumerate(self.known["outputs"]):
            name = f"out{index}.bin"
            found = difference((scratch / name).read_bytes(), (self.folder / name).read_bytes(), tensor["type"])
            if found:
                return f"output {index}: {found}"
        return ""

    def by_operator(self, inputs, scratch):
        """What by_operator.compare() finds of the portable C, whose outputs those in `scratch` have to be; None where they are not."""
        kept = self.folder / "operators"
        if self.known.get("by_operator", {}).get("compiler") != self.options.compiler:
            shutil.rmtree(kept, ignore_errors=True)
            kept.mkdir()
            ended = self.ours("run", "--target", "c", "--keep-dead-channels", *given(inputs), "--outputs", "all", "--output-dir", kept)
            values = by_operator.shown(ended.out) | {tensor["name"]: (file, tensor["type"]) for tensor, file in zip(self.known["inputs"], inputs)}
            found = by_operator.compare(self.machine, self.model.path, values, kept) if ended.status == 0 else None
            self.known["by_operator"] = {"compiler": self.options.compiler, "found": found}
        same = all((kept / f"out{index}.bin").read_bytes() == (scratch / f"out{index}.bin").read_bytes()
                   for index in range(len(self.known["outputs"])))
        return self.known["by_operator"]["found"] if same else None

    def measure(self):
        inputs = self.inputs()
        if inputs is None:
            return self.keep()
        self.ask_interpreters(inputs)
        for target in self.options.target:
            if npu_of(target):
                self.ask_vela(npu_of(target))
            self.ask_ours(target, inputs)
            self.keep()
            print(f"{self.model.name} {target}: {block.in_words(self.known['ours'][target])}", file=sys.stderr, flush=True)


def parse(given):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", type=pathlib.Path, help="a folder of .tflite files")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="for results and scratch")
    parser.add_argument("--peers", default=os.environ.get("INTARSIA_PEERS", ""), metavar="DIR[:DIR]", help="virtual environments")
    parser.add_argument("--intarsia", type=pathlib.Path, default=ROOT / "build/release/bin/intarsia", help="the command line")
    parser.add_argument("--measure", type=pathlib.Path, help="the program bench_ethos_u; default: beside the command line's build")
    parser.add_argument("--target", nargs="+", default=TARGETS, choices=TARGETS)
    parser.add_argument("--only", metavar="PATTERN", default="", help="networks whose names match this regular expression")
    parser.add_argument("--seconds", type=int, default=300, help="of processor time that each program may take; default: 300")
    parser.add_argument("--gigabytes", type=float, default=8, help="of memory that each program may take; default: 8")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE", help="write the block into this page")
    parser.add_argument("--page-only", action="store_true", help="measure nothing")
    options = parser.parse_args(given)
    options.work = options.work.resolve()
    options.intarsia = options.intarsia.resolve()
    if options.measure is None:
        found = sorted(options.intarsia.parents[1].rglob("bench_ethos_u"))
        options.measure = found[0] if found else None
    return options


def compile_modules(program):
    """As installers leave them: without bytecode Python would compile a program's modules at each start, which is not its own time."""
    if program is not None:
        subprocess.run([program.parent / "python", "-m", "compileall", "-q", program.parents[1]], capture_output=True, check=False)


def main(given):
    options = parse(given)
    # The small ones first: a run that is ended has most of them.
    paths = [path for path in sorted(options.networks.glob("*.tflite"), key=lambda path: path.stat().st_size)
             if re.search(options.only, path.stem)]
    if not paths:
        print(f"{options.networks}: no networks", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        machine = Machine(options.intarsia, [folder for folder in options.peers.split(":") if folder], ROOT, scratch)
        if not options.page_only:
            options.compiler = digest(options.intarsia)
            compile_modules(machine.vela)
        results = {}
        for path in paths:
            subject = Subject(options, machine, path)
            if not options.page_only:
                subject.measure()
            results[subject.model.name] = subject.known
    # Those that a run which was ended has not come to are left out, and counted.
    measured = {name: known for name, known in results.items() if known["ours"] or "refused" in known}
    left_out, results = len(results) - len(measured), dict(sorted(measured.items(), key=lambda each: each[0].lower()))
    lines = block.lines_of(results, TARGETS, npu_of, left_out)
    block.show(lines, options.update)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
