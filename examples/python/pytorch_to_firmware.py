#!/usr/bin/env python3
"""A network of PyTorch becomes firmware: trained, float ONNX, quantised ONNX (QDQ), C for a board and for an NPU.

    pytorch_to_firmware.py [--board BOARD] [--npu TARGET] [-o FOLDER]

The network is a small convolutional one, trained for some seconds on half of the handwritten digits beside this folder. Bring your
own in `network`, with its data in `data`; what comes behind is the same.
"""
import sys

import numpy as np
import torch
from torch import nn

import firmware
from digits_data import data
from quantise_onnx import quantise


def network():
    def convolution(channels, results, groups=1):
        return (nn.Conv2d(channels, results, 3, padding=1, groups=groups, bias=False), nn.BatchNorm2d(results), nn.ReLU())

    return nn.Sequential(*convolution(1, 16), nn.MaxPool2d(2), *convolution(16, 16, groups=16), nn.Conv2d(16, 32, 1), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10))


def train(images, labels, rounds=150):
    torch.manual_seed(1)
    trained = network()
    x, wanted = torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64))
    optimiser = torch.optim.Adam(trained.parameters(), 0.01, weight_decay=1e-4)
    for _ in range(rounds):
        optimiser.zero_grad()
        nn.functional.cross_entropy(trained(x), wanted).backward()
        optimiser.step()
    return trained.eval()


def main():
    options = firmware.options(__doc__, "digits_pytorch")
    (images, labels), (test_images, test_labels) = data()
    trained = train(images, labels)
    with torch.no_grad():
        right = (trained(torch.from_numpy(test_images)).argmax(1).numpy() == test_labels).sum()
    print(f"PyTorch, in floats: {right} of {len(test_labels)} right")

    torch.onnx.export(trained, (torch.zeros(1, 1, 8, 8),), options.output / "float.onnx", input_names=["image"],
                      output_names=["scores"], dynamo=True, external_data=False, verbose=False)
    model = quantise(options.output, images)
    firmware.make(model, "digits_pytorch", options, test_images[:, np.newaxis], test_labels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
