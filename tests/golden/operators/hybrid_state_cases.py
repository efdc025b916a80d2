"""Float activations on integer weights: transposed convolutions and operators with state. make_litert_cases.py runs them."""
import numpy as np
from tflite_writer import Cases, Model, options

SAME, VALID = 0, 1
TANH = 4
CASES = case = Cases()


def weights(g, rng, shape, scale=0.02, axis=0, per_channel=False):
    scales = rng.uniform(scale / 2, scale, shape[axis]).astype(np.float32) if per_channel else [scale]
    return g.constant(rng.integers(-127, 128, shape), np.int8, scale=scales, axis=axis)


def transposed(seed, stride, out, padding, bias, activation=0):
    model = Model()
    g = model.subgraph()
    rng = np.random.default_rng(seed)
    x, y = g.tensor([2, 5, 4, 3]), g.tensor([2, *out, 6])
    kernel = weights(g, rng, [6, 3, 3, 3], per_channel=True)
    offsets = [g.constant(rng.uniform(-1, 1, 6), np.float32)] if bias else []
    g.op("TRANSPOSE_CONV", [g.constant([2, *out, 6]), kernel, x, *offsets], [y],
         options("TransposeConvOptions", padding=padding, strideH=stride, strideW=stride,
                 fusedActivationFunction=activation), version=5 if activation else 3)
    g.inputs(x)
    g.outputs(y)
    return model


@case
def hybrid_transpose_conv_same():
    return transposed(21, 2, [10, 8], SAME, True)


@case
def hybrid_transpose_conv_valid():
    return transposed(22, 2, [11, 9], VALID, False)


def svdf(seed, batches, rank, asymmetric, bias):
    model = Model()
    g = model.subgraph()
    rng = np.random.default_rng(seed)
    units, inputs, memory = 4, 7, 5
    filters = units * rank
    x, y = g.tensor([batches, inputs]), g.tensor([batches, units])
    features = weights(g, rng, [filters, inputs])
    time = weights(g, rng, [filters, memory])
    offsets = g.constant(rng.uniform(-1, 1, units), np.float32) if bias else -1
    state = g.tensor([batches, filters * memory], variable=True)
    g.op("SVDF", [x, features, time, offsets, state], [y],
         options("SVDFOptions", rank=rank, asymmetricQuantizeInputs=asymmetric,
                 fusedActivationFunction=1 if bias else 0), version=4 if asymmetric else 2)
    g.inputs(x)
    g.outputs(y)
    model.invocations = 7
    return model


@case
def hybrid_svdf():
    return svdf(23, 1, 2, False, True)


@case
def hybrid_svdf_asymmetric():
    return svdf(24, 2, 1, True, False)


def lstm(seed, batches, steps, time_major, asymmetric, clip=0.0):
    model = Model()
    g = model.subgraph()
    rng = np.random.default_rng(seed)
    inputs, units = 5, 6
    order = (lambda b, t, n: [t, b, n]) if time_major else (lambda b, t, n: [b, t, n])
    x, y = g.tensor(order(batches, steps, inputs)), g.tensor(order(batches, steps, units))
    of_input = [weights(g, rng, [units, inputs], 0.006 + 0.002 * i) for i in range(4)]
    of_state = [weights(g, rng, [units, units], 0.007 + 0.001 * i) for i in range(4)]
    biases = [g.constant(rng.uniform(-0.5, 0.5, units), np.float32) for _ in range(4)]
    states = [g.tensor([batches, units], variable=True) for _ in range(2)]
    g.op("UNIDIRECTIONAL_SEQUENCE_LSTM",
         [x, *of_input, *of_state, -1, -1, -1, *biases, -1, -1, *states, -1, -1, -1, -1], [y],
         options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=TANH, cellClip=clip, timeMajor=time_major,
                 asymmetricQuantizeInputs=asymmetric), version=3)
    g.inputs(x)
    g.outputs(y)
    model.invocations = 3
    return model


@case
def hybrid_lstm():
    return lstm(25, 1, 6, False, True)


@case
def hybrid_lstm_symmetric_batches():
    return lstm(26, 3, 4, False, False, clip=0.6)


@case
def hybrid_lstm_time_major():
    return lstm(27, 2, 5, True, True)
