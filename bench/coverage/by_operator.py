"""A network operator by operator: each on the values that it has in ours, by TFLite Micro or, where that refuses it, by LiteRT.
For networks that TFLite Micro refuses as a whole: LiteRT's kernels are not the same in every bit, and a network hands on what differs; or
LiteRT's reference kernels are not there for all of it either."""
import pathlib
import re

from compared import difference

SHOWN = re.compile(r"^(\S+): '(.*)' (\w+)\[", re.M)  # a line of `intarsia run --outputs all`


def shown(text):
    """Tensor -> (its file, its type)."""
    return {name: (pathlib.Path(file), kind) for file, name, kind in SHOWN.findall(text)}


def compare(machine, model, values, folder):
    """How many operators each peer confirms, and the first words about each that differs. `values`: of shown(), with the inputs."""
    found = {"TFLM": 0, "LiteRT": 0, "no peer": 0, "differ": []}
    cut = machine.probe("tflite-micro", "cut", [{"model": str(model), "out": str(folder)}])
    if cut is None or "result" not in cut[0]:
        return None
    jobs = {}
    for number, operator in enumerate(cut[0]["result"]):
        if not all(name in values for name in operator["inputs"] + operator["outputs"]):
            found["no peer"] += 1
            continue
        out = folder / f"op{number}"
        out.mkdir()
        jobs[number] = {"model": str(folder / f"op{number}.tflite"), "inputs": [str(values[name][0]) for name in operator["inputs"]],
                        "samples": 1, "out": str(out)}
    # What LiteRT has no reference kernel for, as TILE, it may have another for.
    for peer, distribution, probe, more in (("TFLM", "tflite-micro", "tflm", {}), ("LiteRT", "ai-edge-litert", "litert", {"reference": True}),
                                            ("LiteRT", "ai-edge-litert", "litert", {})):
        answers = machine.probe(distribution, probe, [job | more for job in jobs.values()]) or []
        for number, answer in zip(list(jobs), answers):
            if "error" in answer:
                continue
            del jobs[number]
            for index, name in enumerate(cut[0]["result"][number]["outputs"]):
                file, kind = values[name]
                words = difference(file.read_bytes(), (folder / f"op{number}/out{index}.bin").read_bytes(), kind)
                if words:
                    found["differ"].append(f"{name}: {words} ({peer})")
                    break
            else:
                found[peer] += 1
    found["no peer"] += len(jobs)
    return found
