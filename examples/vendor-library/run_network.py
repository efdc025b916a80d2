#!/usr/bin/env python3
"""Runs a network that was exported for layer-sdk, in place of the vendor's runtime: as ONNX, by onnxruntime.

    run_network.py network.json --input in0.bin ... --output-dir out

Inputs and outputs are single-precision numbers, in the order of the file. Needs onnx and onnxruntime.
"""
import argparse
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

LIMITS = {"relu": (0.0, None), "relu6": (0.0, 6.0), "relu_n1_to_1": (-1.0, 1.0)}


class Network:
    """Images have their channels last in the file and first in ONNX: every layer of a window is between two transpositions."""

    def __init__(self, description):
        self.description = description
        self.nodes, self.constants = [], []

    def add(self, kind, inputs, output=None, **attributes):
        output = output or f"inner{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def constant(self, values):
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    @staticmethod
    def weights(of):
        return np.frombuffer(bytes.fromhex(of["data"]), dtype="<f4").reshape(of["shape"])

    def window(self, layer, kind, operands, **attributes):
        first = self.add("Transpose", [layer["inputs"][0]], perm=[0, 3, 1, 2])
        result = self.add(kind, [first, *operands], strides=layer["strides"], pads=layer["padding"], **attributes)
        return self.add("Transpose", [result], perm=[0, 2, 3, 1])

    def result_of(self, layer):
        kind, inputs = layer["type"], layer["inputs"]
        bias = [self.constant(self.weights(layer["bias"]))] if "bias" in layer else []
        if kind == "conv2d":
            weights = self.weights(layer["weights"]).transpose(0, 3, 1, 2)
            return self.window(layer, "Conv", [self.constant(weights), *bias], dilations=layer["dilations"],
                               kernel_shape=list(weights.shape[2:]))
        if kind == "max_pool2d":
            return self.window(layer, "MaxPool", [], kernel_shape=layer["window"])
        if kind == "average_pool2d":
            return self.window(layer, "AveragePool", [], kernel_shape=layer["window"])
        if kind == "fully_connected":
            weights = self.weights(layer["weights"])
            rows = self.add("Reshape", [inputs[0], self.constant(np.array([-1, weights.shape[1]]))])
            result = self.add("Gemm", [rows, self.constant(weights), *bias], transB=1)
            return self.add("Reshape", [result, self.constant(np.array(layer["shape"]))])
        if kind == "reshape":
            return self.add("Reshape", [inputs[0], self.constant(np.array(layer["shape"]))])
        if kind == "softmax":
            return self.add("Softmax", inputs, axis=-1)
        if kind in ("add", "relu"):
            return self.add(kind.capitalize(), inputs)
        raise SystemExit(f"layer-sdk has no layer '{kind}'")

    def model(self):
        for layer in self.description["layers"]:
            result = self.result_of(layer)
            if layer.get("activation", "none") != "none":
                low, high = (self.constant(np.float32(limit)) if limit is not None else "" for limit in LIMITS[layer["activation"]])
                result = self.add("Clip", [result, low, high])
            self.add("Identity", [result], layer["output"])
        values = {side: [helper.make_tensor_value_info(tensor["name"], TensorProto.FLOAT, tensor["shape"])
                         for tensor in self.description[side]] for side in ("inputs", "outputs")}
        graph = helper.make_graph(self.nodes, "network", values["inputs"], values["outputs"], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=pathlib.Path)
    parser.add_argument("--input", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--output-dir", type=pathlib.Path, required=True)
    options = parser.parse_args()
    description = json.loads(options.network.read_text(encoding="utf-8"))
    if (description["format"], description["version"]) != ("layer-sdk", 1):
        raise SystemExit(f"{options.network} is no network of layer-sdk")
    session = onnxruntime.InferenceSession(Network(description).model().SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {tensor["name"]: np.fromfile(path, "<f4").reshape(tensor["shape"])
             for tensor, path in zip(description["inputs"], options.input, strict=True)}
    options.output_dir.mkdir(parents=True, exist_ok=True)
    for index, values in enumerate(session.run([tensor["name"] for tensor in description["outputs"]], feeds)):
        values.astype("<f4").tofile(options.output_dir / f"out{index}.bin")


if __name__ == "__main__":
    main()
