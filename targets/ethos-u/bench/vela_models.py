#!/usr/bin/env python3
"""Writes small quantised networks for vela_streams.py, and inputs for them: what streams of Vela are made of beyond plain
convolutions. Needs tensorflow.

  vela_models.py FOLDER [--only REGEX]
  vela_models.py FOLDER --of MODEL.tflite...     # folders like these for models that exist

Weights and inputs are random, with a seed of each network's own name. Outputs are left to vela_streams.py --golden.
"""
import argparse
import json
import os
import pathlib
import re
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

NETWORKS = {}


def network(*shapes, bits=8):
    """Registers a function of tensors under its name; it gets a source of random numbers first."""
    def register(function):
        NETWORKS[function.__name__] = (function, shapes, bits)
        return function
    return register


def conv(rng, x, channels, size=3, stride=1, padding="SAME", dilation=1, relu=True):
    rows, columns = size if isinstance(size, tuple) else (size, size)
    weights = rng.normal(0, (rows * columns * x.shape[-1])**-0.5, (rows, columns, x.shape[-1], channels)).astype(np.float32)
    y = tf.nn.conv2d(x, weights, stride, padding, dilations=dilation) + rng.normal(0, 0.1, channels).astype(np.float32)
    return tf.nn.relu6(y) if relu else y


def depthwise(rng, x, size=3, stride=1, padding="SAME", dilation=1):
    weights = rng.normal(0, 1 / size, (size, size, x.shape[-1], 1)).astype(np.float32)
    return tf.nn.depthwise_conv2d(x, weights, (1, stride, stride, 1), padding, dilations=(dilation, dilation))


def dense(rng, x, units):
    weights = rng.normal(0, x.shape[-1]**-0.5, (x.shape[-1], units)).astype(np.float32)
    return tf.matmul(x, weights) + rng.normal(0, 0.1, units).astype(np.float32)


def on_cpu(x):
    """An operator that Vela leaves to the CPU on an Ethos-U55 and U65."""
    return tf.gather(x, list(reversed(range(x.shape[1]))), axis=1)


# Several ethos-u operators with CPU operators between.
@network((1, 8, 8, 4))
def cpu_between(rng, x):
    return conv(rng, on_cpu(conv(rng, x, 8)), 8)


@network((1, 8, 8, 4))
def cpu_beside(rng, x):
    y = conv(rng, x, 8)
    return conv(rng, on_cpu(y), 8) + conv(rng, y, 8)


@network((1, 8, 8, 4))
def kept_over_cpu(rng, x):
    a, b = conv(rng, x, 8), conv(rng, x, 8, 1)
    c = conv(rng, on_cpu(a), 8)
    return tf.concat([b, c], 3), b * c


@network((1, 8, 8, 4))
def cpu_chain(rng, x):
    for _ in range(4):
        x = conv(rng, on_cpu(x), 8) + conv(rng, x, 8, 1)
    return x


@network((1, 8, 8, 4))
def two_outputs_cpu(rng, x):
    a = conv(rng, x, 8)
    return a, on_cpu(conv(rng, a, 4)), conv(rng, on_cpu(a), 2)


@network((1, 8, 8, 8))
def split_to_cpu(rng, x):
    parts = tf.split(conv(rng, x, 12), 3, axis=3)
    return tf.concat([on_cpu(parts[0]), conv(rng, parts[1], 4), on_cpu(parts[2])], 3)


@network((1, 8, 8, 8))
def split_rows_to_cpu(rng, x):
    parts = tf.split(conv(rng, x, 4), 2, axis=1)
    return conv(rng, on_cpu(parts[0]) + on_cpu(parts[1]), 4)


@network((1, 8, 8, 4))
def concat_two_writers(rng, x):
    a = conv(rng, x, 8)
    return tf.concat([a, conv(rng, on_cpu(a), 8)], 1)


@network((1, 8, 8, 4))
def concat_channels_two_writers(rng, x):
    a = conv(rng, x, 16)
    return conv(rng, tf.concat([a, conv(rng, on_cpu(a), 16), on_cpu(a)], 3), 4)


@network((1, 8, 8, 4))
def reshaped_to_cpu(rng, x):
    a = conv(rng, x, 8)
    flat = tf.reshape(a, (1, 64, 8))
    return on_cpu(flat), tf.reshape(flat, (1, 512))


@network((1, 8, 8, 4), (1, 8, 8, 4))
def two_inputs(rng, a, b):
    return conv(rng, a, 8) * on_cpu(conv(rng, b, 8))


@network((1, 16, 16, 3))
def multi_scale_heads(rng, x):
    a = conv(rng, x, 8, stride=2)
    b = conv(rng, a, 16, stride=2)
    up = tf.image.resize(b, (8, 8), "nearest")
    heads = [tf.reshape(conv(rng, y, 6, 1, relu=False), (1, -1, 6)) for y in (tf.concat([up, a], 3), b)]
    return tf.concat(heads, 1)


# Resampling.
for factor in (2, 4, 8):
    for name, half, corners in (("", False, False), ("_half_pixel", True, False), ("_align_corners", False, True)):
        def resized(rng, x, factor=factor, half=half, corners=corners):
            size = [(n - 1) * factor + 1 if corners else n * factor for n in x.shape[1:3]]
            return tf.raw_ops.ResizeBilinear(images=conv(rng, x, 8), size=size, half_pixel_centers=half, align_corners=corners)
        resized.__name__ = f"bilinear_{factor}{name}"
        network((1, 5, 6, 4))(resized)


@network((1, 1, 1, 4))
def bilinear_of_one(rng, x):
    return tf.raw_ops.ResizeBilinear(images=conv(rng, x, 8, 1), size=(4, 4), half_pixel_centers=False, align_corners=False)


@network((1, 5, 6, 4))
def nearest_align_corners(rng, x):
    return tf.raw_ops.ResizeNearestNeighbor(images=conv(rng, x, 8), size=(9, 11), align_corners=True)


@network((1, 5, 6, 4))
def nearest_half_pixel_4(rng, x):
    return tf.raw_ops.ResizeNearestNeighbor(images=conv(rng, x, 8), size=(20, 24), half_pixel_centers=True)


@network((1, 6, 7, 4))
def mirror_pad_reflect(rng, x):
    return conv(rng, tf.pad(conv(rng, x, 8), [[0, 0], [2, 1], [1, 2], [0, 0]], "REFLECT"), 4, padding="VALID")


@network((1, 6, 7, 4))
def mirror_pad_symmetric(rng, x):
    return conv(rng, tf.pad(conv(rng, x, 8), [[0, 0], [2, 1], [3, 2], [0, 0]], "SYMMETRIC"), 4, padding="VALID")


@network((1, 6, 7, 4))
def mirror_pad_alone(rng, x):
    return tf.pad(x, [[0, 0], [1, 2], [3, 0], [0, 0]], "REFLECT")


@network((1, 6, 7, 4))
def pad_constant(rng, x):
    return conv(rng, tf.pad(x, [[0, 0], [2, 1], [1, 2], [0, 0]]), 4, padding="VALID")


@network((1, 6, 7, 4))
def pad_channels(rng, x):
    return conv(rng, tf.pad(x, [[0, 0], [0, 0], [0, 0], [1, 3]]), 4)


# Slices.
@network((1, 9, 8, 4))
def strided_slice(rng, x):
    return conv(rng, conv(rng, x, 8)[:, 1:8:2, ::3, :], 4)


@network((1, 9, 8, 16))
def strided_slice_alone(rng, x):
    return x[:, 1:9:2, 1:8:2, :]


@network((1, 9, 8, 16))
def strided_slice_channels(rng, x):
    return conv(rng, x, 16)[:, 1:9, 0:7, 3:14]


@network((1, 9, 8, 16))
def slice_inputs(rng, x):
    return conv(rng, x[:, 2:7, 1:6, :], 8) + conv(rng, x[:, 3:8, 2:7, :], 8)


@network((1, 4, 6, 8))
def unstack(rng, x):
    return [conv(rng, tf.reshape(y, (1, 6, 8, 1)), 4) for y in tf.unstack(x, axis=1)]


@network((1, 6, 8), (1, 6, 8))
def pack(rng, a, b):
    return tf.stack([tf.nn.relu(a), tf.nn.relu(b)], 1), tf.stack([a, b], 3)


@network((1, 5, 6, 8))
def transposes(rng, x):
    y = conv(rng, x, 8)
    return conv(rng, tf.transpose(y, (0, 2, 1, 3)), 4), tf.transpose(y, (0, 3, 1, 2)), tf.transpose(y, (0, 1, 3, 2))


@network((1, 4, 4, 16))
def depth_to_space(rng, x):
    return conv(rng, tf.nn.depth_to_space(conv(rng, x, 16), 2), 4)


@network((1, 8, 8, 4))
def space_to_depth(rng, x):
    return conv(rng, tf.nn.space_to_depth(conv(rng, x, 4), 2), 4)


@network((2, 5, 6, 4))
def batches(rng, x):
    return conv(rng, conv(rng, x, 8), 4, 1)


# Convolutions.
for size, stride, padding in ((2, 2, "SAME"), (3, 2, "SAME"), (3, 1, "VALID"), (4, 2, "SAME"), (1, 2, "SAME"), (3, 3, "VALID"), (5, 2, "VALID")):
    def transposed(rng, x, size=size, stride=stride, padding=padding):
        grow = [(n * stride if padding == "SAME" else (n - 1) * stride + max(size, stride)) for n in x.shape[1:3]]
        weights = rng.normal(0, 0.2, (size, size, 8, x.shape[-1])).astype(np.float32)
        return tf.nn.conv2d_transpose(x, weights, (1, *grow, 8), stride, padding) + rng.normal(0, 0.1, 8).astype(np.float32)
    transposed.__name__ = f"transpose_conv_{size}_stride_{stride}_{padding.lower()}"
    network((1, 5, 6, 4))(transposed)


@network((1, 16, 17, 4))
def dilated(rng, x):
    return conv(rng, conv(rng, x, 8, dilation=2), 8, dilation=3) + depthwise(rng, conv(rng, x, 8, 1), dilation=2)


@network((1, 32, 1, 4))
def dilated_1d(rng, x):
    for dilation in (1, 2, 4, 8):
        weights = rng.normal(0, 0.3, (3, 1, x.shape[-1], 8)).astype(np.float32)
        x = tf.nn.relu(tf.nn.conv2d(tf.pad(x, [[0, 0], [2 * dilation, 0], [0, 0], [0, 0]]), weights, 1, "VALID", dilations=(dilation, 1)))
    return x


@network((1, 17, 16, 4))
def strides(rng, x):
    return conv(rng, x, 8, 5, 3), conv(rng, x, 8, 3, 4), depthwise(rng, x, 3, 2), depthwise(rng, x, 5, 4), conv(rng, x, 8, 2, 5, "VALID")


@network((1, 8, 8, 8))
def grouped(rng, x):
    weights = rng.normal(0, 0.2, (3, 3, 2, 16)).astype(np.float32)
    return tf.nn.conv2d(x, weights, 1, "SAME")


@network((1, 8, 40, 1))
def wide_kernel(rng, x):
    weights = rng.normal(0, 0.1, (4, 10, 1, 8)).astype(np.float32)
    return tf.nn.relu(tf.nn.conv2d(x, weights, (1, 2, 2, 1), "SAME"))


# Pools, reductions, elements.
@network((1, 12, 11, 8))
def pools(rng, x):
    y = conv(rng, x, 8)
    return (tf.nn.max_pool2d(y, 3, 2, "SAME"), tf.nn.avg_pool2d(y, 3, 1, "SAME"), tf.nn.avg_pool2d(y, 5, 4, "VALID"),
            tf.nn.max_pool2d(y, 2, 1, "VALID"))


@network((1, 6, 7, 8))
def means(rng, x):
    return (tf.reduce_mean(x, (1, 2)), tf.reduce_mean(x, 1, keepdims=True), tf.reduce_mean(x, 2), tf.reduce_mean(x, 3),
            tf.reduce_mean(x, (1, 2, 3)))


@network((1, 40, 40, 8))
def mean_large(rng, x):
    return tf.reduce_mean(conv(rng, x, 8), (1, 2))


@network((1, 6, 7, 8))
def sums(rng, x):
    return tf.reduce_sum(x, 3), tf.reduce_sum(x, 1), tf.reduce_max(x, 3), tf.reduce_min(x, 1)


@network((1, 6, 7, 8))
def arg_max(rng, x):
    return tf.cast(tf.argmax(conv(rng, x, 10), 3), tf.int32)


@network((1, 6, 7, 8))
def arg_max_32(rng, x):
    return tf.argmax(conv(rng, x, 10), 3, output_type=tf.int32)


@network((1, 6, 7, 8))
def arg_max_alone(rng, x):
    return tf.argmax(x, 3)


@network((1, 6, 7, 8), (1, 1, 1, 8), (1, 6, 7, 8))
def arithmetic(rng, a, b, c):
    return a + b, a - c, a * b, tf.maximum(a, b), tf.minimum(a, c), (a + 0.5) * c, tf.abs(a), 1.0 - a


@network((1, 6, 7, 8), (1, 6, 7, 8))
def squared_difference(rng, a, b):
    return tf.math.squared_difference(a, b)


@network((1, 6, 7, 8))
def unary(rng, x):
    return tf.nn.relu(x), tf.nn.relu6(x), tf.sigmoid(x), tf.tanh(x), tf.nn.leaky_relu(x, 0.1), x * tf.nn.relu6(x + 3) / 6


for name, of_one in (("exp", tf.exp), ("elu", tf.nn.elu), ("sqrt", lambda x: tf.sqrt(tf.abs(x) + 0.1)), ("square", tf.square),
                     ("rsqrt", lambda x: tf.math.rsqrt(tf.abs(x) + 0.1)), ("log", lambda x: tf.math.log(tf.abs(x) + 0.1)),
                     ("gelu", tf.nn.gelu), ("swish", tf.nn.silu)):
    def elements(rng, x, of_one=of_one):
        return of_one(x)
    elements.__name__ = name
    network((1, 6, 7, 8))(elements)


@network((1, 6, 7, 8))
def prelu(rng, x):
    alpha = rng.uniform(-0.2, 0.4, (1, 1, 8)).astype(np.float32)
    return tf.nn.relu(x) + alpha * -tf.nn.relu(-x)


@network((1, 6, 8, 10))
def softmaxes(rng, x):
    return tf.nn.softmax(x), tf.nn.softmax(tf.reshape(x, (6, 80)))


@network((1, 6, 8))
def attention(rng, x):
    q, k, v = (tf.reshape(dense(rng, tf.reshape(x, (6, 8)), 8), (1, 6, 8)) for _ in range(3))
    return tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True)), v)


@network((1, 6, 16))
def layer_norm(rng, x):
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-3)


@network((1, 40))
def mlp(rng, x):
    for units in (32, 16, 40):
        x = tf.nn.relu(dense(rng, x, units))
    return x


@network((5, 24))
def mlp_batches(rng, x):
    return dense(rng, tf.nn.relu(dense(rng, x, 16)), 10)


@network((1, 8, 6))
def lstm(rng, x):
    cell = tf.keras.layers.LSTM(7, return_sequences=True, unroll=True)
    return cell(x)


@network((1, 8, 6), bits=16)
def lstm_s16(rng, x):
    return tf.keras.layers.LSTM(7, unroll=True)(x)


@network((1, 8, 8, 8))
def gather_rows(rng, x):
    return conv(rng, tf.gather(conv(rng, x, 4), [1, 3, 5, 0], axis=1), 4)


@network((1, 8, 8, 8))
def broadcast(rng, x):
    y = conv(rng, x, 4)
    return y * tf.broadcast_to(tf.reduce_mean(y, (1, 2), keepdims=True), (1, 8, 8, 4))


@network((1, 8, 8, 8))
def squeeze_excite(rng, x):
    y = conv(rng, x, 16)
    gate = tf.sigmoid(dense(rng, tf.nn.relu(dense(rng, tf.reduce_mean(y, (1, 2)), 4)), 16))
    return y * tf.reshape(gate, (1, 1, 1, 16))


@network((1, 33, 35, 3))
def cascade(rng, x):
    for channels in (8, 16, 16, 24):
        x = conv(rng, depthwise(rng, conv(rng, x, channels, 1)), channels, 3)
    return x


@network((1, 24, 24, 16))
def residuals(rng, x):
    for _ in range(4):
        x = x + conv(rng, conv(rng, x, 16), 16, relu=False)
    return x


@network((1, 24, 24, 4))
def dense_blocks(rng, x):
    for _ in range(5):
        x = tf.concat([x, conv(rng, x, 5)], 3)
    return x


# What people deploy: recurrent networks, decoders, detectors, attention, other resamplings.
@network((1, 5, 10))
def lstm_speech(rng, x):
    y = tf.keras.layers.LSTM(8, return_sequences=True, unroll=True)(x)
    return tf.keras.layers.Dense(5, activation="softmax")(tf.keras.layers.LSTM(6, unroll=True)(y))


@network((1, 6, 8))
def gru_lstm(rng, x):
    return tf.keras.layers.Dense(4)(tf.keras.layers.GRU(8, unroll=True)(x))


@network((1, 12, 12))
def conv_lstm_1d(rng, x):
    y = tf.keras.layers.Conv1D(16, 5, strides=2, padding="same", activation="relu")(x)
    return tf.keras.layers.LSTM(9, unroll=True)(y)


for rows, columns in ((10, 12), (7, 9), (20, 24), (40, 48)):
    for name, half, corners in (("", False, False), ("_half_pixel", True, False), ("_align_corners", False, True)):
        def nearest(rng, x, size=(rows, columns), half=half, corners=corners):
            return conv(rng, tf.raw_ops.ResizeNearestNeighbor(images=conv(rng, x, 8), size=size, half_pixel_centers=half,
                                                              align_corners=corners), 4)
        nearest.__name__ = f"nearest_{rows}_{columns}{name}"
        network((1, 5, 6, 4))(nearest)

for rows, columns in ((7, 9), (9, 11), (10, 24), (3, 3)):
    for name, half, corners in (("", False, False), ("_half_pixel", True, False), ("_align_corners", False, True)):
        def bilinear(rng, x, size=(rows, columns), half=half, corners=corners):
            return conv(rng, tf.raw_ops.ResizeBilinear(images=conv(rng, x, 8), size=size, half_pixel_centers=half,
                                                       align_corners=corners), 4)
        bilinear.__name__ = f"bilinear_to_{rows}_{columns}{name}"
        network((1, 5, 6, 4))(bilinear)


@network((1, 12, 12, 3))
def style_transfer(rng, x):
    x = conv(rng, tf.pad(x, [[0, 0], [2, 2], [2, 2], [0, 0]], "REFLECT"), 8, 5, padding="VALID")
    y = conv(rng, tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT"), 16, 3, 2, "VALID")
    y = tf.image.resize(y, (12, 12), "nearest")
    return conv(rng, tf.pad(x + conv(rng, y, 8), [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT"), 3, padding="VALID", relu=False)


@network((1, 16, 16, 8))
def pyramid_pooling(rng, x):
    parts = [conv(rng, x, 4, 1)]
    for dilation in (2, 4, 6):
        parts.append(conv(rng, x, 4, dilation=dilation))
    whole = conv(rng, tf.reduce_mean(x, (1, 2), keepdims=True), 4, 1)
    parts.append(tf.image.resize(whole, (16, 16), "bilinear"))
    return tf.image.resize(conv(rng, tf.concat(parts, 3), 6, 1, relu=False), (32, 32), "bilinear")


@network((1, 16, 16, 3))
def decoder(rng, x):
    kept = []
    for channels in (8, 16):
        x = conv(rng, x, channels)
        kept.append(x)
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    for size, stride in ((2, 2), (3, 2)):
        side = kept.pop()
        weights = rng.normal(0, 0.2, (size, size, side.shape[-1], x.shape[-1])).astype(np.float32)
        x = tf.nn.conv2d_transpose(x, weights, side.shape, stride, "SAME")
        x = conv(rng, tf.concat([x, side], 3), side.shape[-1])
    return tf.nn.sigmoid(conv(rng, x, 1, 1, relu=False))


@network((1, 16, 16, 8))
def inverted_residual(rng, x):
    y = conv(rng, x, 24, 1, relu=False)
    y = y * tf.nn.relu6(y + 3) / 6
    y = depthwise(rng, y, 5)
    gate = tf.nn.relu(conv(rng, tf.reduce_mean(y, (1, 2), keepdims=True), 8, 1, relu=False))
    gate = tf.nn.relu6(conv(rng, gate, 24, 1, relu=False) + 3) / 6
    return x + conv(rng, y * gate, 8, 1, relu=False)


for name, of_one in (("leaky_relu", lambda x: tf.nn.leaky_relu(x, 0.3)), ("leaky_relu_above_1", lambda x: tf.nn.leaky_relu(x, 1.5)),
                     ("leaky_relu_negative", lambda x: tf.nn.leaky_relu(x, -0.2)),
                     ("hard_swish", lambda x: x * tf.nn.relu6(x + 3) / 6), ("hard_sigmoid", lambda x: tf.nn.relu6(x + 3) / 6),
                     ("relu_n1_to_1", lambda x: tf.clip_by_value(x, -1, 1)), ("tanh", tf.tanh), ("sigmoid", tf.sigmoid),
                     ("relu6", tf.nn.relu6), ("softplus", tf.nn.softplus), ("mish", lambda x: x * tf.tanh(tf.nn.softplus(x))),
                     ("abs", tf.abs), ("neg", tf.negative)):
    def after_convolution(rng, x, of_one=of_one):
        return of_one(conv(rng, x, 8, relu=False))
    after_convolution.__name__ = "conv_" + name
    network((1, 6, 7, 4))(after_convolution)


@network((1, 6, 7, 8))
def prelu_layer(rng, x):
    y = conv(rng, x, 8, relu=False)
    return conv(rng, tf.nn.relu(y) + rng.uniform(-0.2, 0.4, (1, 1, 8)).astype(np.float32) * -tf.nn.relu(-y), 4)


for axis in (0, 1, 2, 3):
    def mean_over(rng, x, axis=axis):
        return tf.reduce_mean(conv(rng, x, 8), axis), tf.reduce_max(x, axis), tf.argmax(x, axis, output_type=tf.int32)
    mean_over.__name__ = f"axis_{axis}"
    network((1, 6, 7, 8))(mean_over)


@network((1, 3, 64, 300))
def mean_wide(rng, x):
    return tf.reduce_mean(x, (1, 2)), tf.reduce_mean(x, 2, keepdims=True)


@network((1, 9, 12, 6))
def slices_many(rng, x):
    y = conv(rng, x, 12)
    return (y[:, ::-1][:, :, 2:9], y[:, 3, :, :], y[:, :, -4:, 2:], y[:, 8:1:-3, ::2, ::5], tf.slice(y, (0, 1, 2, 3), (1, 7, 8, 9)),
            tf.strided_slice(y, (0, 0, 0, 4), (1, 9, 12, 12), (1, 1, 1, 4)))


@network((1, 8, 9, 12))
def splits(rng, x):
    a, b, c = tf.split(conv(rng, x, 12), [3, 4, 5], 3)
    d, e = tf.split(conv(rng, x, 4), [2, 6], 1)
    return tf.concat([c, a], 3), conv(rng, b, 4), d * 2.0, tf.concat([e, d], 1)


@network((1, 6, 8, 4), (1, 6, 8, 4), (1, 6, 8, 4))
def concats(rng, a, b, c):
    return tf.concat([a, b, c], 1), tf.concat([a * 3.0, b], 2), tf.concat([c, conv(rng, a, 5)], 3)


@network((1, 4, 6, 8))
def pack_unpack(rng, x):
    parts = tf.unstack(conv(rng, x, 8), axis=1)
    return tf.stack(list(reversed(parts)), 2), tf.stack([tf.reduce_max(part, 2) for part in parts], 1)


@network((1, 6, 7, 8))
def reshapes(rng, x):
    y = tf.squeeze(conv(rng, x, 8), 0)
    return tf.reshape(tf.expand_dims(y, 1) + 1.0, (7, 6, 8)), tf.reshape(tf.nn.max_pool2d(x, 2, 2, "VALID"), (1, -1))


for name, a, b, adj_x, adj_y in (("", (1, 5, 6), (1, 6, 7), False, False), ("_adj_x", (1, 6, 5), (1, 6, 7), True, False),
                                 ("_adj_y", (1, 5, 6), (1, 7, 6), False, True), ("_adj_both", (1, 6, 5), (1, 7, 6), True, True),
                                 ("_heads", (1, 3, 5, 8), (1, 3, 8, 9), False, False), ("_heads_adj_y", (1, 3, 5, 8), (1, 3, 9, 8), False, True),
                                 ("_one_row", (1, 1, 16), (1, 16, 12), False, False), ("_wide", (1, 20, 40), (1, 40, 33), False, False)):
    def product(rng, a, b, adj_x=adj_x, adj_y=adj_y):
        return tf.raw_ops.BatchMatMulV2(x=a, y=b, adj_x=adj_x, adj_y=adj_y)
    product.__name__ = "batch_matmul" + name
    network(a, b)(product)


@network((1, 3, 5, 8))
def batch_matmul_constant(rng, x):
    return tf.matmul(x, rng.normal(0, 0.3, (1, 3, 8, 6)).astype(np.float32))


@network((1, 12, 16))
def multi_head_attention(rng, x):
    flat = tf.reshape(x, (12, 16))
    q, k, v = (tf.transpose(tf.reshape(dense(rng, flat, 16), (1, 12, 4, 4)), (0, 2, 1, 3)) for _ in range(3))
    y = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.5), v)
    y = tf.reshape(tf.transpose(y, (0, 2, 1, 3)), (12, 16))
    return tf.reshape(flat + dense(rng, y, 16), (1, 12, 16))


@network((1, 8, 6, 16))
def instance_norm(rng, x):
    mean = tf.reduce_mean(x, (1, 2), keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), (1, 2), keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-3) * rng.uniform(0.5, 2, 16).astype(np.float32)


@network((1, 9, 10, 8))
def depthwise_kinds(rng, x):
    weights = rng.normal(0, 0.3, (3, 3, 8, 2)).astype(np.float32)
    return (tf.nn.depthwise_conv2d(x, weights, (1, 1, 1, 1), "SAME"), depthwise(rng, x, 7), depthwise(rng, x, 3, 2, "VALID"),
            depthwise(rng, x, 3, 1, "SAME", 3), depthwise(rng, x, 3, 3))


@network((1, 9, 10, 1))
def depthwise_of_one(rng, x):
    return tf.nn.depthwise_conv2d(x, rng.normal(0, 0.3, (3, 3, 1, 12)).astype(np.float32), (1, 2, 2, 1), "SAME")


@network((1, 64, 8))
def convolutions_1d(rng, x):
    for channels, size, stride in ((12, 5, 1), (16, 3, 2), (16, 9, 4)):
        weights = rng.normal(0, 0.2, (size, x.shape[-1], channels)).astype(np.float32)
        x = tf.nn.relu(tf.nn.conv1d(x, weights, stride, "SAME"))
    return tf.reduce_mean(x, 1)


@network((1, 8, 8, 256))
def heavy_weights(rng, x):
    return conv(rng, conv(rng, conv(rng, x, 384, 1), 96, 3), 520, 1)


@network((1, 700))
def heavy_dense(rng, x):
    return dense(rng, tf.nn.relu(dense(rng, x, 513)), 300)


@network((1, 96, 96, 3))
def large_maps(rng, x):
    x = conv(rng, x, 16, 3, 2)
    for channels in (24, 32, 40):
        y = depthwise(rng, conv(rng, x, 4 * channels, 1), 3)
        x = conv(rng, y, channels, 1, relu=False)
    return tf.reduce_mean(x, (1, 2))


@network((1, 13, 14, 8))
def pools_more(rng, x):
    return (tf.nn.avg_pool2d(x, 7, 3, "SAME"), tf.nn.max_pool2d(x, 5, 1, "SAME"), tf.nn.avg_pool2d(x, (1, 14), 1, "VALID"),
            tf.nn.max_pool2d(x, (13, 1), 1, "VALID"), tf.nn.avg_pool2d(x, (13, 14), 1, "VALID"), tf.nn.max_pool2d(x, 3, 3, "SAME"))


@network((1, 6, 7, 8), (1, 6, 7, 8), (1, 1, 7, 1))
def arithmetic_more(rng, a, b, c):
    return (a + c, c - a, tf.nn.relu(a * c), tf.maximum(a, 0.3), tf.minimum(b, -0.1), tf.nn.relu6(a - b), tf.nn.relu(b + 1.5), a * 100.0 + b,
            tf.math.squared_difference(a, c))


@network((1, 6, 7, 8))
def broadcast_constants(rng, x):
    row, column, all_of_it = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((1, 1, 7, 1), (1, 6, 1, 8), (1, 6, 7, 8)))
    return x + row, x * column, all_of_it - x, tf.maximum(x, column)


@network((1, 5, 6, 8))
def transposes_more(rng, x):
    y = conv(rng, x, 12)
    return (tf.transpose(y, (0, 2, 3, 1)), tf.transpose(y, (0, 3, 2, 1)), tf.transpose(tf.reshape(y, (30, 12))), tf.transpose(y, (1, 0, 2, 3)))


@network((1, 4, 5, 8))
def shuffle(rng, x):
    y = conv(rng, x, 12)
    y = tf.reshape(tf.transpose(tf.reshape(y, (1, 20, 3, 4)), (0, 1, 3, 2)), (1, 4, 5, 12))
    return conv(rng, y, 8)


@network((1, 8, 8, 4))
def space_batch(rng, x):
    return tf.space_to_batch_nd(x, (2, 2), ((0, 0), (0, 0))), tf.nn.depth_to_space(x, 2)


@network((1, 6, 6, 8))
def comparisons(rng, x):
    y = conv(rng, x, 8)
    return tf.where(y > 0.3, y, x)


# The smallest that Vela gets wrong, or otherwise than TensorFlow Lite (docs/ethos-u-vela-faults.md).
@network((1, 9, 1, 1))
def fault_slice_window(rng, x):
    return conv(rng, x[:, 0:9:2], 1, (3, 1), relu=False)


@network((1, 9, 1, 1))
def fault_slice_pool(rng, x):
    return tf.nn.max_pool2d(x[:, 0:9:2], (3, 1), 1, "SAME")


@network((1, 2, 1, 1), (1, 4, 1, 1))
def fault_slice_operand(rng, y, x):
    return tf.minimum(y, x[:, ::2])


@network((1, 3, 1, 1))
def fault_slice_transpose_conv(rng, x):
    weights = rng.normal(0, 1, (2, 2, 1, 1)).astype(np.float32)
    return tf.nn.conv2d_transpose(x[:, 1:], weights, (1, 4, 2, 1), 2, "SAME")


@network((1, 2, 2, 1))
def fault_pad_stride(rng, x):
    return conv(rng, tf.pad(x, ((0, 0), (0, 1), (0, 1), (0, 0))), 1, 1, 2, "VALID", relu=False)


@network((1, 1, 1, 2))
def fault_mirror_pad(rng, x):
    return tf.pad(x, ((0, 0), (0, 0), (0, 0), (0, 1)), "SYMMETRIC")


@network((1, 2, 2, 1))
def fault_sum_axes(rng, x):
    return tf.reduce_sum(x, (1, 2))


@network((2, 3), bits=16)
def fault_sum_channels(rng, x):
    return tf.reduce_sum(x, 1)


@network((1, 1, 1, 4), (1, 1, 1, 4))
def fault_greater(rng, x, y):
    return x > y


@network((1, 1, 2, 3))
def fault_max(rng, x):
    return tf.reduce_max(x, 3)


@network((1, 2, 2, 1))
def fault_max_columns(rng, x):
    return tf.reduce_max(x, 2)


@network((1, 1, 32, 8))
def fault_sum(rng, x):
    return tf.reduce_sum(x, 3)


@network((1, 1, 1, 4))
def fault_arg_max_64(rng, x):
    return tf.cast(tf.argmax(x, 3), tf.int32)


# On an Ethos-U85: rows and columns between the windows are nobody's.
@network((1, 47, 47, 4))
def fault_pool_jobs(rng, x):
    return tf.nn.avg_pool2d(conv(rng, x, 16), 1, 2, "VALID")


@network((1, 1, 1, 32))
def fault_softmax(rng, x):
    return tf.nn.softmax(x)


# The same in 16 bits for some.
for name in ("cpu_between", "kept_over_cpu", "bilinear_2", "mirror_pad_reflect", "strided_slice", "transpose_conv_3_stride_2_same",
             "concat_two_writers", "fault_softmax", "arithmetic", "unary", "means", "softmaxes", "dilated_1d", "mlp", "pools", "residuals",
             "style_transfer", "decoder", "conv_leaky_relu", "conv_leaky_relu_above_1",
             "conv_leaky_relu_negative", "prelu_layer", "axis_1", "axis_3", "mean_wide", "slices_many", "splits",
             "concats", "pack_unpack", "batch_matmul", "batch_matmul_adj_y", "batch_matmul_heads", "multi_head_attention", "attention",
             "nearest_10_12", "nearest_20_24_half_pixel", "bilinear_to_7_9", "bilinear_to_10_24_half_pixel", "depthwise_kinds",
             "convolutions_1d", "heavy_weights", "heavy_dense", "pools_more", "arithmetic_more", "broadcast_constants", "squeeze_excite",
             "transposes", "depth_to_space", "transpose_conv_2_stride_2_same", "layer_norm", "reshapes", "rsqrt", "exp", "squared_difference", "fault_max"):
    made, shapes, _ = NETWORKS[name]
    NETWORKS[name + "_s16"] = (made, shapes, 16)

# With uint8 at their edges.
for name in ("cascade", "squeeze_excite", "strided_slice", "mirror_pad_alone", "arithmetic", "pools", "softmaxes", "prelu_layer", "concats"):
    made, shapes, _ = NETWORKS[name]
    NETWORKS[name + "_u8"] = (made, shapes, "u8")


def write(name, folder):
    function, shapes, bits = NETWORKS[name]
    seed = zlib.crc32(name.encode())
    tf.keras.utils.set_random_seed(seed)
    model = None

    def called(*tensors):
        return function(np.random.default_rng(seed), *tensors)

    if "lstm" in name:
        inputs = [tf.keras.Input(shape[1:], batch_size=shape[0]) for shape in shapes]
        model = tf.keras.Model(inputs, called(*inputs))
    if model is not None:
        converter = tf.lite.TFLiteConverter.from_keras_model(model)
    else:
        concrete = tf.function(called).get_concrete_function(*[tf.TensorSpec(shape, tf.float32) for shape in shapes])
        converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
    samples = [np.random.default_rng((seed, i, t)).normal(0, 1, shape).astype(np.float32)
               for i in range(8) for t, shape in enumerate(shapes)]
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: (samples[i:i + len(shapes)] for i in range(0, len(samples), len(shapes)))
    converter.target_spec.supported_ops = [
        tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 if bits == 16 else tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    kind = {8: tf.int8, 16: tf.int16, "u8": tf.uint8}[bits]
    converter.inference_input_type = converter.inference_output_type = kind
    made = converter.convert()
    write_beside(made, seed + 99, folder)


def write_beside(made, seed, folder):
    """A model, random inputs for it, and what its outputs are called."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.tflite").write_bytes(made)
    net = tf.lite.Interpreter(model_content=made)
    rng = np.random.default_rng(seed)
    for sample in range(2):
        for t, about in enumerate(net.get_input_details()):
            kind = np.dtype(about["dtype"])
            values = (rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, about["shape"]) if kind.kind in "iu"
                      else rng.normal(0, 1, about["shape"]))
            values.astype(kind).tofile(folder / f"in{sample}_{t}.bin")
    (folder / "meta.json").write_text(json.dumps({"outputs": [about["name"] for about in net.get_output_details()]}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--of", nargs="+", type=pathlib.Path, default=[], metavar="MODEL")
    arguments = parser.parse_args()
    for path in arguments.of:
        write_beside(path.read_bytes(), zlib.crc32(path.stem.encode()), arguments.folder / path.stem)
    for name in NETWORKS if not arguments.of else ():
        if not re.search(arguments.only, name):
            continue
        try:
            write(name, arguments.folder / name)
        except Exception as error:  # what one release of the converter refuses another takes
            print(f"{name}: {type(error).__name__}: {str(error).strip().splitlines()[0][:150] if str(error).strip() else ''}")


if __name__ == "__main__":
    main()
