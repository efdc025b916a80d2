#!/usr/bin/env python3
"""What becomes of ONNX files of several makers' quantisers: small networks of PyTorch with random weights, quantised by each recipe, compiled for
a Cortex-M55 and an Ethos-U55 and held against onnxruntime computing the same file. Prints a table in Markdown.

    onnx_quantisers.py [--only PATTERN] [--samples N] [--update docs/onnx.md]

Needs torch, onnx, onnxscript and onnxruntime; recipes whose packages are not there (torchao and executorch, nvidia-modelopt, nncf, amd-quark) are left
out, which a line says. A cell has the operators that stay with the CPU and all there are, and the mean difference of the results in parts of
onnxruntime's standard deviation.
"""
import contextlib
import copy
import importlib.util
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version

import numpy as np
import onnx
import onnx.version_converter
import torch
from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from torch import nn
from torch.nn import functional

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import onnx_agreement as agreement  # noqa: E402
from arguments import arguments, without_warnings, words_of  # noqa: E402
from block import show  # noqa: E402
from peers.tables import table  # noqa: E402

BEGIN, END = "<!-- onnx_quantisers.py: begin -->", "<!-- onnx_quantisers.py: end -->"
TARGET = "cortex-m55+ethos-u55-128"


def convolution(channels, outputs, kernel=3, **more):
    return nn.Sequential(nn.Conv2d(channels, outputs, kernel, padding=kernel // 2, bias=False, **more), nn.BatchNorm2d(outputs), nn.ReLU())


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.first = convolution(3, 16, stride=2), convolution(16, 16)
        self.second = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16))
        self.scores = nn.Linear(16, 10)

    def forward(self, x):
        x = self.stem(x)
        x = functional.max_pool2d(functional.relu(x + self.second(self.first(x))), 2)
        return self.scores(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))


class Separable(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(convolution(1, 8, stride=2), convolution(8, 8, groups=8), convolution(8, 16, 1),
                                    convolution(16, 16, groups=16, stride=2), convolution(16, 32, 1))
        self.scores = nn.Linear(32, 4)

    def forward(self, x):
        return self.scores(self.layers(x).mean([2, 3]))


class Segmentation(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1, stride=2)
        self.up, self.last = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv2d(16, 1, 1)

    def forward(self, x):
        fine = functional.relu(self.first(x))
        coarse = functional.avg_pool2d(functional.relu(self.second(fine)), 3, 1, 1)
        return torch.sigmoid(self.last(torch.cat([fine, self.up(coarse)], 1)))


class Temporal(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv1d(8, 16, 3, padding=2, dilation=2), nn.Conv1d(16, 16, 3, padding=4, dilation=4)
        self.scores = nn.Linear(16, 5)

    def forward(self, x):
        x = functional.silu(self.first(x))
        return self.scores((functional.hardswish(self.second(x)) + x).mean(-1))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.parts, self.mixed = nn.Linear(12, 16), nn.Linear(16, 48), nn.Linear(16, 16)
        self.norm, self.wide, self.narrow, self.scores = nn.LayerNorm(16), nn.Linear(16, 32), nn.Linear(32, 16), nn.Linear(16, 3)

    def forward(self, x):
        x = self.embed(x)
        query, key, value = self.parts(x).split(16, -1)
        x = self.norm(x + self.mixed(torch.softmax(query @ key.transpose(-1, -2) * 0.25, -1) @ value))
        return self.scores((x + self.narrow(functional.gelu(self.wide(x)))).mean(1))


NETWORKS = {"residual": (Residual, (1, 3, 32, 32)), "separable": (Separable, (1, 1, 32, 32)), "segmentation": (Segmentation, (1, 1, 16, 16)),
            "temporal": (Temporal, (1, 8, 32)), "attention": (Attention, (1, 10, 12))}


def network(name):
    """With statistics of a few random batches, and an input of its shape."""
    torch.manual_seed(1)
    kind, shape = NETWORKS[name]
    made = kind().train()
    with torch.no_grad():
        for _ in range(5):
            made(torch.randn(8, *shape[1:]))
    return made.eval(), torch.randn(*shape)


def samples(x, count=12):
    generator = torch.Generator().manual_seed(2)
    return [torch.randn(x.shape, generator=generator) for _ in range(count)]


def exported(name, folder):
    made, x = network(name)
    path = folder / "float.onnx"
    torch.onnx.export(made, (x,), str(path), dynamo=False, opset_version=17)
    return path, onnx.load(path).graph.input[0].name, x


def onnxruntime_recipe(**options):
    def quantise(name, folder):
        path, given, x = exported(name, folder)
        prepared = folder / "prepared.onnx"
        quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
        if not {options.get("activation_type"), options.get("weight_type")} <= {None, QuantType.QInt8, QuantType.QUInt8}:
            onnx.save(onnx.version_converter.convert_version(onnx.load(prepared), 21), prepared)  # has types of 4 and 16 bits
        feeds = agreement.Calibration([{given: sample.numpy()} for sample in samples(x)])
        quantize_static(str(prepared), str(folder / "made.onnx"), feeds, **options)
    return quantise


def pt2e_recipe(per_channel):
    def quantise(name, folder):
        from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
        made, x = network(name)
        quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=per_channel))
        prepared = prepare_pt2e(torch.export.export(made, (x,)).module(), quantizer)
        for sample in samples(x):
            prepared(sample)
        torch.onnx.export(convert_pt2e(prepared), (x,), str(folder / "made.onnx"), dynamo=True, external_data=False)
    return quantise


def modelopt(name, folder):
    import modelopt.torch.quantization as quantization
    made, x = network(name)
    made = quantization.quantize(made, copy.deepcopy(quantization.INT8_DEFAULT_CFG), lambda each: [each(sample) for sample in samples(x)])
    torch.onnx.export(made, (x,), str(folder / "made.onnx"), dynamo=False, opset_version=18)


def nncf(name, folder):
    import nncf as tool
    path, given, x = exported(name, folder)
    onnx.save(tool.quantize(onnx.load(path), tool.Dataset([{given: sample.numpy()} for sample in samples(x)])), folder / "made.onnx")


def quark_recipe(configuration):
    def quantise(name, folder):
        from quark.onnx import ModelQuantizer
        from quark.onnx.quantization.config import Config, get_default_config
        path, given, x = exported(name, folder)
        feeds = agreement.Calibration([{given: sample.numpy()} for sample in samples(x)])
        ModelQuantizer(Config(global_quant_config=get_default_config(configuration))).quantize_model(str(path), str(folder / "made.onnx"), feeds)
    return quantise


I8, U8, I16, U16, I4 = QuantType.QInt8, QuantType.QUInt8, QuantType.QInt16, QuantType.QUInt16, QuantType.QInt4
SYMMETRIC = {"ActivationSymmetric": True}
# The package that a recipe needs beside torch and onnxruntime, by the distribution that has it, and how it quantises.
RECIPES = {
    "onnxruntime: u8, weights i8": (None, onnxruntime_recipe(activation_type=U8, weight_type=I8)),
    "onnxruntime: the same per channel": (None, onnxruntime_recipe(activation_type=U8, weight_type=I8, per_channel=True)),
    "onnxruntime: i8 around 0": (None, onnxruntime_recipe(activation_type=I8, weight_type=I8, extra_options=SYMMETRIC)),
    "onnxruntime: u8, QOperator": (None, onnxruntime_recipe(activation_type=U8, weight_type=I8, quant_format=QuantFormat.QOperator)),
    "onnxruntime: u8, weights i4": (None, onnxruntime_recipe(activation_type=U8, weight_type=I4)),
    "onnxruntime: i16": (None, onnxruntime_recipe(activation_type=I16, weight_type=I8)),
    "onnxruntime: i16 around 0": (None, onnxruntime_recipe(activation_type=I16, weight_type=I8, extra_options=SYMMETRIC)),
    "onnxruntime: u16, weights i8": (None, onnxruntime_recipe(activation_type=U16, weight_type=I8)),
    "PT2E, XNNPACK's quantiser": ("executorch", pt2e_recipe(False)),
    "PT2E, XNNPACK's, per channel": ("executorch", pt2e_recipe(True)),
    "ModelOpt: INT8_DEFAULT_CFG": ("nvidia-modelopt", modelopt),
    "NNCF": ("nncf", nncf),
    "Quark: A8W8": ("amd-quark", quark_recipe("A8W8")),
    "Quark: U8S8_AAWS": ("amd-quark", quark_recipe("U8S8_AAWS")),
    "Quark: A16W8": ("amd-quark", quark_recipe("A16W8")),
    "Quark: XINT8": ("amd-quark", quark_recipe("XINT8")),
}
PLACES = {"executorch": "executorch", "nvidia-modelopt": "modelopt", "nncf": "nncf", "amd-quark": "quark"}  # what Python calls them


def off_the_npu(options, path):
    """How many operators stay with the CPU, and how many there are."""
    done = subprocess.run([options.intarsia, "explain", path, "--target", TARGET, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError((done.stderr.strip().splitlines() or ["failed"])[0])
    operators = json.loads(done.stdout)["operators"]
    return sum(each["member"] != "ethos-u" for each in operators), len(operators)


def cell(options, quantise, name, folder):
    try:
        # Quark writes a report into the current folder.
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            quantise(name, folder)
    except Exception as problem:  # of the quantiser
        return f"not quantised: {words_of(problem)[:60]}"
    made = folder / "made.onnx"
    try:
        off, all_operators = off_the_npu(options, made)
    except ValueError as problem:
        return f"refused: {str(problem).partition(';')[0]}"
    shape = [each.dim_value or 1 for each in onnx.load(made).graph.input[0].type.tensor_type.shape.dim]
    rng = np.random.default_rng(7)
    given = [rng.normal(size=shape).astype(np.float32) for _ in range(options.samples)]
    theirs = agreement.scores(made, given)
    ours, problem = agreement.ours(options, made, given, folder)
    if ours is None:
        return f"fails: {problem}"
    return f"{off} of {all_operators}, {(np.abs(ours - theirs) / theirs.std()).mean():.4f}"


def main(given):
    parser = arguments(__doc__, chosen="recipes whose names")
    parser.add_argument("--samples", type=int, default=50, help="default: 50")
    options = parser.parse_args(given)
    options.target = "c"  # whose results the simulated NPU's equal
    without_warnings()
    chosen = {name: recipe for name, recipe in RECIPES.items() if re.search(options.only, name)}
    absent = {package for package, _ in chosen.values() if package and importlib.util.find_spec(PLACES[package]) is None}
    rows = []
    for name, (package, quantise) in chosen.items():
        if package in absent:
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows.append([name, *(cell(options, quantise, network_name, pathlib.Path(folder)) for network_name in NETWORKS)])
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    if not rows:
        print(f"no recipe that can run is named like '{options.only}'", file=sys.stderr)
        return 2
    versions = ["torch", "onnxruntime", *dict.fromkeys(package for package, _ in chosen.values() if package and package not in absent)]
    lines = [f"{', '.join(f'{each} {version(each)}' for each in versions)}.", "", *table(["quantiser", *NETWORKS], rows)]
    if absent:
        lines += ["", f"Left out, their packages are not there: {', '.join(sorted(absent))}."]
    show(lines, options.update, BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
