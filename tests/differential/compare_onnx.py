"""Random ONNX operators, computed by Intarsia and by onnxruntime: floats to 4 parts in 100,000, and the same operators between
QuantizeLinear and DequantizeLinear to one step of the result.

    scripts/differential --onnx --cases 2000
    scripts/differential --onnx --cases 300 --operator Conv --operator Resize
    scripts/differential --onnx --seed 1 --only 123 --keep DIR

Exit status 1 when a result differs, 2 when nothing could be compared.
"""
import argparse
import collections
import pathlib
import sys

import intarsia
import numpy as np
import onnxruntime
from onnx_operators import OPERATORS, draw, quantised
from summary import print_summary


def by_onnxruntime(model, given, outputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(outputs, given)


def difference(ours, theirs, steps):
    for number, (a, b) in enumerate(zip(ours, theirs)):
        a, b = np.asarray(a), np.asarray(b)
        if a.size != b.size:
            return f"output {number} has {a.size} elements, not {b.size}"
        a, b = a.reshape(-1), b.reshape(-1)
        if b.dtype != np.float32:
            wrong = a != b
        else:
            bound = steps[number] * 1.001 if steps else 4e-5 * np.maximum(1, np.abs(b))
            wrong = ~((np.abs(a - b) <= bound) | (a == b) | (np.isnan(a) & np.isnan(b)))
        if wrong.any():
            at = int(np.argmax(wrong))
            return f"output {number}, element {at}: {a[at]}, not {b[at]} ({int(wrong.sum())} of {a.size})"
    return None


def one_case(options, number):
    """(operator, what came of it, in words)"""
    rng = np.random.default_rng([options.seed, number])
    name = options.operator[int(rng.integers(len(options.operator)))]
    d, outputs = draw(rng, name)
    model, steps = d.graph(outputs), None
    try:
        theirs = by_onnxruntime(model, d.given, outputs)
        if number % 2:
            made = quantised(d, outputs, theirs, bool(rng.integers(2)), bool(rng.integers(2)))
            if made is not None:
                model, steps = made
                name += " of bytes"
                theirs = by_onnxruntime(model, d.given, [f"{output}_r" for output in outputs])
    except Exception as error:  # onnxruntime has errors of many kinds
        return name, "no peer", str(error).splitlines()[0][:160]
    if options.keep:
        folder = pathlib.Path(options.keep)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        for i, values in enumerate(d.given.values()):
            (folder / f"in{i}.bin").write_bytes(np.ascontiguousarray(values).tobytes())
        for i, values in enumerate(theirs):
            (folder / f"out{i}.bin").write_bytes(np.ascontiguousarray(values).tobytes())
    try:
        content = model.SerializeToString()
        model_of_ours = intarsia.Simulator(content, target=options.target) if options.target else intarsia.Model(content)
    except intarsia.Error as error:
        return name, "refused", str(error).splitlines()[0]
    try:
        ours = model_of_ours(*d.given.values())
    except intarsia.Error as error:
        return name, "fails", str(error).splitlines()[0]
    found = difference(ours if isinstance(ours, (list, tuple)) else [ours], theirs, steps)
    return (name, "differs", found) if found else (name, "equal", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="one case")
    parser.add_argument("--operator", action="append", choices=sorted(OPERATORS), help="only these; all without it")
    parser.add_argument("--target", default="", help="execute the model as compiled for this target, in place of the reference")
    parser.add_argument("--keep", default="", help="with --only: a folder for the model, its inputs and onnxruntime's outputs")
    parser.add_argument("--reasons", type=int, default=20, help="how many reasons of refusals are printed")
    options = parser.parse_args()
    if options.keep and options.only is None:
        parser.error("--keep is for one case: --only N")
    options.operator = sorted(options.operator or OPERATORS)
    rows, texts, wrong = collections.defaultdict(collections.Counter), collections.Counter(), 0
    for number in range(options.cases) if options.only is None else [options.only]:
        name, result, text = one_case(options, number)
        rows[name][result] += 1
        if result in ("differs", "fails"):
            wrong += 1
            print(f"case {number} {name}: {text}", flush=True)
        elif text:
            texts[f"{name}: {result}: {text}"] += 1
    results = print_summary(rows, texts, options.reasons)
    print(f"seed {options.seed}: {wrong} differ or fail")
    return 1 if wrong else 0 if "equal" in results else 2


if __name__ == "__main__":
    sys.exit(main())
