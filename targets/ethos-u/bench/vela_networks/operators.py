"""Of each kind of operator a few forms: resampling, slices, convolutions, pools, reductions, elements."""
import numpy as np
import tensorflow as tf

from vela_networks.registered import conv, dense, depthwise, network

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
