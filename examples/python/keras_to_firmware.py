#!/usr/bin/env python3
"""A network of Keras becomes firmware: trained, an int8 .tflite, C for a board and for an NPU.

    keras_to_firmware.py [--board BOARD] [--npu TARGET] [-o FOLDER]

The network is a small convolutional one, trained for some seconds on half of the handwritten digits beside this folder. Bring your
own in `network`, with its data in `data`; what comes behind is the same.
"""
import contextlib
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # before TensorFlow is imported

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import firmware
from digits_data import data


def network():
    def convolution(layer, x):
        return layers.ReLU()(layers.BatchNormalization(momentum=0.9)(layer(x)))

    image = keras.Input((8, 8, 1), name="image")
    x = convolution(layers.Conv2D(16, 3, padding="same", use_bias=False), image)
    x = layers.MaxPooling2D(2)(x)
    x = convolution(layers.DepthwiseConv2D(3, padding="same", use_bias=False), x)
    x = layers.MaxPooling2D(2)(layers.Conv2D(32, 1, activation="relu")(x))
    return keras.Model(image, layers.Dense(10, name="scores")(layers.Flatten()(x)), name="digits")


def train(images, labels, rounds=50):
    keras.utils.set_random_seed(1)
    trained = network()
    trained.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    trained.fit(images, labels, batch_size=32, epochs=rounds, verbose=0)
    return trained


def convert(trained, images):
    """int8 throughout, with scales from what the images bring about."""
    converter = tf.lite.TFLiteConverter.from_keras_model(trained)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([image[np.newaxis]] for image in images)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    with contextlib.redirect_stdout(sys.stderr):  # what it says of its own steps
        return converter.convert()


def main():
    options = firmware.options(__doc__, "digits_keras")
    (images, labels), (test_images, test_labels) = data()
    images, test_images = (each.transpose(0, 2, 3, 1) for each in (images, test_images))  # channels last
    trained = train(images, labels)
    right = (trained.predict(test_images, verbose=0).argmax(1) == test_labels).sum()
    print(f"Keras, in floats: {right} of {len(test_labels)} right")

    model = convert(trained, images)
    (options.output / "digits.tflite").write_bytes(model)
    firmware.make(model, "digits_keras", options, test_images[:, np.newaxis], test_labels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
