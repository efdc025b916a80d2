"""Random operators whose weights are narrower than their activations: int8 beside floats, as converters quantise "dynamically", and int4."""
import numpy as np
from operators import F32, I8, SAME, VALID, activation, operator, window_extent
from tflite_writer import INT4, options


def weights_and_bias(d, shape, channels, axis, terms, per_channel=True):
    """int8 weights on scales of their own, and a bias of floats."""
    scales = [d.scale(0.002, 0.02) for _ in range(channels if per_channel else 1)]
    weights = d.g.constant(d.rng.integers(-127, 128, shape), I8, scale=scales, zero=0, axis=axis)
    return weights, d.g.constant(d.values([channels], F32), F32)


@operator("CONV_2D:hybrid", "DEPTHWISE_CONV_2D:hybrid")
def window(d, name):
    depthwise = name.startswith("DEPTHWISE")
    kh, kw, stride, padding = d.whole(1, 4), d.whole(1, 4), d.whole(1, 2), d.pick(SAME, VALID)
    h, w, c = max(d.extent(9), kh), max(d.extent(9), kw), d.extent(9)
    channels = c * d.pick(1, 1, 2) if depthwise else d.extent(10)
    shape, axis = ([1, kh, kw, channels], 3) if depthwise else ([channels, kh, kw, c], 0)
    weights, bias = weights_and_bias(d, shape, channels, axis, kh * kw * c)
    batches = d.pick(1, 1, 2)
    x = d.g.tensor([batches, h, w, c], F32)
    y = d.g.tensor([batches, window_extent(h, kh, stride, 1, padding), window_extent(w, kw, stride, 1, padding), channels], F32)
    common = dict(padding=padding, strideH=stride, strideW=stride, fusedActivationFunction=activation(d))
    if depthwise:
        d.g.op("DEPTHWISE_CONV_2D", [x, weights, bias], [y],
               options("DepthwiseConv2DOptions", depthMultiplier=channels // c, dilationHFactor=1, dilationWFactor=1, **common), 6)
    else:
        d.g.op("CONV_2D", [x, weights, bias], [y], options("Conv2DOptions", dilationHFactor=1, dilationWFactor=1, **common), 5)
    return d.done([x], [y])


@operator("FULLY_CONNECTED:hybrid")
def dense(d, name):
    depth, channels, rows = d.extent(40), d.extent(20), d.whole(1, 3)
    per_channel = d.chance(50)
    weights, bias = weights_and_bias(d, [channels, depth], channels, 0, depth, per_channel)
    x, y = d.g.tensor([rows, depth], F32), d.g.tensor([rows, channels], F32)
    d.g.op("FULLY_CONNECTED", [x, weights, bias], [y],
           options("FullyConnectedOptions", fusedActivationFunction=activation(d), asymmetricQuantizeInputs=d.chance(50)),
           12 if per_channel else 9)
    return d.done([x], [y])


@operator("BATCH_MATMUL:hybrid")
def products(d, name):
    batch, m, k, n = d.whole(1, 3), d.extent(8), d.extent(20), d.extent(8)
    transposed = bool(d.chance(50))
    x, y = d.g.tensor([batch, m, k], F32), d.g.tensor([batch, m, n], F32)
    weights = d.g.constant(d.rng.integers(-127, 128, [batch, n, k] if transposed else [batch, k, n]), I8, scale=d.scale(0.002, 0.02), zero=0)
    d.g.op("BATCH_MATMUL", [x, weights], [y], options("BatchMatMulOptions", adjY=transposed, asymmetricQuantizeInputs=d.chance(50)), 4)
    return d.done([x], [y])


@operator("EMBEDDING_LOOKUP", "EMBEDDING_LOOKUP:hybrid")
def lookup(d, name):
    rows, columns, wanted = d.whole(1, 20), d.extent(9), d.whole(1, 6)
    hybrid = name.endswith("hybrid")
    d.kind = I8 if hybrid else d.pick(I8, F32)
    q = {"scale": d.scale(0.002, 0.02), "zero": 0} if hybrid else d.quantisation()
    table = d.g.constant(d.values([rows, columns], d.kind), d.kind, **q)
    places, y = d.g.tensor([wanted], np.int32), d.g.tensor([wanted, columns], F32 if hybrid else d.kind, **({} if hybrid else q))
    d.model.range = (0, rows - 1)
    d.g.op("EMBEDDING_LOOKUP", [places, table], [y], None, 1)
    return d.done([places], [y])


@operator("CONV_2D:int4", "DEPTHWISE_CONV_2D:int4", "FULLY_CONNECTED:int4")
def halves_of_bytes(d, name):
    """int8 activations; two weights a byte."""
    d.kind = I8
    q = d.quantisation()
    kind = name.removesuffix(":int4")
    kh, kw, stride, padding = d.whole(1, 3), d.whole(1, 3), d.whole(1, 2), d.pick(SAME, VALID)
    h, w, c = max(d.extent(7), kh), max(d.extent(7), kw), d.extent(9)
    if kind == "FULLY_CONNECTED":
        c, channels = d.extent(40), d.extent(20)
        of_x, of_y, shape, axis, terms = [d.whole(1, 3), c], None, [channels, c], 0, c
        of_y = [of_x[0], channels]
    else:
        channels = c * d.pick(1, 2) if kind.startswith("DEPTHWISE") else d.extent(10)
        of_x, of_y = [1, h, w, c], [1, window_extent(h, kh, stride, 1, padding), window_extent(w, kw, stride, 1, padding), channels]
        shape, axis = ([1, kh, kw, channels], 3) if kind.startswith("DEPTHWISE") else ([channels, kh, kw, c], 0)
        terms = kh * kw * (1 if kind.startswith("DEPTHWISE") else c)
    scales = [d.scale(0.02, 0.2) for _ in range(1 if kind == "FULLY_CONNECTED" else channels)]
    weights = d.g.tensor(shape, INT4, scales, 0, data=d.rng.integers(-7, 8, shape), axis=axis)
    reach = int(127 * 7 * np.sqrt(terms))
    bias = d.g.constant(d.rng.integers(-reach, reach + 1, [channels]), np.int32, scale=[q["scale"] * s for s in scales], zero=0)
    spread = q["scale"] * max(scales) * 74 * 4 * np.sqrt(terms) * float(d.rng.uniform(0.5, 4))
    x, y = d.tensor(of_x, **q), d.tensor(of_y, scale=float(np.float32(spread / 128)), zero=d.whole(-100, 100))
    common = dict(padding=padding, strideH=stride, strideW=stride, dilationHFactor=1, dilationWFactor=1)
    made, version = {"CONV_2D": (lambda: options("Conv2DOptions", **common), 7),
                     "DEPTHWISE_CONV_2D": (lambda: options("DepthwiseConv2DOptions", depthMultiplier=channels // c, **common), 7),
                     "FULLY_CONNECTED": (lambda: options("FullyConnectedOptions"), 10)}[kind]
    d.g.op(kind, [x, weights, bias], [y], made(), version)
    return d.done([x], [y])


@operator("UNIDIRECTIONAL_SEQUENCE_RNN", "UNIDIRECTIONAL_SEQUENCE_RNN:hybrid", "RNN")
def rnn(d, name):
    hybrid, steps = name.endswith("hybrid"), d.whole(1, 5)
    batches, inputs, units = d.whole(1, 3), d.extent(9), d.extent(9)
    time_major = name != "RNN" and d.chance(40)

    def weights(shape):
        if hybrid:
            return d.g.constant(d.rng.integers(-127, 128, shape), I8, scale=d.scale(0.002, 0.008), zero=0)
        return d.g.constant(d.values(shape, F32) / np.sqrt(shape[1]), F32)

    def sequence(features):
        return [batches, features] if name == "RNN" else [steps, batches, features] if time_major else [batches, steps, features]

    x, y = d.g.tensor(sequence(inputs), F32), d.g.tensor(sequence(units), F32)
    state = d.g.tensor([batches, units], F32, variable=True)
    operands = [x, weights([units, inputs]), weights([units, units]), d.g.constant(d.values([units], F32), F32), state]
    function = d.pick(0, 1, 3, 4)
    made = options("RNNOptions", fusedActivationFunction=function) if name == "RNN" else options(
        "SequenceRNNOptions", timeMajor=bool(time_major), fusedActivationFunction=function, asymmetricQuantizeInputs=hybrid and d.chance(50))
    d.g.op(name.removesuffix(":hybrid"), operands, [y], made, 3 if hybrid else 1)
    return d.done([x], [y])


@operator("BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM:hybrid", "UNIDIRECTIONAL_SEQUENCE_LSTM:hybrid")
def lstm(d, name):
    hybrid, both = name.endswith("hybrid"), name.startswith("BI")
    batches, steps, inputs, units = d.whole(1, 3), d.whole(1, 5), d.extent(9), d.extent(9)
    time_major = bool(d.chance(40))

    def weights(shape):
        if hybrid:
            return d.g.constant(d.rng.integers(-127, 128, shape), I8, scale=d.scale(0.002, 0.008), zero=0)
        return d.g.constant(d.values(shape, F32) / np.sqrt(shape[1]), F32)

    def direction():
        return ([weights([units, inputs]) for _ in range(4)] + [weights([units, units]) for _ in range(4)] + [-1] * 3
                + [d.g.constant(d.values([units], F32), F32) for _ in range(4)] + [-1] * 2)

    def states():
        return [d.g.tensor([batches, units], F32, variable=True) for _ in range(2)]

    def sequence(features):
        return [steps, batches, features] if time_major else [batches, steps, features]

    x = d.g.tensor(sequence(inputs), F32)
    if not both:
        y = d.g.tensor(sequence(units), F32)
        d.model.peers = ("LiteRT",)  # TFLite Micro takes the file and returns numbers that are none
        d.g.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x, *direction(), *states(), -1, -1, -1, -1], [y],
               options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4, timeMajor=time_major,
                       asymmetricQuantizeInputs=bool(d.chance(50))), 3)
        return d.done([x], [y])
    # LiteRT takes states of a batch behind the first from the wrong place where it merges outputs of batches first.
    merged = bool(d.chance(50)) and (time_major or batches == 1)
    outputs = [d.g.tensor(sequence(2 * units), F32)] if merged else [d.g.tensor(sequence(units), F32) for _ in range(2)]
    # Optional normalisation of layers has no place in this operator: after the weights of both come their states, then a second input.
    d.g.op("BIDIRECTIONAL_SEQUENCE_LSTM", [x, *direction(), *direction(), *states(), *states(), *[-1] * 9], outputs,
           options("BidirectionalSequenceLSTMOptions", fusedActivationFunction=4, timeMajor=time_major, mergeOutputs=merged,
                   asymmetricQuantizeInputs=hybrid and bool(d.chance(50))), 3 if hybrid else 1)
    return d.done([x], outputs)
