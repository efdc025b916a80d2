#!/usr/bin/env python3
"""How near the results of ONNX networks in QDQ form are to onnxruntime's: the networks of onnx_networks.py (or files), quantised
by onnxruntime's own quantiser, on random inputs. Prints a table in Markdown.

    onnx_agreement.py [--samples N] [--target TARGET] [--update docs/onnx.md] [MODEL.onnx ...]

The networks' weights are random, so that their scores are nearer to each other than those of a trained network: agreement is a
harder question of them. Needs onnx and onnxruntime. Results of the quantised networks of both are compared: `largest` and `mean`
error in parts of the standard deviation of onnxruntime's scores, beside what quantisation itself changed (of its float network).
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]
from block import show  # noqa: E402
from onnx_networks import NETWORKS, make  # noqa: E402
from peers.tables import table  # noqa: E402

BEGIN, END = "<!-- onnx_agreement.py: begin -->", "<!-- onnx_agreement.py: end -->"
# Types of activations and weights, and whether weights have a scale per channel: what the quantiser is asked for.
FORMS = {"u8, per tensor": (QuantType.QUInt8, QuantType.QInt8, False), "i8, per channel": (QuantType.QInt8, QuantType.QInt8, True)}


class Calibration(CalibrationDataReader):
    """`feeds`: for each sample the inputs by their names."""

    def __init__(self, feeds):
        self.rows = iter(feeds)

    def get_next(self):
        return next(self.rows, None)


def quietly():
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    # As the file says it: each operator between its own conversions.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def session(path):
    return onnxruntime.InferenceSession(str(path), quietly(), providers=["CPUExecutionProvider"])


def scores(path, samples):
    asked = session(path)
    name = asked.get_inputs()[0].name
    return np.stack([asked.run(None, {name: sample})[0].reshape(-1) for sample in samples])


def quantised(path, made, samples, form):
    """`samples`: of the only input, or for each all inputs by their names."""
    activations, weights, per_channel = FORMS[form]
    prepared = made.with_suffix(".prepared.onnx")
    quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
    model = onnx.load(prepared)
    if any(each.domain == "" and each.version < 13 for each in model.opset_import):  # has no scale per channel
        onnx.save(onnx.version_converter.convert_version(model, 13), prepared)
    feeds = [sample if isinstance(sample, dict) else {model.graph.input[0].name: sample} for sample in samples]
    quantize_static(str(prepared), str(made), Calibration(feeds), quant_format=QuantFormat.QDQ, per_channel=per_channel,
                    activation_type=activations, weight_type=weights)


def ours(options, path, samples, folder):
    file = folder / "in.bin"
    file.write_bytes(b"".join(sample.tobytes() for sample in samples))
    done = subprocess.run([options.intarsia, "run", path, "--target", options.target, "--batch", "--input", file, "--output-dir", folder],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["failed"])[0]
    return np.frombuffer((folder / "out0.bin").read_bytes(), np.float32).reshape(len(samples), -1), ""


def row(options, name, path, form, folder):
    shape = [each.dim_value or 1 for each in onnx.load(path).graph.input[0].type.tensor_type.shape.dim]
    rng = np.random.default_rng(7)
    samples = [rng.normal(size=shape).astype(np.float32) for _ in range(options.samples)]
    made = folder / "quantised.onnx"
    quantised(path, made, [rng.normal(size=shape).astype(np.float32) for _ in range(64)], form)
    theirs, floats = scores(made, samples), scores(path, samples)
    mine, problem = ours(options, made, samples, folder)
    if mine is None:
        return [name, form, None, None, None, problem, None], None
    spread = theirs.std()
    same = mine.argmax(axis=1) == theirs.argmax(axis=1)
    error, quantisation = np.abs(mine - theirs) / spread, np.abs(theirs - floats) / spread
    # Where onnxruntime's two best scores are equal after quantisation, both answers are right.
    tied = np.take_along_axis(theirs, mine.argmax(axis=1)[:, None], axis=1)[:, 0] == theirs.max(axis=1)
    return [name, form, f"{same.mean():.1%}", f"{(same | tied).mean():.1%}", f"{error.mean():.4f}", f"{error.max():.3f}",
            f"{quantisation.mean():.4f}"], (same.mean(), (same | tied).mean(), error.mean(), quantisation.mean())


def main(given):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=pathlib.Path, help="float networks; default: those of onnx_networks.py")
    parser.add_argument("--samples", type=int, default=200, help="default: 200")
    parser.add_argument("--target", default="c")
    parser.add_argument("--intarsia", type=pathlib.Path, default=ROOT / "build/release/bin/intarsia")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE", help="write the table into this page")
    options = parser.parse_args(given)
    rows, figures = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        paths = {path.stem: path for path in options.models}
        for name in () if options.models else NETWORKS:
            paths[name] = folder / f"{name}.onnx"
            onnx.save(make(name), paths[name])
        for name, path in paths.items():
            for form in FORMS:
                made, found = row(options, name, path, form, folder)
                rows.append(made)
                print(made, file=sys.stderr, flush=True)
                if found:
                    figures.append(found)
    if not figures:
        print("no network could be compared", file=sys.stderr)
        return 1
    mean = np.mean(figures, axis=0)
    rows.append(["mean", "", f"{mean[0]:.1%}", f"{mean[1]:.1%}", f"{mean[2]:.4f}", None, f"{mean[3]:.4f}"])
    lines = table(["network", "activations, weights", "same best class", "or as good a one", "mean error", "largest error",
                   "error of quantisation"], rows)
    show(lines, options.update, BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
