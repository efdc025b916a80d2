"""The smallest that Vela gets wrong, or otherwise than TensorFlow Lite (docs/ethos-u-vela-faults.md)."""
import numpy as np
import tensorflow as tf

from vela_networks.registered import conv, network


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
