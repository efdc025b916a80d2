"""Random operators that few networks have: volumes, sparse and diagonal matrices, segments, bits, and sequences turned round."""
import numpy as np
from operators import F32, I8, I16, SAME, VALID, activation, broadcast, operator, window_extent
from tflite_writer import options

I32, I64 = np.int32, np.int64


@operator("RELU_N1_TO_1", "RELU_0_TO_1", "SIGN")
def curve(d, name):
    d.kind = F32 if name != "RELU_0_TO_1" or d.chance(50) else I8
    shape, q = d.shape(1, 4, 7), d.quantisation()
    x, y = d.tensor(shape, **q), d.tensor(shape, **q)
    d.g.op(name, [x], [y])
    return d.done([x], [y])


@operator("ATAN2")
def angle(d):
    shape = d.shape(1, 4, 7)
    inputs, y = [d.g.tensor(shape, F32), d.g.tensor(shape, F32)], d.g.tensor(shape, F32)
    d.g.op("ATAN2", inputs, [y])
    return d.done(inputs, [y])


@operator("LOCAL_RESPONSE_NORMALIZATION")
def neighbours(d):
    shape = d.shape(4, 4, 9)
    x, y = d.g.tensor(shape, F32), d.g.tensor(shape, F32)
    d.g.op("LOCAL_RESPONSE_NORMALIZATION", [x], [y],
           options("LocalResponseNormalizationOptions", radius=d.whole(1, 5), bias=float(d.rng.uniform(0.5, 2)),
                   alpha=float(d.rng.uniform(0.1, 1)), beta=d.pick(0.5, 0.75, 1.0)))
    d.model.deployed = True  # LiteRT's reference kernel leaves out the last neighbour, which TensorFlow and its other kernel have
    return d.done([x], [y])


@operator("CONV_3D", "CONV_3D_TRANSPOSE")
def volume(d, name):
    kernel, stride, padding = [d.whole(1, 3) for _ in range(3)], [d.whole(1, 2) for _ in range(3)], d.pick(SAME, VALID)
    size = [max(d.whole(1, 5), k) for k in kernel]
    c, channels, transposed = d.whole(1, 5), d.whole(1, 5), name.endswith("TRANSPOSE")
    shape = [*kernel, channels, c] if transposed else [*kernel, c, channels]
    weights = d.g.constant(d.values(shape, F32) / np.sqrt(c * np.prod(kernel)), F32)
    batches = d.pick(1, 1, 2)
    if transposed:
        out = [n * s if padding == SAME else n * s + max(k - s, 0) for n, s, k in zip(size, stride, kernel)]
    else:
        out = [window_extent(n, k, s, 1, padding) for n, k, s in zip(size, kernel, stride)]
    x, y = d.g.tensor([batches, *size, c], F32), d.g.tensor([batches, *out, channels], F32)
    operands = [d.g.constant([batches, *out, channels]), weights, x] if transposed else [x, weights]
    if d.chance(60):
        operands.append(d.g.constant(d.values([channels], F32), F32))
    d.g.op(name, operands, [y], options("Conv3DOptions", padding=padding, strideD=stride[0], strideH=stride[1], strideW=stride[2],
                                        fusedActivationFunction=0 if transposed else activation(d)))
    return d.done([x], [y])


@operator("SPARSE_TO_DENSE")
def scattered(d):
    shape = d.shape(1, 3, 6)
    places = sorted({tuple(d.whole(0, n - 1) for n in shape) for _ in range(d.whole(1, 6))})
    kind = d.pick(F32, I32, I8)
    many = d.chance(70)
    values, y = d.g.tensor([len(places)] if many else [], kind), d.g.tensor(shape, kind)
    indices = d.g.constant([p[0] for p in places] if len(shape) == 1 and d.chance(50) else [list(p) for p in places])
    d.g.op("SPARSE_TO_DENSE", [indices, d.g.constant(shape), values, d.g.constant(d.pick(0, 3), kind)], [y],
           options("SparseToDenseOptions", validateIndices=True), 3)
    return d.done([values], [y])


@operator("REVERSE_SEQUENCE")
def turned(d):
    shape = d.shape(2, 4, 6)
    axes = [int(i) for i in d.rng.permutation(len(shape))[:2]]
    kind = d.pick(F32, I32, I16)
    lengths = d.g.constant([d.whole(1, shape[axes[0]]) for _ in range(shape[axes[1]])], d.pick(I32, I64))
    x, y = d.g.tensor(shape, kind), d.g.tensor(shape, kind)
    d.g.op("REVERSE_SEQUENCE", [x, lengths], [y], options("ReverseSequenceOptions", seqDim=axes[0], batchDim=axes[1]))
    return d.done([x], [y])


@operator("MATRIX_DIAG", "MATRIX_SET_DIAG")
def diagonal(d, name):
    outer, kind = d.shape(0, 2, 4), d.pick(F32, I32, I8)
    if name == "MATRIX_DIAG":
        n = d.whole(1, 6)
        x, y = d.g.tensor([*outer, n], kind), d.g.tensor([*outer, n, n], kind)
        d.g.op(name, [x], [y])
        return d.done([x], [y])
    rows, columns = d.whole(1, 6), d.whole(1, 6)
    x, line = d.g.tensor([*outer, rows, columns], kind), d.g.tensor([*outer, min(rows, columns)], kind)
    y = d.g.tensor([*outer, rows, columns], kind)
    d.g.op(name, [x, line], [y])
    return d.done([x, line], [y])


@operator("SEGMENT_SUM", "UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN")
def segments(d, name):
    shape, kind = d.shape(1, 3, 6), d.pick(F32, I32)
    ids = np.sort(d.rng.integers(0, 4, shape[0]))
    d.model.range = (-9, 9)
    x = d.g.tensor(shape, kind)
    if name == "SEGMENT_SUM":
        ids = np.unique(ids, return_inverse=True)[1]
        y = d.g.tensor([int(ids[-1]) + 1, *shape[1:]], kind)
        d.g.op(name, [x, d.g.constant(ids)], [y])
    else:
        ids, count = d.rng.permutation(ids), 4
        y = d.g.tensor([count, *shape[1:]], kind)
        d.g.op(name, [x, d.g.constant(ids), d.g.constant(count)], [y])
    return d.done([x], [y])


@operator("BITWISE_XOR", "RIGHT_SHIFT")
def bits(d, name):
    kind, shape = d.pick(np.int8, np.uint8, np.int16, I32), d.shape(1, 4, 6)
    y = d.g.tensor(shape, kind)
    a = d.g.tensor(shape, kind)
    if name == "RIGHT_SHIFT":
        d.g.op(name, [a, d.g.constant(d.rng.integers(0, 7, shape), kind)], [y])
        return d.done([a], [y])
    b = d.g.tensor(broadcast(d, shape), kind)
    d.g.op(name, [a, b], [y])
    return d.done([a, b], [y])


@operator("SELECT")
def select(d):
    shape, q = d.shape(), d.quantisation()
    condition = d.g.tensor(shape if d.chance(60) else shape[:1], np.bool_)
    a, b, y = d.tensor(shape, **q), d.tensor(shape, **q), d.tensor(shape, **q)
    d.g.op("SELECT", [condition, a, b], [y], options("SelectOptions"))
    return d.done([condition, a, b], [y])


@operator("FAKE_QUANT")
def fake_quant(d):
    shape = d.shape(1, 4, 7)
    x, y = d.g.tensor(shape, F32), d.g.tensor(shape, F32)
    d.g.op("FAKE_QUANT", [x], [y], options("FakeQuantOptions", min=-float(d.rng.uniform(0.1, 2)), max=float(d.rng.uniform(0.1, 2)),
                                           numBits=d.pick(8, 8, 4, 16)), 2)
    return d.done([x], [y])


@operator("DEQUANTIZE")
def dequantize(d):
    kind, shape = d.pick(I8, np.uint8, I16), d.shape(1, 3, 9)
    x, y = d.tensor(shape, kind, **d.quantisation(kind)), d.g.tensor(shape, F32)
    d.g.op("DEQUANTIZE", [x], [y], None, 3 if kind is I16 else 2)
    return d.done([x], [y])


@operator("BUCKETIZE")
def buckets(d):
    shape, kind = d.shape(1, 3, 9), d.pick(F32, I32)
    d.model.range = (-9, 9)
    x, y = d.g.tensor(shape, kind), d.g.tensor(shape, I32)
    limits = sorted(float(np.float32(v)) for v in d.rng.uniform(-4, 4, d.whole(1, 6)))
    d.g.op("BUCKETIZE", [x], [y], options("BucketizeOptions", boundaries=limits))
    return d.done([x], [y])


@operator("RFFT2D")
def spectrum(d):
    rows, columns, outer = 2 ** d.whole(0, 3), 2 ** d.whole(1, 5), d.shape(0, 1, 3)
    x = d.g.tensor([*outer, rows, columns], F32)
    complex_values = d.g.tensor([*outer, rows, columns // 2 + 1], 8)
    y = d.g.tensor([*outer, rows, columns // 2 + 1], F32)
    d.g.op("RFFT2D", [x, d.g.constant([rows, columns])], [complex_values], options("Rfft2dOptions"))
    d.g.op(d.pick("COMPLEX_ABS", "REAL", "IMAG"), [complex_values], [y])
    return d.done([x], [y])


@operator("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
def suppression(d, name):
    boxes, most = d.whole(1, 12), d.whole(1, 6)
    corner = d.values([boxes, 2], F32)
    places = d.g.constant(np.concatenate([corner, corner + np.abs(d.values([boxes, 2], F32)) + 0.1], 1), F32)
    scores = d.g.tensor([boxes], F32)
    operands = [places, scores, d.g.constant(most), d.g.constant(float(d.rng.uniform(0.1, 0.8)), F32),
                d.g.constant(float(d.rng.uniform(-1, 1)), F32)]
    selected, valid = d.g.tensor([most], I32), d.g.tensor([], I32)
    outputs = [selected, valid]
    if name.endswith("5"):
        operands.append(d.g.constant(d.pick(0.0, 0.5), F32))
        outputs = [selected, d.g.tensor([most], F32), valid]
    d.g.op(name, operands, outputs)
    return d.done([scores], outputs)


@operator("DILATE")
def dilate(d):
    shape = d.shape(1, 4, 5)
    steps, kind = [d.whole(1, 3) for _ in shape], d.pick(F32, I32, I8)
    x, y = d.g.tensor(shape, kind), d.g.tensor([(n - 1) * s + 1 for n, s in zip(shape, steps)], kind)
    d.g.op("DILATE", [x, d.g.constant(steps), d.g.constant(d.pick(0, 1), kind)], [y])
    return d.done([x], [y])


@operator("ADD:int32", "SUB:int32", "MUL:int32", "DIV:int32", "MINIMUM:int32", "MAXIMUM:int32", "ADD:int64", "SUB:int64", "MUL:int64")
def whole_numbers(d, name):
    name, kind = name.split(":")
    kind = getattr(np, kind)
    shape = d.shape(1, 5, 5)
    d.model.range = (1, 1000) if name == "DIV" else (-1000, 1000)
    a, b, y = d.g.tensor(shape, kind), d.g.tensor(broadcast(d, shape), kind), d.g.tensor(shape, kind)
    named = "MaximumMinimumOptions" if name in ("MINIMUM", "MAXIMUM") else name.capitalize() + "Options"
    d.g.op(name, [a, b], [y], options(named), 1)
    return d.done([a, b], [y])


@operator("TRANSPOSE:many", "STRIDED_SLICE:many", "ADD:many", "MUL:many", "SUB:many")
def many_axes(d, name):
    """Of five and six axes."""
    from operators import OPERATORS
    plain, shape = name.removesuffix(":many"), d.shape
    d.shape = lambda least=1, most=4, extent=6: shape(5, 6 if plain == "TRANSPOSE" else 5, 4)
    function = OPERATORS[plain]
    return function(d, plain) if function.__code__.co_argcount == 2 else function(d)
