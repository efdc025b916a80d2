"""Several ethos-u operators with CPU operators between, and heads of several scales."""
import tensorflow as tf

from vela_networks.registered import conv, network, on_cpu


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
