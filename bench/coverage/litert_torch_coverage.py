#!/usr/bin/env python3
"""What becomes of PyTorch's networks on Google's way to microcontrollers: those of pytorch_coverage.py that are named below, converted by
LiteRT-Torch, and quantised by AI Edge Quantizer to int8 and to int16 activations with int8 weights. Floats are compiled for a Cortex-M55,
integers for a CPU with an NPU, and all of them are compared with LiteRT's reference kernels. Prints a table in Markdown.

    litert_torch_coverage.py [--only PATTERN] [--target TARGET] [--update docs/coverage.md]

Needs litert-torch, torchvision, timm, onnx and onnxruntime.
"""
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
from importlib.metadata import version

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import litert_torch
import numpy as np
import torch
from ai_edge_quantizer import quantizer, recipe

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import deployed_networks as deployed  # noqa: E402
from arguments import arguments, without_warnings, words_of  # noqa: E402
from block import show  # noqa: E402
from peers.tables import table  # noqa: E402
from pytorch_coverage import TIMM, TORCHVISION, network  # noqa: E402

BEGIN, END = "<!-- litert_torch_coverage.py: begin -->", "<!-- litert_torch_coverage.py: end -->"
HEADINGS = ["network", "type", "operators", "off the NPU", "result", "RAM, kB", "compile time, s"]
NAMES = ["mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x0_5", "squeezenet1_1", "lraspp_mobilenet_v3_large", "mobilenetv4_conv_small",
         "mobileone_s0", "repvit_m0_9", "fastvit_t8", "starnet_s1", "ghostnet_100", "lcnet_050", "convnext_atto", "inception_next_atto",
         "edgenext_xx_small", "efficientvit_b0", "mobilevit_xxs", "levit_128s", "efficientformerv2_s0", "vit_tiny_patch16_224", "gmlp_ti16_224"]
RECIPES = {"i8": recipe.static_wi8_ai8, "i16": recipe.static_wi8_ai16}


class Converted(deployed.Converted):
    def row(self, target):
        try:
            report, seconds = self.compiled(self.path, target)
        except ValueError as problem:
            return [None, None, f"refused: {str(problem).partition(';')[0]}", None, None]
        off = [each["kind"] for each in report["operators"]
               if "+" in target and not each["member"].startswith("ethos-") and each["kind"] not in ("quantize", "dequantize")]
        figures = [len(report["operators"]), f"{len(off)} ({', '.join(sorted(set(off)))})" if off else "0" if "+" in target else None]
        result = self.beside_litert(report, "--target", target)
        return [*figures, result, f"{sum(pool['peak'] for pool in report['pools']) / 1e3:.1f}", f"{seconds:.1f}"]


def converted(name, folder):
    size, path = (TORCHVISION | TIMM)[name], folder / f"{name}.tflite"
    module = litert_torch.to_channel_last_io(network(name), args=[0])
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        litert_torch.convert(module, (torch.randn(1, size, size, 3),)).export(str(path))
    return path


def quantised(path, kind, folder):
    made = folder / f"{path.stem}_{kind}.tflite"
    work = quantizer.Quantizer(str(path), RECIPES[kind]())
    inputs = deployed.LiteRt(path, deployed.Deployed("", "")).interpreter.get_signature_runner().get_input_details()
    generator = np.random.default_rng(2)
    samples = [{name: generator.standard_normal(about["shape"]).astype(np.float32) for name, about in inputs.items()} for _ in range(4)]
    work.quantize(work.calibrate({"serving_default": samples})).export_model(str(made))
    return made


def rows_of(name, options):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        try:
            path = converted(name, folder)
        except Exception as problem:  # of the exporter
            return [[name, "f32", None, None, f"LiteRT-Torch: {words_of(problem)[:160]}", None, None]]
        rows = [[name, "f32", *Converted(options, path, folder).row("cortex-m55")]]
        for kind in RECIPES:
            try:
                made = quantised(path, kind, folder)
            except Exception as problem:  # of the quantiser
                rows.append([name, kind, None, None, f"AI Edge Quantizer: {words_of(problem)[:160]}", None, None])
            else:
                rows.append([name, kind, *Converted(options, made, folder).row(options.target)])
    return rows


def main(given):
    parser = arguments(__doc__)
    parser.add_argument("--target", default="cortex-m55+ethos-u55-256", help="of integers; default: cortex-m55+ethos-u55-256")
    options = parser.parse_args(given)
    without_warnings()
    torch.set_num_threads(1)
    rows = []
    for name in NAMES:
        if re.search(options.only, name):
            rows += rows_of(name, options)
            for row in rows[-3:]:
                print(*row, sep=" | ", file=sys.stderr, flush=True)
    if not rows:
        print(f"no network is named like '{options.only}'", file=sys.stderr)
        return 2
    versions = ", ".join(f"{each} {version(each)}" for each in ("litert-torch", "ai-edge-quantizer", "ai-edge-litert", "timm", "torchvision"))
    lines = [f"{len({row[0] for row in rows})} networks, {versions}; integers for `{options.target}`.", "", *table(HEADINGS, rows)]
    show(lines, options.update, BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
