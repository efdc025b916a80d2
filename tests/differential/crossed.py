"""Random networks under random targets, boards, options and forms of delivery, beside the loops in C that take none of them.

    scripts/differential --crossed --cases 500            # seed 1; prints a row for each form
    scripts/differential --crossed --seed 1 --only 123 --keep DIR    # one case again, its model and inputs into DIR

What a core's kernels, an NPU's simulator, a plan in little memory, a package or an offloaded file give has to be what the loops give: integers
bit for bit, floats to 4 parts in 100,000. Ethos-N rounds as its own stack does, so that there only the run has to succeed. Whether the loops
are right is the business of the other comparisons. Exit status 1 when a result differs or a command ends by a signal.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from all_operators import draw
from chances import Chances
from compare import inputs_of
from networks import draw_network
from on_boards import PROGRAM, Pack
from operators import Draw
from outcome import difference, keep_case
from summary import print_summary
from tflite_writer import KINDS
from wide_networks import draw_wide_network

LOOPS = "c -kernels=portable"
CORES = {"cortex-m0": "mps2-an385", "cortex-m3": "mps2-an385", "cortex-m4": "mps2-an386", "cortex-m7": "mps2-an500",
         "cortex-m33": "mps2-an505", "cortex-m55": "mps3-an547"}
HOSTS = ("c", LOOPS, "llvm", "c+example-npu", "cortex-m4+example-npu")
ETHOS_U = ("ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256", "ethos-u65-256", "ethos-u65-512")
SEVERAL = ("cortex-m55+ethos-u55-64+example-npu", "a: c -mcpu=cortex-m33; b: c -mcpu=cortex-m3",
           "a: c -mcpu=cortex-m0; b: c -mcpu=cortex-m55 + ethos-u55-128")
ETHOS_N = ("ethos-n78-1tops-4ple", "ethos-n78-4tops-4ple", "ethos-n78-8tops-2ple", "cortex-m55+ethos-u55-128+ethos-n78-4tops-2ple",
           "a: c; b: c + ethosn -variant=4tops-4ple")
STATEFUL = ("UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN", "SVDF")
FORMS = ("run", "folder", "single file", "native", "executor", "tflite")
# What a command says, with exit status 1, of what is no fault of whoever asked.
FAULTS = ("please report", "the stream checker", "returned an error status")
STEPS = 3  # invocations on one state


class Case(Chances):
    """A model, its inputs, and everything that somebody might ask of it."""

    def __init__(self, rng, form):
        super().__init__(rng)
        self.steps = 1
        kind = self.pick("network", "network", "network", "network", "wide network", "wide network", "wide network", "state", "several")
        self.kind = kind
        if kind == "several":
            pack = Pack()
            for _ in range(3):
                part = self.network()
                pack.add(part, inputs_of(part, rng), [])
            self.model, self.inputs = pack.model, pack.inputs
        elif kind == "state":
            self.steps = STEPS
            self.model = draw(rng, self.pick(*STATEFUL))
            self.inputs = [np.concatenate([np.roll(value.reshape(-1), step) for step in range(STEPS)])
                           for value in inputs_of(self.model, rng)]
        else:
            self.model = draw_network(rng) if kind == "network" else draw_wide_network(rng)
            self.inputs = inputs_of(self.model, rng)
        self.target, self.board = self.where()
        self.form = self.pick(*self.forms())
        while form and self.form != form:
            self.target, self.board = self.where()
            self.form = self.pick(*self.forms())
        self.options = self.drawn_options()
        self.every_operator = self.steps == 1 and self.chance(15)
        self.pins = self.whole(1, 3) if self.chance(30) else 0

    def network(self):
        return draw_network(self.rng) if self.chance(50) else draw_wide_network(self.rng)

    def where(self):
        kind = self.pick("core", "core", "core", "host", "ethos-u", "ethos-u", "ethos-u", "several", "ethos-n", "two cores")
        if kind == "core":
            return self.pick(*CORES.items())
        if kind == "ethos-u":
            return "cortex-m55+" + self.pick(*ETHOS_U), "mps3-an547" if self.chance(25) else ""
        if kind == "two cores":
            return "a: c -mcpu=cortex-m33; b: c -mcpu=cortex-m33", "mps2-an521"
        return self.pick(*{"host": HOSTS, "several": SEVERAL, "ethos-n": ETHOS_N}[kind]), ""

    def bytes_of_memory(self):
        return str(int(10 ** self.rng.uniform(2.6, 4.5)))

    def drawn_options(self):
        # What a form says that it cannot keep is not asked of it.
        impossible = {"tflite": ("--ram-budget", "--weights-file"), "executor": ("--ram-budget", "--weights-file"),
                      "single file": ("--weights-file",)}
        options = []
        for percent, name, *values in ((30, "--policy", "cost"), (45, "--optimise", "size", "speed", "balanced"),
                                       (25, "--ram-budget", self.bytes_of_memory()), (15, "--no-in-place"),
                                       (20, "--keep-dead-channels"), (10, "--io", "int8"),
                                       (15, "--weights-file", "always", "never")):
            if self.chance(percent) and name not in impossible.get(self.form, ()):
                options += [name, self.pick(*values)] if values else [name]
        if "ethos" in self.target and self.chance(20):
            options += ["--sram-limit", self.bytes_of_memory()]
        return options

    def forms(self):
        forms = ["run", "run", "run", "folder"]
        if self.board:
            forms.append("executor")
        else:
            forms.append("native")
        if "ethos" not in self.target and ":" not in self.target and self.target != "llvm":
            forms.append("single file")
        if self.target.startswith("cortex-m55+ethos-u") and self.target.count("+") == 1 and not self.board:
            forms.append("tflite")
        return forms


class Refused(Exception):
    """What a command says when it does not do as it was asked, or how it ended."""


class Folder:
    """Where one case lies, and the commands that work on it."""

    def __init__(self, case, path):
        self.case, self.path, self.model, self.pins = case, path, path / "model.tflite", None
        keep_case(path, "model.tflite", case.model.bytes(), **{"in": case.inputs})
        self.inputs = [word for i in range(len(case.inputs)) for word in ("--input", path / f"in{i}.bin")]
        if case.steps > 1:
            self.inputs += ["--repeat", case.steps, "--keep-all"]

    def call(self, *words):
        done = subprocess.run([str(word) for word in (PROGRAM, *words)], capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise Refused(done.returncode, done.stderr.strip().replace("\n", " | "))
        return done.stdout

    def run(self, what, *words, every_operator=False):
        outputs = ["--outputs", "all"] if every_operator else []
        self.call("run", what, *words, *self.inputs, *outputs, "--output-dir", self.path / "out")
        return self.results("out")

    def results(self, folder):
        graph = self.case.model.model.subgraphs[0]
        return [np.fromfile(self.path / folder / f"out{i}.bin", KINDS[graph.tensors[id].type]) for i, id in enumerate(graph.outputs)]

    def expected(self):
        outputs = ["--outputs", "all"] if self.case.every_operator else []
        self.call("run", self.model, "--target", LOOPS, *self.inputs, *outputs, "--output-dir", self.path / "expected")
        return self.results("expected")

    def pinned(self, target):
        """Operators that are told where to run, at random."""
        case, words = self.case, []
        rows = json.loads(self.call("explain", self.model, *target, "--json"))["operators"]
        for row in case.rng.permutation(rows)[:case.pins]:
            words += ["--pin", f"{row['name']}={case.pick(*(offer['member'] for offer in row['offers'] if offer['can']))}"]
        return words

    def delivered(self):
        case = self.case
        target = ["--target", case.target, *(["--board", case.board] if case.board else [])]
        if self.pins is None:
            self.pins = self.pinned(target) if case.pins else []
        asked = [*target, *case.options, *self.pins]
        if case.form == "tflite":
            self.call("compile", self.model, *asked, "--format", "tflite", "-o", self.path / "npu.tflite")
            return self.run(self.path / "npu.tflite", *target)
        if case.form == "executor":
            self.call("firmware", self.model, *asked, "-o", self.path / "firmware.elf")
            self.call("compile", self.model, *asked, "--format", "executor", "-o", self.path / "model.intarsia")
            return self.run(self.path / "model.intarsia", "--firmware", self.path / "firmware.elf")
        if case.form in ("folder", "single file"):
            form = ["--single-file"] if case.form == "single file" else []
            self.call("compile", self.model, *asked, *form, "-o", self.path / "package")
            return self.run(self.path / "package")
        native = ["--native"] if case.form == "native" else []
        return self.run(self.model, *asked, *native, every_operator=case.every_operator)

    def operators_that_differ(self):
        """Of those whose results were asked for by name; of floats, only whether they were written."""
        floats = any(tensor.type == 0 for tensor in self.case.model.model.subgraphs[0].tensors)
        for file in sorted((self.path / "expected").iterdir()):
            ours = self.path / "out" / file.name
            if not ours.exists():
                yield f"{file.name} is not written"
            elif not floats and ours.read_bytes() != file.read_bytes():
                yield f"{file.name} differs"


def outcome(case, path):
    folder = Folder(case, path)
    try:
        expected = folder.expected()
    except Refused as refused:
        return "no model", refused.args[1]
    try:
        results = folder.delivered()
    except Refused as refused:
        status, words = refused.args
        if status != 1 or any(word in words for word in FAULTS):
            return "fails", f"exit status {status}: {words}"
        # A promise: this much is enough.
        least = [int(found) for found in re.findall(r"; --ram-budget (\d+)(?: \||$)", words)]
        if not least:
            return "refused", words
        case.options[case.options.index("--ram-budget") + 1] = str(max(least))
        try:
            results = folder.delivered()
        except Refused as again:
            return "fails", f"exit status {again.args[0]}: {again.args[1]}; before, {words}"
    if case.target in ETHOS_N:
        return "ran", ""
    found = difference(results, expected)
    if not found and case.every_operator and case.form in ("run", "native"):
        found = next(folder.operators_that_differ(), None)
    return ("differs", found) if found else ("equals", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", type=int, help="one case")
    parser.add_argument("--form", choices=FORMS, help="only this one")
    parser.add_argument("--keep", default="", help="with --only: a folder for the model and its inputs")
    parser.add_argument("--larger", type=int, default=4, help="extents are up to this many times as large")
    parser.add_argument("--reasons", type=int, default=20, help="how many reasons of refusals are printed")
    options = parser.parse_args()
    if options.keep and options.only is None:
        parser.error("--keep is for one case: --only N")
    rows, texts, wrong = collections.defaultdict(collections.Counter), collections.Counter(), 0
    numbers = [options.only] if options.only is not None else range(options.first, options.first + options.cases)
    for number in numbers:
        rng = np.random.default_rng([options.seed, number])
        Draw.larger = int(rng.integers(1, options.larger + 1))
        case = Case(rng, options.form)
        if options.keep:
            keep_case(options.keep, "model.tflite", case.model.bytes(), **{"in": case.inputs})
        with tempfile.TemporaryDirectory() as folder:
            result, words = outcome(case, pathlib.Path(folder))
        rows[case.form][result] += 1
        place = " ".join([f"--target '{case.target}'", *([f"--board {case.board}"] if case.board else []), *case.options])
        if result in ("differs", "fails"):
            wrong += 1
            print(f"case {number}, a {case.kind} as {case.form} {place}{', with pins' * bool(case.pins)}: {result}: {words}", flush=True)
        elif result == "refused":
            texts[words] += 1
        if options.only is not None:
            print(f"a {case.kind} as {case.form} {place}: {result}")
    print_summary(rows, texts, options.reasons)
    print(f"seed {options.seed}, {len(numbers)} cases: {wrong} differ or fail")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
