#!/usr/bin/env python3
"""What becomes of PyTorch's networks: those of torchvision and timm that are named below, with random weights, exported to ONNX as
PyTorch does it. Floats are compared with PyTorch's results; then onnxruntime's quantiser makes int8 of them (QDQ, a scale per channel),
which is compiled for a CPU with an NPU and compared with onnxruntime. Prints a table in Markdown.

    pytorch_coverage.py [--only PATTERN] [--exporter new|traced] [--target TARGET] [--update docs/coverage.md]

Needs torch, torchvision, timm, onnxscript, onnx and onnxruntime.
"""
import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile

import numpy as np
import timm
import torch
import torchvision

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from arguments import arguments, without_warnings, words_of  # noqa: E402
from block import show  # noqa: E402
from limited import run  # noqa: E402
from onnx_agreement import quantised, scores  # noqa: E402
from peers.tables import table  # noqa: E402

BEGIN, END = "<!-- pytorch_coverage.py: begin -->", "<!-- pytorch_coverage.py: end -->"
HEADINGS = ["network", "image", "operators", "floats: error beside PyTorch", "int8: off the NPU", "mean error beside onnxruntime",
            "its error beside PyTorch", "ours beside PyTorch", "compile time, s"]
# One of each family that fits a microcontroller's flash or nearly so, and images as small as the network takes.
TORCHVISION = {"squeezenet1_1": 64, "mobilenet_v2": 64, "mobilenet_v3_small": 64, "shufflenet_v2_x0_5": 64, "mnasnet0_5": 64,
               "efficientnet_b0": 64, "regnet_y_400mf": 64, "resnet18": 64, "googlenet": 64, "lraspp_mobilenet_v3_large": 64}
TIMM = {"mobilevit_xxs": 64, "mobilevitv2_050": 64, "ghostnet_100": 64, "efficientformerv2_s0": 224, "edgenext_xx_small": 64,
        "fastvit_t8": 64, "repvit_m0_9": 64, "levit_128s": 224, "mobileone_s0": 64, "tinynet_e": 64, "lcnet_050": 64, "mixnet_s": 64,
        "rexnet_100": 64, "dla46_c": 64, "ese_vovnet19b_dw": 64, "gernet_s": 64, "skresnet18": 64, "hrnet_w18_small": 64,
        "xcit_nano_12_p16_224": 64, "pit_ti_224": 64, "crossvit_tiny_240": 240, "coat_tiny": 64, "convit_tiny": 64, "starnet_s1": 64,
        "efficientvit_b0": 64, "efficientvit_m0": 64, "inception_next_atto": 64, "convnext_atto": 64, "mobilenetv4_conv_small": 64,
        "vit_tiny_patch16_224": 64, "gmlp_ti16_224": 64, "repvgg_a0": 64, "regnetz_005": 64, "hgnetv2_b0": 64, "pvt_v2_b0": 64}
# Transformers whose number of tokens is part of their weights.
WITH_IMAGE_SIZE = re.compile("xcit|pit_|coat_|convit|^vit_|gmlp")


class Network(torch.nn.Module):
    """One tensor in, one tensor out."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, image):
        found = self.module(image)
        return found["out"] if isinstance(found, dict) else found


def network(name):
    torch.manual_seed(0)
    if name in TORCHVISION:
        family = torchvision.models.segmentation if hasattr(torchvision.models.segmentation, name) else torchvision.models
        more = {"weights_backbone": None} if family is not torchvision.models else {"init_weights": False} if name == "googlenet" else {}
        module = getattr(family, name)(weights=None, **more)
    else:
        more = {"img_size": TIMM[name]} if WITH_IMAGE_SIZE.search(name) else {}
        module = timm.create_model(name, pretrained=False, exportable=True, **more)
    for each in module.modules():  # statistics as training leaves them, not 0 and 1
        if getattr(each, "running_var", None) is not None:
            each.running_mean.uniform_(-0.2, 0.2), each.running_var.uniform_(0.5, 1.5)
        if isinstance(each, torch.nn.Linear) and not each.weight.any():  # a head that begins with zeros
            torch.nn.init.normal_(each.weight, std=0.05)
    return Network(module).eval()


def export(module, image, path, exporter):
    more = {"dynamo": True, "external_data": False} if exporter == "new" else {"dynamo": False, "opset_version": 17}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        torch.onnx.export(module, (image,), str(path), **more)


class Subject:
    def __init__(self, options, name, folder):
        self.options, self.name, self.folder = options, name, folder
        self.size = (TORCHVISION | TIMM)[name]
        self.samples = [torch.randn(1, 3, self.size, self.size, generator=torch.Generator().manual_seed(seed)) for seed in range(4)]

    def ours(self, *arguments):
        return run([self.options.intarsia, *arguments], 600, 8)

    def computed(self, path, *target):
        file = self.folder / "in.bin"
        file.write_bytes(b"".join(sample.numpy().tobytes() for sample in self.samples))
        ended = self.ours("run", path, *target, "--batch", "--input", file, "--output-dir", self.folder)
        if ended.status != 0:
            raise ValueError(ended.words)
        return np.frombuffer((self.folder / "out0.bin").read_bytes(), np.float32).reshape(len(self.samples), -1)

    def row(self):
        module, path = network(self.name), self.folder / "float.onnx"
        with torch.no_grad():
            expected = torch.stack([module(sample).reshape(-1) for sample in self.samples]).numpy()
        export(module, self.samples[0], path, self.options.exporter)
        error = np.abs(self.computed(path) - expected).max() / np.abs(expected).max()
        floats = [self.name, self.size, None, f"{error:.1e}"]
        try:
            quantised = self.quantised(path)
        except Exception as problem:  # of several libraries, with exceptions of their own
            return [*floats, f"onnxruntime's quantiser: {words_of(problem)}", *[None] * 4]
        ended = self.ours("compile", quantised, "--target", self.options.target, "-o", self.folder / "package", "--json")
        if ended.status != 0:
            return [*floats, ended.words, *[None] * 4]
        operators = json.loads(ended.out)["operators"]
        accelerators = re.findall(r"ethos-[un]", self.options.target)
        # The conversions at its edges are what float inputs and outputs are.
        off = sorted(each["kind"] for each in operators if each["member"] not in accelerators and each["kind"] not in ("quantize", "dequantize"))
        theirs = scores(quantised, [sample.numpy() for sample in self.samples])
        mine, spread = self.computed(quantised, "--target", self.options.target), theirs.std()
        return [self.name, self.size, len(operators), floats[-1], f"{len(off)} ({', '.join(sorted(set(off)))})" if off else "0",
                *(f"{np.abs(one - other).mean() / spread:.4f}" for one, other in ((mine, theirs), (theirs, expected), (mine, expected))),
                f"{ended.cpu_seconds:.1f}"]

    def quantised(self, path):
        made = self.folder / "int8.onnx"
        samples = [torch.randn(1, 3, self.size, self.size, generator=torch.Generator().manual_seed(100 + seed)).numpy() for seed in range(8)]
        quantised(path, made, samples, "i8, per channel")
        return made


def main(given):
    parser = arguments(__doc__)
    parser.add_argument("--exporter", choices=["new", "traced"], default="new", help="torch.onnx.export with dynamo=True or False")
    parser.add_argument("--target", default="cortex-m55+ethos-u55-256")
    options = parser.parse_args(given)
    without_warnings()
    torch.set_num_threads(1)
    rows = []
    for name in TORCHVISION | TIMM:
        if not re.search(options.only, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                rows.append(Subject(options, name, pathlib.Path(folder)).row())
            except Exception as problem:  # of the exporter, of the quantiser, or ours: the page says it
                rows.append([name, None, None, words_of(problem).replace(folder + "/", ""), *[None] * 5])
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    if not rows:
        print(f"no network is named like '{options.only}'", file=sys.stderr)
        return 2
    versions = f"torch {torch.__version__.partition('+')[0]}, torchvision {torchvision.__version__.partition('+')[0]}, timm {timm.__version__}"
    lines = [f"{len(rows)} networks, {versions}; `{options.target}`.", "", *table(HEADINGS, rows)]
    show(lines, options.update, BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
