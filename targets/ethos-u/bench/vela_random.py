#!/usr/bin/env python3
"""Writes the random operators or networks of tests/differential as folders for vela_streams.py. Needs the packages of
tests/golden/requirements.txt.

  vela_random.py FOLDER [--cases N] [--seed N] [--networks] [--operator NAME...]
"""
import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/differential"), str(ROOT / "tests/golden")]

from all_operators import OPERATORS
from compare import case_of, inputs_of


def has_integers(model):
    """Vela leaves floats to the CPU."""
    graph = model.model.subgraphs[0]
    return all(graph.tensors[index].type != 0 for index in [*graph.inputs, *graph.outputs])


def write(folder, model, rng):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.tflite").write_bytes(model.bytes())
    for sample in range(2):
        for t, values in enumerate(inputs_of(model, rng)):
            values.tofile(folder / f"in{sample}_{t}.bin")
    outputs = len(model.model.subgraphs[0].outputs)
    (folder / "meta.json").write_text(json.dumps({"outputs": [f"output {t}" for t in range(outputs)]}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--networks", action="store_true")
    parser.add_argument("--operator", nargs="+", choices=sorted(OPERATORS), default=sorted(OPERATORS), metavar="NAME")
    arguments = parser.parse_args()
    written = 0
    for number in range(arguments.cases):
        name, model, rng = case_of(arguments.seed, number, arguments.operator, arguments.networks)
        if has_integers(model):
            write(arguments.folder / f"{number:05}_{name.replace(' ', '_').lower()}", model, rng)
            written += 1
    print(f"{written} of {arguments.cases} cases written: the others have inputs or outputs of floats")
    return 0


if __name__ == "__main__":
    sys.exit(main())
