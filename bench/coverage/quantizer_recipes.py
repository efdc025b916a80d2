#!/usr/bin/env python3
"""What becomes of each recipe of AI Edge Quantizer: networks of floats of make_networks.py, quantised by every recipe that it brings along,
compiled for a Cortex-M55 and compared with LiteRT. Prints a table in Markdown.

    quantizer_recipes.py DIR [--only PATTERN] [--update docs/coverage.md]

DIR is what make_networks.py wrote. Needs ai-edge-quantizer, onnx and onnxruntime.
"""
import contextlib
import io
import pathlib
import re
import sys
import tempfile
from importlib.metadata import version

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_quantizer import quantizer, recipe

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import deployed_networks as deployed  # noqa: E402
from arguments import arguments, without_warnings, words_of  # noqa: E402
from block import show  # noqa: E402
from peers.tables import table  # noqa: E402

BEGIN, END = "<!-- quantizer_recipes.py: begin -->", "<!-- quantizer_recipes.py: end -->"
NETWORKS = ["detection_head_f32", "MobileNetV2_f32", "temporal_convolutions_f32", "transformer_f32"]
# Not those for one language model, nor those that need a calibration, which litert_torch_coverage.py has.
RECIPES = [name for name in dir(recipe) if name.startswith(("dynamic_", "weight_only_"))]
INT2, INT4 = schema.TensorType.INT2, schema.TensorType.INT4


def quantised(path, name, folder):
    made = folder / f"{path.stem}_{name}.tflite"
    quantizer.Quantizer(str(path), getattr(recipe, name)()).quantize().export_model(str(made))
    return made


def with_four_bits(path):
    """The same values in int4: LiteRT's convolutions read those of two bits wrongly."""
    whole = path.read_bytes()
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(whole, 0))
    for buffer in model.buffers:
        if buffer.data is None and buffer.offset > 1:  # behind the tables
            buffer.data, buffer.offset, buffer.size = np.frombuffer(whole[buffer.offset:buffer.offset + buffer.size], np.uint8), 0, 0
    for tensor in (each for graph in model.subgraphs for each in graph.tensors if each.type == INT2):
        data, count = model.buffers[tensor.buffer].data, int(np.prod(tensor.shape))
        numbers = np.stack([(np.frombuffer(bytes(data), np.uint8) >> shift) & 3 for shift in (0, 2, 4, 6)], 1).ravel()[:count].astype(np.int8)
        numbers = np.append((numbers - ((numbers >> 1) << 2)) & 15, [0] * (count % 2)).astype(np.uint8)
        model.buffers[tensor.buffer].data, tensor.type = numbers[0::2] | (numbers[1::2] << 4), INT4
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    wide = path.with_name(f"{path.stem}_int4.tflite")
    wide.write_bytes(bytes(builder.Output()))
    return wide


def cell(path, name, folder, options):
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            made = quantised(path, name, folder)
    except Exception as problem:  # of the quantiser
        return f"AI Edge Quantizer: {words_of(problem)[:80]}"
    subject = deployed.Converted(options, made, folder)
    try:
        report, _ = subject.compiled(made, "cortex-m55")
    except ValueError as problem:
        return f"refused: {str(problem).partition(';')[0]}"
    # LiteRT's reference kernels do not read scales of blocks.
    result = subject.beside_litert(report, peers_file=with_four_bits(made) if "_wi2" in name else None, fast=bool(re.search(r"b\d+_", name)))
    return f"{made.stat().st_size / 1e3:.0f} kB: {result}"


def main(given):
    parser = arguments(__doc__, chosen="recipes whose names")
    parser.add_argument("networks", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args(given)
    without_warnings()
    missing = [name for name in NETWORKS if not (options.networks / f"{name}.tflite").is_file()]
    chosen = [name for name in RECIPES if re.search(options.only, name)]
    if missing or not chosen:
        print(f"there is no {missing[0]}.tflite in {options.networks}" if missing else f"no recipe is named like '{options.only}'", file=sys.stderr)
        return 2
    rows = []
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            rows.append([f"`{name}`", *(cell(options.networks / f"{network}.tflite", name, pathlib.Path(folder), options) for network in NETWORKS)])
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    lines = [f"{len(rows)} recipes, ai-edge-quantizer {version('ai-edge-quantizer')}, ai-edge-litert {version('ai-edge-litert')}.", "",
             *table(["recipe", *NETWORKS], rows)]
    show(lines, options.update, BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
