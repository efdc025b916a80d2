#!/usr/bin/env python3
"""A trained network becomes firmware: float ONNX, quantised ONNX (QDQ), C for a board and for an NPU.

    onnx_to_firmware.py [--board BOARD] [--npu TARGET] [-o FOLDER]

The network is small and trained here in numpy, on half of the handwritten digits beside this folder, so that nothing has to be
fetched; its ONNX is what `torch.onnx.export` writes for `Sequential(Flatten, Linear, ReLU, Linear)`. What comes behind it is the
same for a network of any framework: onnxruntime quantises it with the calibration data, and Intarsia compiles it, says what it
takes, holds it against the reference, and counts what it gets right.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import firmware
from digits_data import data
from quantise_onnx import quantise


def train(images, labels, hidden=32, rounds=400):
    """Weights and biases of two layers, by gradient descent on the cross entropy."""
    random = np.random.default_rng(1)
    x, wanted = images.reshape(len(images), -1), np.eye(10, dtype=np.float32)[labels]
    layers = [random.normal(0, 0.2, shape).astype(np.float32) for shape in ((64, hidden), (hidden,), (hidden, 10), (10,))]
    for _ in range(rounds):
        w1, b1, w2, b2 = layers
        middle = np.maximum(x @ w1 + b1, 0)
        scores = middle @ w2 + b2
        scores -= scores.max(axis=1, keepdims=True)
        error = np.exp(scores)
        error = (error / error.sum(axis=1, keepdims=True) - wanted) / len(x)
        back = (error @ w2.T) * (middle > 0)
        gradients = (x.T @ back, back.sum(axis=0), middle.T @ error, error.sum(axis=0))
        layers = [value - np.float32(0.8) * gradient for value, gradient in zip(layers, gradients)]
    return layers


def export(layers):
    """The network as float ONNX, with a batch of one."""
    names = ("hidden_weights", "hidden_bias", "scores_weights", "scores_bias")
    nodes = [helper.make_node("Flatten", ["image"], ["pixels"], name="flatten"),
             helper.make_node("Gemm", ["pixels", names[0], names[1]], ["sums"], name="hidden"),
             helper.make_node("Relu", ["sums"], ["features"], name="relu"),
             helper.make_node("Gemm", ["features", names[2], names[3]], ["scores"], name="scores")]
    graph = helper.make_graph(nodes, "digits", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])],
                              [numpy_helper.from_array(value, name) for value, name in zip(layers, names)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def main():
    options = firmware.options(__doc__, "digits_mlp")
    (images, labels), (test_images, test_labels) = data()
    onnx.save(export(train(images, labels)), options.output / "float.onnx")
    model = quantise(options.output, images)
    firmware.make(model, "digits_mlp", options, test_images[:, np.newaxis], test_labels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
