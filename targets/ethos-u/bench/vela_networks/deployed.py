"""What people deploy: recurrent networks, decoders, detectors, attention, other resamplings."""
import numpy as np
import tensorflow as tf

from vela_networks.registered import conv, dense, depthwise, network


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
