"""Random ONNX operators, computed by Intarsia and by onnxruntime: floats to 4 parts in 100,000, and the same operators between
QuantizeLinear and DequantizeLinear to one step of the result.

    scripts/differential --onnx --cases 2000
    scripts/differential --onnx --cases 300 --operator Conv --operator Resize
    scripts/differential --onnx --cases 500 --networks --target cortex-m55+ethos-u55-128
    scripts/differential --onnx --seed 1 --only 123 --keep DIR

Networks are compared twice: as floats to one part in 1,000 of the largest result, and as onnxruntime's quantiser leaves them, where in the
mean ours is to be no further from the floats than onnxruntime is, but for half of that and a step and a half of 8 bits.

Exit status 1 when a result differs, 2 when nothing could be compared.
"""
import argparse
import collections
import sys

import numpy as np
import onnxruntime
import onnx_further_operators
from onnx_operators import OPERATORS, draw, quantised
from outcome import difference, keep_case, run_ours
from summary import print_summary


MODULES = (onnx_further_operators,)
# Not uint16, whose zero points the integers of a model have no place for: they become int16 of twice the scale (docs/onnx.md).
KINDS = (np.int8, np.uint8, np.int16)
STEPS_OF_16_BITS = 2


def by_onnxruntime(content, given, outputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options).run(outputs, given)


def one_case(options, number):
    """(operator, what came of it, in words)"""
    rng = np.random.default_rng([options.seed, number])
    name = options.operator[int(rng.integers(len(options.operator)))]
    d, outputs = draw(rng, name)
    model, steps = d.graph(outputs), None
    try:
        theirs = by_onnxruntime(model.SerializeToString(), d.given, outputs)
        if number % 2:
            kind = KINDS[int(rng.integers(len(KINDS)))]
            made = quantised(d, outputs, theirs, kind, bool(rng.integers(2)))
            if made is not None:
                model, steps = made
                wide = np.dtype(kind).itemsize == 2
                name += " of 16 bits" if wide else " of bytes"
                steps = [step * (STEPS_OF_16_BITS if wide else 1) for step in steps]
                theirs = by_onnxruntime(model.SerializeToString(), d.given, [f"{output}_r" for output in outputs])
    except Exception as error:  # onnxruntime has errors of many kinds
        return name, "no peer", str(error).splitlines()[0][:160]
    if options.keep:
        keep_case(options.keep, "model.onnx", model.SerializeToString(), **{"in": d.given.values(), "out": theirs})
    if steps is None and name.startswith(("QLinear", "QGemm")):
        steps = [1] * len(theirs)
        theirs = [np.asarray(value, np.float32) for value in theirs]
    result, ours = run_ours(model.SerializeToString(), d.given.values(), options.target)
    if result:
        return name, result, ours
    found = difference(ours, theirs, steps)
    return (name, "differs", found) if found else (name, "equal", "")


def mean_distance(a, b):
    return float(np.abs(np.asarray(a).reshape(-1) - np.asarray(b).reshape(-1)).mean())


def one_network(options, number):
    """(what it is, what came of it, in words)"""
    from onnx_networks import draw_network, quantised
    rng = np.random.default_rng([options.seed, number])
    model, samples, parts = draw_network(rng, 9 * options.larger)
    content, given, outputs = model.SerializeToString(), {"x": samples[0]}, [model.graph.output[0].name]
    floats = by_onnxruntime(content, given, outputs)
    largest = max(float(np.abs(floats[0]).max()), 1e-6)
    result, ours = run_ours(content, given.values(), options.target)
    if result:
        return "network", result, ours
    if not np.abs(np.asarray(ours[0]).reshape(-1) - floats[0].reshape(-1)).max() <= largest / 1000:
        return "network", "differs", f"floats, {', '.join(parts)}"
    try:
        content, form = quantised(model, samples, rng)
    except Exception as error:  # onnxruntime's quantiser has errors of many kinds
        return "network", "no peer", str(error).splitlines()[0][:160]
    theirs = by_onnxruntime(content, given, outputs)
    if options.keep:
        keep_case(options.keep, "model.onnx", content, **{"in": given.values(), "out": theirs})
    name = f"network of {form}"
    result, ours = run_ours(content, given.values(), options.target)
    if result:
        return name, result, ours
    step = 1.5 * largest / 255
    ours_off, theirs_off = mean_distance(ours[0], floats[0]), mean_distance(theirs[0], floats[0])
    if not (ours_off <= 1.5 * theirs_off + step and mean_distance(ours[0], theirs[0]) <= 2 * theirs_off + step):
        return name, "differs", f"{ours_off / largest:.4f} of the largest result from the floats, onnxruntime {theirs_off / largest:.4f}; {', '.join(parts)}"
    return name, "equal", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="one case")
    parser.add_argument("--operator", action="append", choices=sorted(OPERATORS), help="only these; all without it")
    parser.add_argument("--networks", action="store_true", help="networks in place of single operators")
    parser.add_argument("--larger", type=int, default=1, help="networks have up to this many times as many parts")
    parser.add_argument("--target", default="", help="execute the model as compiled for this target, in place of the reference")
    parser.add_argument("--keep", default="", help="with --only: a folder for the model, its inputs and onnxruntime's outputs")
    parser.add_argument("--reasons", type=int, default=20, help="how many reasons of refusals are printed")
    options = parser.parse_args()
    if options.keep and options.only is None:
        parser.error("--keep is for one case: --only N")
    options.operator = sorted(options.operator or OPERATORS)
    rows, texts, wrong = collections.defaultdict(collections.Counter), collections.Counter(), 0
    for number in range(options.cases) if options.only is None else [options.only]:
        name, result, text = (one_network if options.networks else one_case)(options, number)
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
