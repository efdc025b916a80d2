#!/usr/bin/env python3
"""A trained network on its way into firmware: float ONNX, quantised ONNX (QDQ), C for a board.

    onnx_to_firmware.py [--board BOARD] [-o FOLDER]

The network is small and trained here in numpy, on half of the handwritten digits beside this folder, so that nothing has to be
fetched; its ONNX is what `torch.onnx.export` writes for `Sequential(Flatten, Linear, ReLU, Linear)`. What comes behind it is the
same for a network of any framework: onnxruntime quantises it with the calibration data, and Intarsia compiles it, says what it
takes, holds it against the reference, and counts what it gets right.
"""
import argparse
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

import intarsia

DIGITS = pathlib.Path(__file__).resolve().parent.parent / "digits"


def data():
    """Images as real numbers from 0 to 1, and what they show; for training, and for the test."""
    images = (np.fromfile(DIGITS / "test_images.bin", np.int8).reshape(-1, 1, 8, 8).astype(np.float32) + 128) / 255
    labels = np.fromfile(DIGITS / "test_labels.bin", np.uint8)
    half = len(labels) // 2
    return (images[:half], labels[:half]), (images[half:], labels[half:])


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


class Calibration(CalibrationDataReader):
    def __init__(self, images):
        self.images = iter(images)

    def get_next(self):
        image = next(self.images, None)
        return None if image is None else {"image": image[np.newaxis]}


def quantise(model, images, folder):
    """int8 throughout, with scales from what the calibration data bring about."""
    onnx.save(model, folder / "float.onnx")
    quantize_static(folder / "float.onnx", folder / "quantised.onnx", Calibration(images), quant_format=QuantFormat.QDQ,
                    activation_type=QuantType.QInt8, weight_type=QuantType.QInt8, extra_options={"ActivationSymmetric": False})
    return onnx.load(folder / "quantised.onnx")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board", default="mps2-an386")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("digits_mlp"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)

    (images, labels), (test_images, test_labels) = data()
    model = quantise(export(train(images, labels)), images, options.output)

    # Inputs and outputs of signed bytes: the application converts, on the scales that the report names.
    package = intarsia.compile(model, name="digits_mlp", board=options.board, io="int8")
    package.write(options.output / "package")
    report = package.report
    flash = report.flash if report.flash is not None else f"at least {report.constant_bytes}"
    print(f"{report.ram} bytes of RAM, {flash} of flash, {report.macs} multiply-accumulates")

    print(intarsia.verify(model, board=options.board, io="int8"))
    found = intarsia.evaluate(package, test_images[:, np.newaxis], labels=test_labels, quantise=True)
    print(f"{found.correct} of {found.samples} right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
