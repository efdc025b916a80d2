#!/usr/bin/env python3
"""Makes the cases of this folder: models of one or a few operators, and what TFLite Micro's reference
kernels compute for them. Needs the packages of ../requirements.txt.

    python3 make_cases.py            # writes every case beside this file
    python3 make_cases.py --check    # makes them again elsewhere: are the bytes the same?
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tflite_writer import KINDS, TYPE_NAMES, fresh, random_values, run_script, runtime  # noqa: E402

import exact_scale_cases  # noqa: E402
import layer_cases  # noqa: E402
import one_operator_cases  # noqa: E402
import signal_cases  # noqa: E402
import state_cases  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CASES = {}
for module in (exact_scale_cases, layer_cases, one_operator_cases, signal_cases, state_cases):
    CASES.update(module.CASES)


def make_case(folder, name):
    model = CASES[name]()
    folder = fresh(folder / name)
    content = model.bytes()
    (folder / "model.tflite").write_bytes(content)
    rng = np.random.default_rng(sum(map(ord, name)))
    main_graph = model.model.subgraphs[0]
    invocations = getattr(model, "invocations", 1)
    fixed = getattr(model, "values", None)
    interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 18)
    sequences = [[] for _ in main_graph.inputs]
    for _ in range(invocations):
        for i, index in enumerate(main_graph.inputs):
            value = fixed[i] if fixed else random_values(rng, main_graph.tensors[index])
            sequences[i].append(value.tobytes())
            interpreter.set_input(value, i)
        interpreter.invoke()
    meta = {"invocations": invocations, "inputs": [], "outputs": []}
    for i, (parts, index) in enumerate(zip(sequences, main_graph.inputs)):
        (folder / f"in{i}.bin").write_bytes(b"".join(parts))
        meta["inputs"].append({"file": f"in{i}.bin", "type": TYPE_NAMES[main_graph.tensors[index].type]})
    for i, index in enumerate(main_graph.outputs):
        values = interpreter.get_output(i)
        (folder / f"out{i}.bin").write_bytes(values.tobytes())
        tensor = main_graph.tensors[index]
        meta["outputs"].append({"file": f"out{i}.bin", "type": TYPE_NAMES[tensor.type]})
        if KINDS[tensor.type] in (np.int8, np.int16):
            info = np.iinfo(KINDS[tensor.type])
            saturated = np.mean((values == info.max) | (values == info.min))
            if name not in SATURATE and values.size > 4 and saturated > 0.4:
                raise SystemExit(f"{name}: {saturated:.0%} of output {i} are at an end of the range")
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")


# A function that saturates, or a clamp at the end of the type's range.
SATURATE = {"softmax_s8", "softmax_s16", "softmax_s8_to_s16", "softmax_f32", "logistic_s8", "tanh_s8", "relu_s8", "relu6_s8"}


def make_all(folder):
    for name in CASES:
        make_case(folder, name)
    print(f"{len(CASES)} cases")


if __name__ == "__main__":
    run_script(make_all, HERE, sys.argv[1:])
