"""Networks that no kernel was tuned for, any folder of .tflite files, on emulated cores beside TFLite Micro with CMSIS-NN: what
`bench/run --networks` measures. Both sides have the same memories, the same random input, and cycles counted by the same timings."""
import hashlib
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

from coverage.compared import difference

from . import tflite_operators, tflm_firmware
from .machine import ROOT, Failure
from .models import Model, seeded
from .tables import table

BEGIN, END = "<!-- bench/run --networks: begin -->", "<!-- bench/run --networks: end -->"
BESIDE_ARENA = 64 * 1024  # the stack, and what the interpreter has of its own
BESIDE_MODEL = 512 * 1024  # code, tables of ours
MOST_ARENA = 16 << 20
SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def bytes_of(size):
    return int(size[:-1]) * SIZES[size[-1]]


def give_room(copy, model_bytes):
    """Where the memory for constants of a board's copy is too small, its largest memory becomes one that is as fast. The description."""
    description = json.loads((copy / "board.json").read_text())
    memories, roles = {memory["name"]: memory for memory in description["memories"]}, description["roles"]
    constants = roles["constants"] if isinstance(roles["constants"], list) else [roles["constants"]]
    first = memories[constants[0]]
    if bytes_of(first["size"]) >= model_bytes + BESIDE_MODEL:
        return description
    largest = max(memories.values(), key=lambda memory: bytes_of(memory["size"]))
    largest.update(kind="flash", cycles_per_access=first.get("cycles_per_access", 1))
    for key in ("speed", "loaded"):
        largest.pop(key, None)
    roles["constants"] = [largest["name"]]
    roles["activations"] = [name for name in roles["activations"] if name != largest["name"]]
    if roles.get("streams") == largest["name"]:  # nothing is left for devices
        del roles["streams"]
        for key in ("shared_memory", "device_window", "device_window_size"):
            description["run"].pop(key, None)
    (copy / "board.json").write_text(json.dumps(description, indent=2))
    return description


def arenas(description):
    """(memory, bytes) that may hold the peer's tensors, in the order in which ours are placed. None is the memory of data."""
    roles, memories = description["roles"], {memory["name"]: memory for memory in description["memories"]}
    for name in roles["activations"]:
        yield None if name == roles["data"] else name, min(bytes_of(memories[name]["size"]), MOST_ARENA) - BESIDE_ARENA


def in_words(error):
    """What the firmware says of itself, or else the first line."""
    lines = [line.strip() for line in error.strip().splitlines() if line.strip()] or ["no words"]
    return next((line.removeprefix("intarsia: ") for line in lines if line.startswith("intarsia: ")), lines[0])


class Networks:
    def __init__(self, options, cores):
        self.intarsia, self.checkout, self.level, self.cache = options.intarsia, options.tflm, options.peer_levels[0], options.cache
        self.cores = cores
        schema = (self.checkout / "tensorflow/compiler/mlir/lite/schema/schema.fbs").read_text()
        listed = re.search(r"enum BuiltinOperator : int32 \{(.*?)\}", schema, re.S)[1]
        self.kinds = {int(number): name for name, number in re.findall(r"(\w+) = (\d+)", listed)}

    def run(self, *arguments):
        done = subprocess.run([str(self.intarsia), *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(in_words(done.stderr))
        return json.loads(done.stdout)

    def operators(self, path):
        """(kind, first result) in the order of the file."""
        return [(self.kinds.get(kind, str(kind)), result) for kind, result in tflite_operators.operators(path)]

    def peer_file(self, path, description):
        """Where the peer's figures are kept: they depend on the network, its build, the board and the timings of cores."""
        digest = hashlib.sha256(path.read_bytes())
        for file in [*sorted((ROOT / "boards/common/qemu_plugin").iterdir()), pathlib.Path(tflm_firmware.__file__),
                     pathlib.Path(tflm_firmware.__file__).with_name("tflm_model.cpp")]:
            digest.update(file.read_bytes())
        digest.update(json.dumps([description, self.level, tflm_firmware.revision_of(self.checkout)]).encode())
        return self.cache / "networks" / f"{path.stem}-{digest.hexdigest()[:16]}.json"

    def peer(self, path, ours, board, description, inputs, outputs, work):
        """The peer's run, with its tensors in the first memory that has room for them."""
        kept = self.peer_file(path, description)
        if kept.exists():
            return json.loads(kept.read_text())
        names = [f"{index} {kind}" for index, (kind, _) in enumerate(self.operators(path))]
        found = {}
        for number, (memory, arena) in enumerate(arenas(description)):
            place = work / f"peer{number}"
            try:
                package, copy = tflm_firmware.write_package(self.checkout, path, ours, board, self.level, place, self.cache, arena,
                                                            arena_memory=memory, operators=names)
                run = self.run("run", package, "--board", copy, *inputs, "--output-dir", place, "--count-cycles")
            except Failure as failure:
                found = {"error": str(failure)}
                continue
            found = {"cycles": run["cycles"][-1], "outputs": [(place / f"out{index}.bin").read_bytes().hex() for index in range(outputs)]}
            break
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found))
        return found

    def measure(self, path, core):
        """Cycles of ours and of the peer, whether all outputs are the same, and both by operator."""
        board, target = self.cores[core]
        with tempfile.TemporaryDirectory() as work:
            work = pathlib.Path(work)
            copy = tflm_firmware.board_copy(board, work)
            description = give_room(copy, path.stat().st_size)
            report = self.run("compile", path, "--target", target, "--board", copy, "-o", work / "package")
            inputs = []
            for index, tensor in enumerate(report["inputs"]):
                file = work / f"in{index}.bin"
                file.write_bytes(seeded(Model(path), index, tensor, 1))
                inputs += ["--input", file]
            ours = self.run("run", work / "package", "--board", copy, *inputs, "--output-dir", work, "--count-cycles")
            count = len(report["outputs"])
            peer = self.peer(path, work / "package", copy, description, inputs, count, work)
            if "error" in peer:
                raise Failure(f"TFLite Micro: {peer['error']}")
            agree = not any(difference((work / f"out{index}.bin").read_bytes(), bytes.fromhex(theirs), tensor["type"])
                            for index, (theirs, tensor) in enumerate(zip(peer["outputs"], report["outputs"])))
        return {"ours": ours["cycles"][-1]["nominal"], "peer": peer["cycles"]["nominal"], "agree": agree,
                "type": report["inputs"][0]["type"], "operators": self.beside_each_other(path, report, ours["cycles"][-1], peer["cycles"])}

    def beside_each_other(self, path, report, ours, peer):
        """(kind, result, cycles of ours, of the peer). What we compute as part of another operator has no cycles of ours, and what the
        file does not have has none of the peer: its kind is ours, in parentheses."""
        own = {}
        for part in ours["operators"]:
            own[part["name"]] = own.get(part["name"], 0) + part["nominal"]
        writers = {buffer["tensor"]: buffer["written_by"] for buffer in report["buffers"] if buffer["written_by"]}
        kinds = {operator["name"]: operator["kind"] for operator in report["operators"]}
        theirs = {part["name"]: part["nominal"] for part in peer["operators"]}
        rows = [(kind, result, own.pop(writers.get(result), 0), theirs.get(f"{index} {kind}", 0))
                for index, (kind, result) in enumerate(self.operators(path))]
        return rows + [(f"({kinds.get(name, 'between operators')})", name, cycles, 0) for name, cycles in own.items()]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def beside(theirs, ours):
    ratio = f" = {theirs / ours:.2f}" if ours and theirs else ""
    return f"{theirs / 1000:.0f} / {ours / 1000:.0f}{ratio}"


def network_table(results, cores):
    rows = []
    for name, found in results.items():
        known = list(found.values())
        agree = all(each["agree"] for each in known)
        rows.append([name, known[0]["type"], "as the peer's" if agree else "differ",
                     *(beside(found[core]["peer"], found[core]["ours"]) if core in found else None for core in cores)])
    return table(["network", "type", "results", *(f"{core}: TFLM / ours, thousands of cycles" for core in cores)], rows)


def mean_table(results, cores):
    rows = []
    for kind in dict.fromkeys(each["type"] for found in results.values() for each in found.values()):
        for core in cores:
            ratios = {name: found[core]["peer"] / found[core]["ours"] for name, found in results.items()
                      if core in found and found[core]["type"] == kind}
            if ratios:
                least = min(ratios, key=ratios.get)
                rows.append([kind, core, len(ratios), f"{geometric_mean(ratios.values()):.2f}", f"{ratios[least]:.2f} ({least})"])
    return table(["type", "core", "networks", "geometric mean of TFLM / ours", "least"], rows)


def operator_table(results, cores, kind_of_type):
    sums = {}
    for found in results.values():
        for core, each in found.items():
            for kind, _, ours, theirs in each["operators"]:
                if each["type"] == kind_of_type:
                    place = sums.setdefault(kind, {}).setdefault(core, [0, 0, 0])
                    for at, value in enumerate((theirs, ours, 1)):
                        place[at] += value
    rows = [[kind, max(place[2] for place in by_core.values()),
             *(beside(*by_core[core][:2]) if core in by_core else None for core in cores)]
            for kind, by_core in sorted(sums.items(), key=lambda item: -max(place[0] for place in item[1].values()))]
    return table([f"operators of {kind_of_type} networks", "how many", *(f"{core}: TFLM / ours, thousands of cycles" for core in cores)], rows)


def lines_of(results, left_out, cores):
    lines = [*mean_table(results, cores), "", *network_table(results, cores), ""]
    for kind in dict.fromkeys(each["type"] for found in results.values() for each in found.values()):
        lines += [*operator_table(results, cores, kind), ""]
    return lines + [f"Left out: {'; '.join(left_out) if left_out else 'none'}."]


def measure_all(options, cores):
    """The lines for a page; progress and what is left out go to standard error."""
    networks, results, left_out = Networks(options, cores), {}, {}
    paths = sorted((path for path in options.networks.glob("*.tflite") if re.search(options.only, path.stem)),
                   key=lambda path: path.stat().st_size)
    for path in paths:
        for core in options.cores:
            try:
                found = networks.measure(path.resolve(), core)
            except Failure as failure:
                left_out.setdefault(f"{path.stem} ({failure})", []).append(core)
                print(f"{path.stem} {core} is left out: {failure}", file=sys.stderr, flush=True)
                continue
            results.setdefault(path.stem, {})[core] = found
            print(f"{path.stem} {core}: {beside(found['peer'], found['ours'])}{'' if found['agree'] else ', results differ'}",
                  file=sys.stderr, flush=True)
    if options.details:
        options.details.write_text(json.dumps(results, indent=1))
    return lines_of(dict(sorted(results.items(), key=lambda item: item[0].lower())),
                    [f"{' and '.join(on)}: {what}" for what, on in left_out.items()], options.cores)
