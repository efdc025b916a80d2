#!/usr/bin/env python3
"""Makes the small ONNX networks beside this script and what onnxruntime computes with them.

    python3 make_models.py FOLDER        # needs: onnx, onnxruntime, numpy

Weights and inputs are random with a fixed seed. Each case is a folder: model.onnx, in0.bin, out0.bin (raw
little-endian values). Scales of the quantised networks come from the float network's own results.
"""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(20)


class Network:
    """Builds a network of floats, and the same one between QuantizeLinear and DequantizeLinear."""

    def __init__(self, shape, activation_type=np.int8, per_channel=True):
        self.nodes, self.constants, self.steps = [], [], []
        self.shape = shape
        self.activation_type, self.per_channel = activation_type, per_channel

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, kind, inputs, output, weights=(), **attributes):
        """`weights`: pairs of arrays and the axis of their scales (None: a bias)."""
        self.steps.append((kind, list(inputs), output, list(weights), attributes))
        return output

    def model(self, nodes, output, name):
        graph = helper.make_graph(
            nodes, name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return onnx.shape_inference.infer_shapes(model)

    def float_model(self, outputs_too=False):
        self.constants, nodes = [], []
        for kind, inputs, output, weights, attributes in self.steps:
            names = list(inputs)
            for i, (values, _) in enumerate(weights):
                names.append(self.constant(f"{output}_w{i}", values))
            nodes.append(helper.make_node(kind, names, [output], name=f"/{output}/{kind}", **attributes))
        model = self.model(nodes, self.steps[-1][2], "float")
        if outputs_too:
            for step in self.steps[:-1]:
                model.graph.output.append(helper.make_tensor_value_info(step[2], TensorProto.FLOAT, None))
        return model

    def scale_of(self, values):
        low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
        limits = np.iinfo(self.activation_type)
        scale = np.float32(max(high - low, 1e-3) / 255)
        zero = self.activation_type(np.clip(round(limits.min - low / scale), limits.min, limits.max))
        return scale, zero

    def quantised_model(self, x):
        session = onnxruntime.InferenceSession(self.float_model(True).SerializeToString())
        names = [o.name for o in session.get_outputs()]
        seen = dict(zip(names, session.run(names, {"x": x})))
        seen["x"] = x
        self.constants, nodes, scales = [], [], {}

        def quantised(value, scale, zero):
            scales[value] = scale
            s, z = self.constant(value + "_scale", scale), self.constant(value + "_zero", zero)
            nodes.append(helper.make_node("QuantizeLinear", [value, s, z], [value + "_q"]))
            nodes.append(helper.make_node("DequantizeLinear", [value + "_q", s, z], [value + "_dq"]))

        quantised("x", *self.scale_of(x))
        same_scale = {"MaxPool", "Reshape", "Flatten", "Transpose"}
        for number, (kind, inputs, output, weights, attributes) in enumerate(self.steps):
            names = [value + "_dq" for value in inputs]
            weight_scale = None
            for i, (values, axis) in enumerate(weights):
                name = f"{output}_w{i}"
                if axis is None:  # the bias, in steps of input times weights
                    scale = np.float32(scales[inputs[0]] * weight_scale).astype(np.float32)
                    whole = np.round(values / scale).astype(np.int32)
                    zero = np.zeros(np.shape(scale), np.int32)
                elif self.per_channel:
                    others = tuple(a for a in range(values.ndim) if a != axis)
                    scale = (np.abs(values).max(axis=others) / 127).astype(np.float32)
                    spread = [1] * values.ndim
                    spread[axis] = -1
                    whole = np.clip(np.round(values / scale.reshape(spread)), -127, 127).astype(np.int8)
                    zero, weight_scale = np.zeros(scale.shape, np.int8), scale
                else:
                    scale = np.float32(np.abs(values).max() / 127)
                    whole = np.clip(np.round(values / scale), -127, 127).astype(np.int8)
                    zero, weight_scale = np.int8(0), scale
                names.append(name + "_dq")
                nodes.append(helper.make_node(
                    "DequantizeLinear",
                    [self.constant(name, whole), self.constant(name + "_s", scale), self.constant(name + "_z", zero)],
                    [name + "_dq"], axis=0 if axis is None else axis))
            nodes.append(helper.make_node(kind, names, [output], name=f"/{output}/{kind}", **attributes))
            activation_follows = number + 1 < len(self.steps) and self.steps[number + 1][0] == "Relu"
            if activation_follows:
                nodes.append(helper.make_node("Relu", [output], [self.steps[number + 1][2]]))
            if kind == "Relu":
                nodes.pop()  # is behind its operator already
            if activation_follows:
                continue
            if kind in same_scale:
                scale, zero = scales[inputs[0]], next(
                    numpy_helper.to_array(c) for c in self.constants if c.name == inputs[0] + "_zero")
            else:
                scale, zero = self.scale_of(seen[output])
            quantised(output, scale, zero)
        last = self.steps[-1][2]
        return self.model(nodes, last + "_dq", "qdq")


def weights(*shape, fan=None):
    fan = fan or int(np.prod(shape[1:]))
    return (RNG.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)


def bias(count):
    return (RNG.standard_normal(count) * 0.1).astype(np.float32)


def residual_cnn(**options):
    """Convolution, depthwise convolution, shortcut, pooling, product, softmax; sizes that differ everywhere."""
    net = Network([1, 3, 17, 13], **options)
    net.add("Conv", ["x"], "stem", [(weights(8, 3, 3, 3), 0), (bias(8), None)], strides=[2, 1], pads=[1, 1, 0, 1])
    net.add("Relu", ["stem"], "stem_relu")
    net.add("Conv", ["stem_relu"], "dw", [(weights(8, 1, 3, 3), 0), (bias(8), None)], group=8, pads=[1, 1, 1, 1])
    net.add("Relu", ["dw"], "dw_relu")
    net.add("Conv", ["dw_relu"], "pw", [(weights(8, 8, 1, 1), 0), (bias(8), None)])
    net.add("Add", ["pw", "stem_relu"], "sum")
    net.add("MaxPool", ["sum"], "pool", kernel_shape=[2, 3], strides=[2, 2])
    net.add("Conv", ["pool"], "deep", [(weights(12, 8, 3, 2), 0), (bias(12), None)], dilations=[1, 2])
    net.add("Relu", ["deep"], "deep_relu")
    net.add("GlobalAveragePool", ["deep_relu"], "mean")
    net.add("Flatten", ["mean"], "flat")
    net.add("Gemm", ["flat"], "logits", [(weights(5, 12), 0), (bias(5), None)], transB=1)
    net.add("Softmax", ["logits"], "prob")
    return net


def flattened_cnn(**options):
    """The product reads rows of an image whose channels ONNX stores first."""
    net = Network([1, 2, 10, 8], **options)
    net.add("Conv", ["x"], "conv", [(weights(6, 2, 3, 3), 0), (bias(6), None)], auto_pad="SAME_UPPER", strides=[2, 2])
    net.add("Relu", ["conv"], "conv_relu")
    net.add("Flatten", ["conv_relu"], "flat")
    net.add("Gemm", ["flat"], "hidden", [(weights(7, 120), 0), (bias(7), None)], transB=1)
    net.add("Relu", ["hidden"], "hidden_relu")
    net.add("Gemm", ["hidden_relu"], "logits", [(weights(7, 4, fan=7), 1), (bias(4), None)])
    return net


def encoder_decoder(**options):
    """Ends as an image: a mean over height and width scales channels, branches are joined."""
    net = Network([1, 4, 8, 8], **options)
    net.add("Conv", ["x"], "a", [(weights(4, 4, 3, 3), 0), (bias(4), None)], pads=[1, 1, 1, 1])
    net.add("GlobalAveragePool", ["a"], "mean")
    net.add("Conv", ["mean"], "gate", [(weights(4, 4, 1, 1), 0), (bias(4), None)])
    net.add("Sigmoid", ["gate"], "open")
    net.add("Mul", ["a", "open"], "gated")
    net.add("Concat", ["gated", "x"], "both", axis=1)
    net.add("Conv", ["both"], "b", [(weights(6, 4, 3, 3), 0), (bias(6), None)], pads=[1, 1, 1, 1], group=2)
    return net


def write(folder, model, x):
    onnx.checker.check_model(model)
    folder.mkdir(parents=True, exist_ok=True)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    results = session.run(None, {"x": x})
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "in0.bin").write_bytes(x.tobytes())
    (folder / "out0.bin").write_bytes(results[0].tobytes())
    print(folder.name, len(model.SerializeToString()), "bytes,", results[0].shape)


def main():
    root = pathlib.Path(sys.argv[1])
    for name, make in {"residual": residual_cnn, "flattened": flattened_cnn, "encoder": encoder_decoder}.items():
        variants = {"float": None, "qdq_i8": dict(), "qdq_u8_per_tensor": dict(activation_type=np.uint8, per_channel=False)}
        for variant, options in variants.items():
            net = make(**(options or {}))
            x = RNG.standard_normal(net.shape).astype(np.float32)
            model = net.float_model() if options is None else net.quantised_model(x)
            write(root / f"{name}_{variant}", model, x)


if __name__ == "__main__":
    main()
