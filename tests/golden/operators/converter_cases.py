"""Models of operators as TensorFlow's converter writes them for networks whose batch it left open, and for what was zero
when it measured ranges."""
import numpy as np

from tflite_writer import Cases, Model, options

VALID = 1
CASES = case = Cases()


@case
def dilated_open_batch_s8():
    """A dilated convolution over time. Three images are made of one, but the file says one of each tensor: its batch is open."""
    model = Model()
    g = model.subgraph()
    rng = np.random.default_rng(31)

    def value(*shape):
        return g.tensor(shape, np.int8, scale=0.05, zero=3, signature=[-1, *shape[1:]])

    x, apart, images, made = value(1, 12, 4), value(1, 4, 4), value(1, 1, 4, 4), value(1, 1, 3, 5)
    rows, y = value(1, 3, 5), value(1, 9, 5)
    weights = g.constant(rng.integers(-127, 128, (5, 1, 2, 4)), np.int8, scale=0.02)
    bias = g.constant(rng.integers(-500, 500, 5), np.int32, scale=0.05 * 0.02)
    block, none = g.constant([3]), g.constant([[0, 0]])
    g.op("SPACE_TO_BATCH_ND", [x, block, none], [apart], version=2)
    g.op("EXPAND_DIMS", [apart, g.constant(-3)], [images])
    g.op("CONV_2D", [images, weights, bias], [made], options("Conv2DOptions", padding=VALID, strideH=1, strideW=1), version=3)
    g.op("SQUEEZE", [made], [rows], options("SqueezeOptions", squeezeDims=[-3]))
    g.op("BATCH_TO_SPACE_ND", [rows, block, none], [y], version=2)
    g.inputs(x)
    g.outputs(y)
    return model


@case
def first_step_s16():
    """The first step of an unrolled recurrent layer: products with a state of zeros, whose measured ranges, and so scales,
    are 0 or as good as 0."""
    model = Model()
    g = model.subgraph()
    rng = np.random.default_rng(32)

    def value(scale):
        return g.tensor([1, 6], np.int16, scale=scale)

    tiny = 3.59e-43
    x, y = value(1 / 8192), value(1 / 4096)
    zeros, sum_of_zeros, gate, product = value(0.0), value(tiny), value(1 / 32768), value(tiny)
    weights = g.constant(rng.integers(-127, 128, (6, 6)), np.int8, scale=0.01)
    g.op("FILL", [g.constant([1, 6]), g.tensor([], np.int16, scale=0.0, data=0)], [zeros], version=3)
    g.op("FULLY_CONNECTED", [zeros, weights, -1], [sum_of_zeros], options("FullyConnectedOptions"), version=4)
    g.op("LOGISTIC", [x], [gate], version=3)
    g.op("MUL", [gate, sum_of_zeros], [product], options("MulOptions"), version=2)
    g.op("ADD", [product, x], [y], options("AddOptions", potScaleInt16=False), version=2)
    g.inputs(x)
    g.outputs(y)
    return model


@case
def zero_channel_s8():
    """A channel of weights that are all zero, whose scale is 0."""
    model = Model()
    g = model.subgraph()
    rng = np.random.default_rng(33)
    x, y = g.tensor([1, 5, 5, 3], np.int8, scale=0.05, zero=-4), g.tensor([1, 5, 5, 4], np.int8, scale=0.04, zero=9)
    values, scales = rng.integers(-127, 128, (4, 3, 3, 3)), np.array([0.01, 0.0, 0.02, 0.015])
    values[1] = 0
    weights = g.constant(values, np.int8, scale=scales)
    bias = g.constant([100, 0, -300, 50], np.int32, scale=0.05 * scales)
    g.op("CONV_2D", [x, weights, bias], [y], options("Conv2DOptions", padding=0, strideH=1, strideW=1), version=3)
    g.inputs(x)
    g.outputs(y)
    return model


@case
def whole_numbers_i64():
    """What decoders compute of places of 64 bits, as tf.argmax has them: rows and columns, wrapped ones, the farthest and their sum."""
    model = Model()
    g = model.subgraph()
    scores = g.tensor([2, 3, 12])

    def places(*shape):
        return g.tensor(shape, np.int64)

    def known(value):
        return g.constant(value, np.int64)

    best, column, less, moved, scaled, most, total = (*(places(2, 3) for _ in range(5)), places(2), places(2))
    g.op("ARG_MAX", [scores, g.constant(2)], [best], options("ArgMaxOptions", outputType=4))
    g.op("FLOOR_MOD", [best, known(4)], [column])
    g.op("SUB", [best, column], [less], options("SubOptions"))
    g.op("ADD", [less, known([7, -9, 1 << 30])], [moved], options("AddOptions"))
    g.op("MUL", [column, column], [scaled], options("MulOptions"))
    g.op("REDUCE_MAX", [moved, g.constant([1])], [most], options("ReducerOptions", keepDims=False))
    g.op("SUM", [scaled, g.constant([1])], [total], options("ReducerOptions", keepDims=False))
    g.inputs(scores)
    g.outputs(best, moved, most, total)
    return model
