#!/usr/bin/env python3
"""Runs what Arm's Vela writes on our simulator: every model for every NPU, memory mode and choice between cycles and
size, against golden outputs. Prints what is exact, what differs and what is refused, and why.

  vela_streams.py --intarsia build/release/bin/intarsia --vela VENV FOLDER... [--npu TAG...] [--mode MODE...]
                  [--golden PYTHON] [--more OPTIONS] [--results FILE] [--list]

A FOLDER holds model.tflite, inputs (in<k>_<t>.bin of sample k and input t, or in<t>.bin) and outputs of the same
names, or folders of such. Where outputs are missing they are made by TFLite Micro's reference kernels, or LiteRT's
where those lack an operator, in PYTHON's environment (packages tflite-micro, ai-edge-litert), and kept beside the
model; where the two differ either counts. VENV is a virtual environment with ethos-u-vela; --recorded FOLDER takes
MODEL/NPU-MODE-OPTIMISE.tflite below it instead. vela_models.py writes folders of models for this. --results keeps
what is known in a file, a line of JSON each, and does not do it again: a sweep that was stopped goes on. --more
"--tensor-allocator Greedy" hands options on to Vela that change its streams.
"""
import argparse
import collections
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from against_vela import MODES, NPUS, VELA_MODE, VELA_SYSTEM

OPTIMISE = ["Performance", "Size"]
# Vela starts once and compiles each model in a child of its own, so that a crash ends that child only.
SERVER = """
import json, os, resource, signal, sys
from ethosu.vela.vela import main
for line in sys.stdin:
    arguments, log = json.loads(line)
    child = os.fork()
    if child == 0:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1), os.dup2(file, 2)
        signal.alarm(120)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        status = 1
        try:
            status = main(arguments) or 0
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 1
        except BaseException as error:
            print(type(error).__name__, error)
        sys.stdout.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
GOLDEN = """
import pathlib, sys
import numpy
folder, kernels = pathlib.Path(sys.argv[1]), sys.argv[2]
def run_micro(inputs):
    from tflite_micro import runtime
    net = runtime.Interpreter.from_file(str(folder / 'model.tflite'), arena_size=8 << 20)
    for t, data in enumerate(inputs):
        about = net.get_input_details(t)
        net.set_input(numpy.frombuffer(data, about['dtype']).reshape(about['shape']), t)
    net.invoke()
    return [net.get_output(t) for t in range(int(sys.argv[3]))]
def run_litert(inputs):
    from ai_edge_litert import interpreter
    kinds = interpreter.OpResolverType
    net = interpreter.Interpreter(str(folder / 'model.tflite'), experimental_op_resolver_type=
                                  kinds.BUILTIN_REF if kernels == 'litert' else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    net.allocate_tensors()
    for data, about in zip(inputs, net.get_input_details()):
        net.set_tensor(about['index'], numpy.frombuffer(data, about['dtype']).reshape(about['shape']))
    net.invoke()
    return [net.get_tensor(about['index']) for about in net.get_output_details()]
for sample in sorted({name.name[2:].split('_')[0] for name in folder.glob('in*_*.bin')}):
    names = sorted(folder.glob(f'in{sample}_*.bin'), key=lambda path: int(path.stem.split('_')[1]))
    outputs = (run_micro if kernels == 'micro' else run_litert)([path.read_bytes() for path in names])
    for t, output in enumerate(outputs):
        output.tofile(folder / f'{sys.argv[4]}{sample}_{t}.bin')
"""


class Vela:
    def __init__(self, folder, leave, more):
        self.config = next(folder.rglob("Arm/vela.ini"))
        self.more = (["--ignore-ops", leave] if leave else []) + more
        self.server = subprocess.Popen([folder / "bin/python", "-c", SERVER], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)

    def compile(self, model, npu, mode, optimise, folder):
        """The compiled file, and "" or why there is none."""
        folder.mkdir(parents=True, exist_ok=True)
        made, log = folder / f"{model.stem}_vela.tflite", folder / "vela.log"
        arguments = [model, "--accelerator-config", npu, "--config", self.config, "--system-config",
                     VELA_SYSTEM[npu[:9]], "--memory-mode", VELA_MODE[mode], "--optimise", optimise,
                     "--output-dir", folder, *self.more]
        print(json.dumps([list(map(str, arguments)), str(log)]), file=self.server.stdin, flush=True)
        status = int(self.server.stdout.readline())
        if status == 0 and made.exists():
            return made, ""
        words = log.read_text(errors="replace").strip().splitlines()
        error = next((line for line in words if "rror" in line), words[-1] if words else "")
        return None, f"Vela ends with {status}: {error.strip()}"


class Recorded:
    """What was compiled before."""

    def __init__(self, folder):
        self.folder = folder

    def compile(self, model, npu, mode, optimise, _):
        made = self.folder / model.parent.name / f"{npu}-{VELA_MODE[mode]}-{optimise}.tflite"
        return (made, "") if made.exists() else (None, "is not recorded")


class Samples:
    """Inputs and golden outputs of a folder."""

    def __init__(self, folder):
        names = sorted(path.name for path in folder.glob("in*.bin"))
        samples = sorted({match[1] for name in names if (match := re.fullmatch(r"in(\d+)_\d+\.bin", name))}, key=int)
        prefixes = [f"{sample}_" for sample in samples] or [""]
        about = json.loads((folder / "meta.json").read_text()) if (folder / "meta.json").exists() else {}
        self.invocations = about.get("invocations", 1)
        self.all = []
        for prefix in prefixes:
            pair = [sorted(folder.glob(f"{what}{prefix}*.bin"), key=lambda path: int(re.findall(r"\d+", path.name)[-1]))
                    for what in ("in", "out")]
            self.all.append([list(map(pathlib.Path, paths)) for paths in pair])


def values(data, bytes_each):
    return [int.from_bytes(data[i:i + bytes_each], "little", signed=True) for i in range(0, len(data), bytes_each)]


def difference(found, golden):
    """"" when they are the same."""
    if found == golden:
        return ""
    if len(found) != len(golden):
        return f"{len(found)} bytes for {len(golden)}"
    wrong = [i for i, (a, b) in enumerate(zip(found, golden)) if a != b]
    most = max(abs(a - b) for a, b in zip(values(found, 1), values(golden, 1)))
    return f"{len(wrong)} of {len(golden)} bytes, the first at {wrong[0]}, by up to {most} as int8"


def run(intarsia, made, npu, mode, samples, folder):
    """exact, differs or refused; and what is to be said."""
    for number, (inputs, outputs) in enumerate(samples.all):
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        command = [intarsia, "run", made, "--target", f"cortex-m55+{npu} -memory-mode={mode}", "--output-dir", out,
                   "--repeat", str(samples.invocations)]
        for path in inputs:
            command += ["--input", path]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            words = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
            return "refused", " / ".join(words[:2])
        for index, golden in enumerate(outputs):
            found = (out / f"out{index}.bin").read_bytes()
            differs = difference(found, golden.read_bytes())
            other = golden.with_name(golden.name.replace("out", "lite"))
            if differs and not (other.exists() and other.read_bytes() == found):
                return "differs", f"output {index} of sample {number}: {differs}"
    return "exact", ""


def reason(text):
    """Without names and numbers, so that reasons can be counted."""
    return re.sub(r"0x[0-9a-f]+|\d+", "#", re.sub(r"^.*?_vela\.tflite: ", "", text))[:150]


def models_in(folders):
    for folder in folders:
        yield from sorted(path.parent for path in folder.rglob("model.tflite"))


def make_goldens(python, model):
    """By TFLite Micro, and by LiteRT where that gives other numbers or TFLite Micro lacks an operator; "" or why there are
    none."""
    count = len(json.loads((model / "meta.json").read_text())["outputs"])

    def made_by(kernels, prefix):
        return subprocess.run([python, "-c", GOLDEN, model, kernels, str(count), prefix], capture_output=True, text=True,
                              check=False)

    if made_by("micro", "out").returncode == 0:
        made_by("litert", "lite")
        return ""
    done = made_by("litert", "out")
    if done.returncode < 0:  # its reference kernels end the process over some networks, where its others do not
        done = made_by("optimised", "out")
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]


class Results:
    """What is known of each compilation, and of each stream, so that the same stream is run once; kept in a file when
    there is one."""

    def __init__(self, path):
        self.path, self.rows, self.runs = path, {}, {}
        for line in path.read_text().splitlines() if path and path.exists() else []:
            key, digest, row = json.loads(line)
            self.rows[tuple(key)] = tuple(row)
            if digest:
                self.runs[(key[0], *row[1:3], digest)] = tuple(row[4:])

    def add(self, key, digest, row):
        self.rows[key] = row
        if self.path:
            with open(self.path, "a", encoding="utf-8") as text:
                text.write(json.dumps([key, digest, row]) + "\n")


def measure_stream(arguments, vela, results, samples, key):
    """The row of one compilation, and what its stream is known by."""
    name, npu, mode, optimise = key[:4]
    model = pathlib.Path(name)
    folder = arguments.work / model.parent.name / model.name / f"{npu}-{mode}-{optimise}"
    made, error = vela.compile(model / "model.tflite", npu, mode, optimise, folder)
    about = (model.name, npu, mode, optimise)
    if made is None:
        return "", (*about, "not made", error)
    bytes_made = made.read_bytes()
    if b"ethos-u" not in bytes_made:
        return "", (*about, "nothing on the NPU", "")
    digest = hashlib.sha256(bytes_made).hexdigest()
    run_key = (name, npu, mode, digest)
    if run_key not in results.runs:
        results.runs[run_key] = run(arguments.intarsia, made, npu, mode, samples, folder)
    return digest, (*about, *results.runs[run_key])


def measure(arguments, vela, model, results):
    samples = Samples(model)
    missing = not all(outputs for _, outputs in samples.all)
    if missing:
        error = make_goldens(arguments.golden, model) if arguments.golden else "no --golden"
        if error:
            return [(model.name, "", "", "", "no golden", error)]
        samples = Samples(model)
    rows = []
    for npu in arguments.npu:
        for mode in [mode for mode in MODES[npu[:9]] if not arguments.mode or mode in arguments.mode]:
            for optimise in arguments.optimise:
                key = (str(model), npu, mode, optimise, arguments.leave, arguments.more)
                if key not in results.rows:
                    results.add(key, *measure_stream(arguments, vela, results, samples, key))
                rows.append(results.rows[key])
    return rows


def run_all(arguments):
    vela = (Vela(arguments.vela, arguments.leave, arguments.more.split())
            if arguments.vela else Recorded(arguments.recorded))
    results, rows = Results(arguments.results), []
    for model in models_in(arguments.folders):
        if re.search(arguments.only, model.name):
            measured = measure(arguments, vela, model, results)
            rows += measured
            print_rows(measured if arguments.list else [])
    if arguments.vela:
        vela.server.stdin.close()
    return rows


def print_rows(rows):
    for name, npu, mode, optimise, result, why in rows:
        if result in ("differs", "refused", "no golden"):
            print(f"{name:32} {npu:13} {mode:14} {optimise:11} {result:8} {why}", flush=True)


def print_table(rows):
    groups = collections.defaultdict(list)
    for name, npu, mode, optimise, result, why in rows:
        if result in ("differs", "refused", "not made", "no golden"):
            groups[(result, name, reason(why))].append(f"{npu}-{mode}-{optimise}")
    for (result, name, why), places in sorted(groups.items()):
        print(f"{result:9} {name:32} {len(places):3} streams  {why}")
    totals = collections.Counter(row[4] for row in rows)
    print(", ".join(f"{count} {result}" for result, count in sorted(totals.items())) + f" of {len(rows)} compilations")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--intarsia", type=pathlib.Path, required=True)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--vela", type=pathlib.Path, metavar="VENV")
    source.add_argument("--recorded", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--golden", metavar="PYTHON", help="an interpreter that has tflite-micro")
    parser.add_argument("--npu", nargs="+", default=NPUS, choices=NPUS, metavar="NPU", help="of " + ", ".join(NPUS))
    parser.add_argument("--mode", nargs="+")
    parser.add_argument("--optimise", nargs="+", default=OPTIMISE)
    parser.add_argument("--leave", default="", metavar="OP,...", help="operators that Vela is to leave to the CPU (--ignore-ops)")
    parser.add_argument("--more", default="", metavar="OPTIONS", help="further options of Vela, as one word")
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE", help="keep what is known here, and go on from it")
    parser.add_argument("--only", default="", help="models whose name has this regular expression")
    parser.add_argument("--work", type=pathlib.Path, help="keep what is made here")
    parser.add_argument("--list", action="store_true", help="a line for every stream that is not exact")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        arguments.work = arguments.work or pathlib.Path(folder)
        print_table(run_all(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
