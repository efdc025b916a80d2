"""What networks are written with, and the table of those that are there."""
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
