#!/usr/bin/env python3
"""Makes the cases of this folder that TFLite Micro does not run: models of one or a few operators, and what the reference
kernels of LiteRT compute for them. Needs the packages of ../requirements.txt.

    python3 make_litert_cases.py            # writes every case beside this file
    python3 make_litert_cases.py --check    # makes them again elsewhere: are the bytes the same?
"""
import json
import pathlib
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tflite_writer import KINDS, TYPE_NAMES, Model, flexible, fresh, options, run_script  # noqa: E402

import converter_cases  # noqa: E402
import hybrid_state_cases  # noqa: E402
import placing_cases  # noqa: E402
import sequence_cases  # noqa: E402
import sparse_cases  # noqa: E402
import unsigned_cases  # noqa: E402
import whole_cases  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SAME, VALID = 0, 1
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def rng_of(name):
    return np.random.default_rng(sum(map(ord, name)))


def random_values(rng, tensor):
    shape, kind = tuple(tensor.shape), KINDS[tensor.type]
    if kind is np.float32:
        return rng.uniform(-3, 3, shape).astype(np.float32)
    if kind is np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if kind in (np.int32, np.int64):
        return rng.integers(-20, 20, shape).astype(kind)
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max + 1, shape).astype(kind)


# ---- float16 constants, as the converter writes them ----


def halves(g, values, shape):
    """A float16 constant behind a DEQUANTIZE."""
    half = g.constant(np.asarray(values).reshape(shape), np.float16)
    real = g.tensor(shape)
    g.op("DEQUANTIZE", [half], [real], version=3)
    return real


@case
def float16_network():
    model = Model()
    g = model.subgraph()
    rng = rng_of("float16_network")
    x, y, flat, z = g.tensor([1, 5, 4, 2]), g.tensor([1, 3, 2, 3]), g.tensor([1, 18]), g.tensor([1, 4])
    weights = halves(g, rng.uniform(-1, 1, 54), [3, 3, 3, 2])
    # Subnormal halves among them.
    bias = halves(g, [0.5, 3e-7, -6e-5], [3])
    dense = halves(g, rng.uniform(-1, 1, 72), [4, 18])
    g.op("CONV_2D", [x, weights, bias], [y], options("Conv2DOptions", padding=SAME, strideH=2, strideW=2,
                                                     fusedActivationFunction=1))
    g.op("RESHAPE", [y, g.constant([1, 18])], [flat], options("ReshapeOptions", newShape=[1, 18]))
    g.op("FULLY_CONNECTED", [flat, dense, -1], [z], options("FullyConnectedOptions"))
    g.inputs(x)
    g.outputs(z)
    return model


# ---- integer weights, float activations ----


def weights_of(g, rng, shape, channels, axis, per_channel=True):
    values = rng.integers(-127, 128, shape)
    scale = rng.uniform(0.005, 0.03, channels).astype(np.float32) if per_channel else [0.02]
    return g.constant(values, np.int8, scale=scale, axis=axis)


def hybrid_conv(name, per_channel, stride=1, dilation=1, padding=SAME, batch=2):
    model = Model()
    g = model.subgraph()
    rng = rng_of(name)
    x = g.tensor([batch, 6, 7, 3])
    weights = weights_of(g, rng, (4, 3, 3, 3), 4, 0, per_channel)
    bias = g.constant(rng.uniform(-1, 1, 4), np.float32)
    extent = [(-(-n // stride) if padding == SAME else (n - 2 * dilation - 1) // stride + 1) for n in (6, 7)]
    y = g.tensor([batch, *extent, 4])
    g.op("CONV_2D", [x, weights, bias], [y],
         options("Conv2DOptions", padding=padding, strideH=stride, strideW=stride, dilationHFactor=dilation,
                 dilationWFactor=dilation, fusedActivationFunction=1), version=5)
    g.inputs(x)
    g.outputs(y)
    return model


@case
def hybrid_conv_per_tensor():
    return hybrid_conv("a", False)


@case
def hybrid_conv_per_channel():
    return hybrid_conv("b", True, stride=2)


@case
def hybrid_conv_dilated():
    return hybrid_conv("c", True, dilation=2, padding=VALID)


@case
def hybrid_depthwise():
    model = Model()
    g = model.subgraph()
    rng = rng_of("hybrid_depthwise")
    x, y = g.tensor([2, 6, 7, 3]), g.tensor([2, 3, 4, 6])
    weights = weights_of(g, rng, (1, 3, 3, 6), 6, 3)
    bias = g.constant(rng.uniform(-1, 1, 6), np.float32)
    g.op("DEPTHWISE_CONV_2D", [x, weights, bias], [y],
         options("DepthwiseConv2DOptions", padding=SAME, strideH=2, strideW=2, depthMultiplier=2,
                 fusedActivationFunction=3), version=6)
    g.inputs(x)
    g.outputs(y)
    return model


def hybrid_dense(name, per_channel, asymmetric, bias=True):
    """Two layers on one input, one of them of rows that stay rows."""
    model = Model()
    g = model.subgraph()
    rng = rng_of(name)
    x, y, z = g.tensor([2, 3, 11]), g.tensor([6, 5]), g.tensor([2, 3, 4])
    for out, filters, keeps in ((y, 5, False), (z, 4, True)):
        weights = weights_of(g, rng, (filters, 11), filters, 0, per_channel)
        offsets = g.constant(rng.uniform(-1, 1, filters), np.float32) if bias else -1
        g.op("FULLY_CONNECTED", [x, weights, offsets], [out],
             options("FullyConnectedOptions", asymmetricQuantizeInputs=asymmetric, keepNumDims=keeps), version=9)
    g.inputs(x)
    g.outputs(y, z)
    return model


@case
def hybrid_dense_symmetric():
    return hybrid_dense("d", False, False)


@case
def hybrid_dense_asymmetric():
    return hybrid_dense("e", False, True)


@case
def hybrid_dense_per_channel():
    return hybrid_dense("f", True, True, bias=False)


@case
def hybrid_dense_of_zeros():
    """Rows of zeros have no range."""
    model = hybrid_dense("g", False, True)
    values = np.zeros((2, 3, 11), np.float32)
    values[1, 1, 4] = -2
    model.values = [values]
    return model


@case
def hybrid_batch_matmul():
    """A matrix as it is and one that is transposed, both of them constant."""
    model = Model()
    g = model.subgraph()
    rng = rng_of("hybrid_batch_matmul")
    x, y, z = g.tensor([2, 3, 7]), g.tensor([2, 3, 5]), g.tensor([2, 3, 4])
    plain = weights_of(g, rng, (7, 5), 5, 1)
    turned = weights_of(g, rng, (4, 7), 4, 0, False)
    g.op("BATCH_MATMUL", [x, plain], [y], options("BatchMatMulOptions"), version=3)
    g.op("BATCH_MATMUL", [x, turned], [z], options("BatchMatMulOptions", adjY=True, asymmetricQuantizeInputs=True),
         version=3)
    g.inputs(x)
    g.outputs(y, z)
    return model


@case
def hybrid_batch_matmul_matrices():
    """By a constant matrix for each of the batch: as it is, and transposed with inputs that have zero points."""
    model = Model()
    g = model.subgraph()
    rng = rng_of("hybrid_batch_matmul_matrices")
    x, y, z = g.tensor([1, 3, 2, 7]), g.tensor([1, 3, 2, 5]), g.tensor([1, 3, 2, 4])
    plain = weights_of(g, rng, (1, 3, 7, 5), 5, 3, False)
    turned = weights_of(g, rng, (1, 3, 4, 7), 4, 2, False)
    g.op("BATCH_MATMUL", [x, plain], [y], options("BatchMatMulOptions"), version=3)
    g.op("BATCH_MATMUL", [x, turned], [z], options("BatchMatMulOptions", adjY=True, asymmetricQuantizeInputs=True), version=3)
    g.inputs(x)
    g.outputs(y, z)
    return model


@case
def hybrid_embedding():
    model = Model()
    g = model.subgraph()
    rows, y = g.tensor([4], np.int32), g.tensor([4, 6])
    table = weights_of(g, rng_of("hybrid_embedding"), (9, 6), 1, 0, False)
    g.op("EMBEDDING_LOOKUP", [rows, table], [y])
    g.inputs(rows)
    g.outputs(y)
    model.values = [np.array([8, 0, 3, 3], dtype=np.int32)]
    return model


# ---- others ----


def unary(code, shape, out, opts=None, kind=np.float32, quant=((None, 0), (None, 0)), constants=(), out_kind=None):
    model = Model()
    g = model.subgraph()
    x = g.tensor(shape, kind, *quant[0])
    y = g.tensor(out, out_kind or kind, *quant[1])
    g.op(code, [x, *(g.constant(values, of) for values, of in constants)], [y], opts)
    g.inputs(x)
    g.outputs(y)
    return model


@case
def relu_0_to_1_f32():
    return unary("RELU_0_TO_1", [3, 9], [3, 9])


@case
def relu_0_to_1_s8():
    return unary("RELU_0_TO_1", [3, 40], [3, 40], kind=np.int8, quant=((0.02, 7), (0.01, -30)))


@case
def one_hot_f32():
    return unary("ONE_HOT", [2, 3], [2, 5, 3], options("OneHotOptions", axis=1), np.int32,
                 constants=[(5, np.int32), (0.75, np.float32), (-2, np.float32)], out_kind=np.float32)


@case
def one_hot_of_i64():
    model = unary("ONE_HOT", [4], [4, 6], options("OneHotOptions", axis=-1), np.int64,
                  constants=[(6, np.int32), (1, np.int32), (0, np.int32)], out_kind=np.int32)
    model.values = [np.array([5, 0, 6, -1])]  # two of them outside
    return model


@case
def local_response_normalization():
    model = unary("LOCAL_RESPONSE_NORMALIZATION", [1, 3, 2, 7], [1, 3, 2, 7],
                  options("LocalResponseNormalizationOptions", radius=2, bias=0.5, alpha=0.3, beta=0.75))
    # The reference kernel leaves out the last channel that TensorFlow's definition takes.
    model.kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return model


@case
def matrix_diag_s8():
    return unary("MATRIX_DIAG", [2, 4], [2, 4, 4], options("MatrixDiagOptions"), np.int8, ((0.1, 5), (0.1, 5)))


def set_diag(rows, columns):
    model = Model()
    g = model.subgraph()
    x, values, y = g.tensor([2, rows, columns]), g.tensor([2, min(rows, columns)]), g.tensor([2, rows, columns])
    g.op("MATRIX_SET_DIAG", [x, values], [y], options("MatrixSetDiagOptions"))
    g.inputs(x, values)
    g.outputs(y)
    return model


@case
def matrix_set_diag_wide():
    return set_diag(3, 5)


@case
def matrix_set_diag_high():
    return set_diag(4, 2)


@case
def reverse_sequence():
    model = Model()
    g = model.subgraph()
    x, lengths, y = g.tensor([3, 5, 2]), g.tensor([3], np.int32), g.tensor([3, 5, 2])
    g.op("REVERSE_SEQUENCE", [x, lengths], [y], options("ReverseSequenceOptions", seqDim=1, batchDim=0))
    g.inputs(x, lengths)
    g.outputs(y)
    model.values = [np.arange(30, dtype=np.float32).reshape(3, 5, 2), np.array([3, 5, 1], dtype=np.int32)]
    return model


def top_k(shape, k, kind, quant, values, index=np.int32):
    model = Model()
    g = model.subgraph()
    x = g.tensor(shape, kind, *quant)
    y, at = g.tensor([*shape[:-1], k], kind, *quant), g.tensor([*shape[:-1], k], index)
    g.op("TOPK_V2", [x, g.constant(k)], [y, at], options("TopKV2Options"))
    g.inputs(x)
    g.outputs(y, at)
    model.values = [values.astype(kind).reshape(shape)]
    return model


@case
def top_k_f32():
    return top_k([2, 3, 11], 4, np.float32, (None, 0), rng_of("top_k_f32").uniform(-3, 3, 66))


@case
def top_k_s8():
    """Many are equal, and some the least that there is."""
    return top_k([3, 9], 7, np.int8, (0.1, 4), rng_of("top_k_s8").choice([-128, -128, 5, 7], 27))


@case
def top_k_u8():
    """Bytes without a sign, and places of 16 bits."""
    return top_k([2, 12], 5, np.uint8, (0.1, 128), rng_of("top_k_u8").integers(0, 256, 24), np.int16)


@case
def div_s8():
    """All pairs of some values, but those that divide by zero, which have no result."""
    model = Model()
    g = model.subgraph()
    a, b = g.tensor([60, 1], np.int8, 0.05, 7), g.tensor([1, 61], np.int8, 0.02, -11)
    y = g.tensor([60, 61], np.int8, 0.04, -3)
    g.op("DIV", [a, b], [y], options("DivOptions"), version=2)
    g.inputs(a, b)
    g.outputs(y)
    divisors = np.arange(-128, 128, 4)[:61]
    model.values = [np.linspace(-128, 127, 60).astype(np.int8).reshape(60, 1),
                    np.where(divisors == -11, -10, divisors).astype(np.int8).reshape(1, 61)]
    return model


@case
def div_relu_s8():
    model = Model()
    g = model.subgraph()
    a, b = g.tensor([4, 50], np.int8, 0.03, -5), g.tensor([4, 50], np.int8, 0.4, -128)
    y = g.tensor([4, 50], np.int8, 0.002, -128)
    g.op("DIV", [a, b], [y], options("DivOptions", fusedActivationFunction=1), version=2)
    g.inputs(a, b)
    g.outputs(y)
    rng = rng_of("div_relu_s8")
    model.values = [rng.integers(-128, 128, (4, 50)).astype(np.int8), rng.integers(-127, 128, (4, 50)).astype(np.int8)]
    return model


@case
def div_s16():
    """All signs, and numerators and denominators of one bit as of fifteen; of quotients of zero and near it LiteRT makes other numbers, by shifts of more than 31 bits."""
    model = Model()
    g = model.subgraph()
    a, b, y = g.tensor([8, 50], np.int16, 0.001, 0), g.tensor([8, 50], np.int16, 0.002, 0), g.tensor([8, 50], np.int16, 0.0005, 0)
    g.op("DIV", [a, b], [y], options("DivOptions"), version=2)
    g.inputs(a, b)
    g.outputs(y)
    rng = rng_of("div_s16")
    signs, bits = rng.choice([-1, 1], (2, 8, 50)), rng.integers(0, 15, (2, 8, 50))
    values = signs * (2**bits + rng.integers(0, 2**15, (2, 8, 50)) % 2**bits)
    values[0, 0, :3], values[1, 0, :3] = [5, -32768, 32767], [7, -32768, -1]
    values[0] = np.where(np.abs(values[0] / values[1]) < 0.0005, values[1], values[0])
    model.values = list(values.astype(np.int16))
    return model


def suppression(version, boxes, scores, most, overlap, least=-np.inf, sigma=0.0, given=False):
    """`given`: the limits of overlaps and scores are inputs of the model."""
    model = Model()
    g = model.subgraph()
    x, s = g.tensor(np.shape(boxes)), g.tensor(np.shape(scores))
    limits = [g.tensor([]) for _ in range(2)] if given else [g.constant(v, np.float32) for v in (overlap, least)]
    soft = [g.constant(sigma, np.float32)] if version == 5 else []
    made = [g.tensor([most], np.int32)] + [g.tensor([most])] * (version == 5) + [g.tensor([], np.int32)]
    g.op(f"NON_MAX_SUPPRESSION_V{version}", [x, s, g.constant(most), *limits, *soft], made)
    g.inputs(x, s, *(limits if given else []))
    g.outputs(*made)
    model.values = [np.float32(boxes), np.float32(scores)] + [np.float32(v) for v in ([overlap, least] if given else [])]
    return model


def random_boxes(name, count):
    """Crowded, with corners in any order, some without an area."""
    rng = rng_of(name)
    corner = rng.uniform(0, 3, (count, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(-1.5, 1.5, (count, 2))], axis=1)
    boxes[::7, 2:] = boxes[::7, :2]
    return boxes, rng.permutation(count) / count


@case
def suppression_v4():
    return suppression(4, *random_boxes("suppression_v4", 40), 12, 0.4, 0.1)


@case
def suppression_v4_few_left():
    return suppression(4, *random_boxes("suppression_v4_few_left", 9), 12, 0.2, 0.5)


@case
def suppression_v4_limits_given():
    return suppression(4, *random_boxes("suppression_v4_limits_given", 25), 5, 0.3, 0.2, given=True)


@case
def suppression_v4_at_the_limit():
    """Overlaps of exactly a half, and a score at its limit."""
    return suppression(4, [[0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 1, 4], [5, 5, 6, 6]], [0.9, 0.8, 0.7, 0.25], 4, 0.5, 0.25)


@case
def suppression_v4_any_score():
    """No limit of scores, as TensorFlow's functions have it, and fewer boxes than are wanted."""
    return suppression(4, [[0, 0, 1, 1], [0, 0, 1, 1.2], [3, 3, 4, 4]], [-0.5, 0.8, 0.7], 3, 0.5)


@case
def suppression_v5():
    return suppression(5, *random_boxes("suppression_v5", 40), 10, 0.5, 0.05)


@case
def suppression_v5_soft():
    return suppression(5, *random_boxes("suppression_v5_soft", 30), 20, 0.7, 0.2, 0.4)


@case
def sqrt_s8():
    """All inputs that have a root; LiteRT cuts off what lies between two steps."""
    model = unary("SQRT", [1, 226], [1, 226], kind=np.int8, quant=((0.009, -98), (0.0085, -70)))
    model.values = [np.arange(-98, 128, dtype=np.int8).reshape(1, -1)]
    return model


COMPLEX64 = 8


def spectrum(shape, lengths, last, moves=False):
    """Transforms of images, and what makes reals of them; `moves`: through operators that change the shape."""
    model = Model()
    g = model.subgraph()
    half = [*shape[:-2], lengths[0], lengths[1] // 2 + 1]
    x, z, y = g.tensor(shape), g.tensor(half, COMPLEX64), g.tensor(half)
    g.op("RFFT2D", [x, g.constant(lengths)], [z], options("Rfft2dOptions"))
    if moves:
        flat, again = g.tensor([half[0], half[2]], COMPLEX64), g.tensor(half, COMPLEX64)
        g.op("SQUEEZE", [z], [flat], options("SqueezeOptions", squeezeDims=[1]))
        g.op("RESHAPE", [flat, g.constant(half)], [again], options("ReshapeOptions", newShape=half))
        z = again
    g.op(last, [z], [y])
    g.inputs(x)
    g.outputs(y)
    return model


@case
def rfft2d_magnitude():
    """Frames of 200 samples in transforms of 256."""
    return spectrum([3, 1, 200], [1, 256], "COMPLEX_ABS", moves=True)


@case
def rfft2d_real():
    return spectrum([2, 5, 12], [8, 8], "REAL")


@case
def rfft2d_imaginary():
    return spectrum([64, 16], [64, 16], "IMAG")


def gelu(kind, approximate, quant=({}, {})):
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([2, 70], kind, **quant[0]), g.tensor([2, 70], kind, **quant[1])
    g.op("GELU", [x], [y], options("GeluOptions", approximate=approximate))
    g.inputs(x)
    g.outputs(y)
    return model


@case
def gelu_s8():
    return gelu(np.int8, False, (dict(scale=0.04, zero=11), dict(scale=0.03, zero=-90)))


@case
def gelu_tanh_s8():
    return gelu(np.int8, True, (dict(scale=0.03, zero=-7), dict(scale=0.025, zero=-100)))


@case
def gelu_f32():
    return gelu(np.float32, False)


@case
def gelu_tanh_f32():
    return gelu(np.float32, True)


def unary_s16(op, in_scale, out_scale, opts=None):
    """Every 23rd value of an int16."""
    model = Model()
    g = model.subgraph()
    values = np.arange(-32768, 32768, 23).astype(np.int16)
    values = values[:len(values) // 2 * 2].reshape(2, -1)
    x, y = (g.tensor(values.shape, np.int16, scale=scale) for scale in (in_scale, out_scale))
    g.op(op, [x], [y], opts)
    g.inputs(x)
    g.outputs(y)
    model.values = [values]
    return model


@case
def gelu_s16():
    return unary_s16("GELU", 9.5e-5, 9.4e-5, options("GeluOptions", approximate=False))


@case
def gelu_tanh_s16():
    return unary_s16("GELU", 3e-4, 1.5e-4, options("GeluOptions", approximate=True))


@case
def exp_s16():
    return unary_s16("EXP", 6e-5, 2e-4)


@case
def log_s16():
    return unary_s16("LOG", 3e-4, 2e-4)


@case
def neg_i32():
    model = Model()
    g = model.subgraph()
    values = np.int32([[0, 1, -1, 7, -20, 2**31 - 1, -2**31, 123456789]])
    x, y = g.tensor(values.shape, np.int32), g.tensor(values.shape, np.int32)
    g.op("NEG", [x], [y], options("NegOptions"))
    g.inputs(x)
    g.outputs(y)
    model.values = [values]
    return model


def bilinear_s16(extent, **opts):
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([2, 5, 7, 3], np.int16, scale=1e-3), g.tensor([2, *extent, 3], np.int16, scale=1e-3)
    g.op("RESIZE_BILINEAR", [x, g.constant(extent)], [y], options("ResizeBilinearOptions", **opts))
    g.inputs(x)
    g.outputs(y)
    return model


@case
def resize_bilinear_s16():
    return bilinear_s16([10, 14], halfPixelCenters=True)


@case
def resize_bilinear_odd_s16():
    return bilinear_s16([8, 5])


@case
def resize_bilinear_corners_s16():
    return bilinear_s16([9, 13], alignCorners=True)


@case
def list_of_a_loop():
    """What each step of a loop finds out is an element of a list: what was before it, it, and what was behind it, joined."""
    model = Model()
    g, condition, body = model.subgraph(), model.subgraph("condition"), model.subgraph("body")
    shape = [5, 2, 3]
    x, last, after, y = g.tensor(shape), g.tensor([], np.int32), g.tensor(shape), g.tensor(shape)
    empty = g.constant(np.zeros(shape), np.float32)
    g.op("WHILE", [g.constant(0), x, empty], [last, after, y], options("WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2))
    g.inputs(x)
    g.outputs(y)
    i, v, kept, goes_on = condition.tensor([], np.int32), condition.tensor(shape), condition.tensor(shape), condition.tensor([], np.bool_)
    condition.inputs(i, v, kept)
    condition.op("LESS", [i, condition.constant(5)], [goes_on], options("LessOptions"))
    condition.outputs(goes_on)
    i, v, kept = body.tensor([], np.int32), body.tensor(shape), body.tensor(shape)
    body.inputs(i, v, kept)
    now, result, item, joined = body.tensor([2, 3]), body.tensor([2, 3]), body.tensor([1, 2, 3]), body.tensor(shape)
    ni, here, there = body.tensor([], np.int32), body.tensor([1], np.int32), body.tensor([1], np.int32)
    size, begin = body.tensor([3], np.int32), body.tensor([3], np.int32)
    before, behind = (body.tensor([1, 1, 1], signature=[-1, -1, -1]) for _ in range(2))
    body.op("GATHER", [v, i], [now], options("GatherOptions", axis=0))
    body.op("TANH", [now], [result])
    body.op("RESHAPE", [result, body.constant([1, 2, 3])], [item], options("ReshapeOptions", newShape=[1, 2, 3]))
    body.op("ADD", [i, body.constant(1)], [ni], options("AddOptions"))
    for number, joint, vector, rest in ((i, here, size, -1), (ni, there, begin, 0)):
        body.op("RESHAPE", [number, body.constant([1])], [joint], options("ReshapeOptions", newShape=[1]))
        body.op("CONCATENATION", [joint, body.constant([rest, rest])], [vector], options("ConcatenationOptions", axis=0))
    body.op("SLICE", [kept, body.constant([0, 0, 0]), size], [before], options("SliceOptions"))
    body.op("SLICE", [kept, begin, body.constant([-1, -1, -1])], [behind], options("SliceOptions"))
    body.op("CONCATENATION", [before, item, behind], [joined], options("ConcatenationOptions", axis=0))
    body.outputs(ni, v, joined)
    return model


# ---- TensorFlow's audio front end ----


def front_end(window, stride, samples, channels, squared, coefficients=0, bands=20, lowest=20.0, highest=4000.0):
    model = Model()
    g = model.subgraph()
    frames, frequencies = 1 + (samples - window) // stride, 1 + (1 << (window - 1).bit_length()) // 2
    x, energies = g.tensor([samples, channels]), g.tensor([channels, frames, frequencies])
    g.op("AudioSpectrogram", [x], [energies], custom=flexible(window_size=window, stride=stride, magnitude_squared=squared))
    g.inputs(x)
    g.outputs(energies)
    if coefficients:
        y = g.tensor([channels, frames, coefficients])
        g.op("Mfcc", [energies, g.constant(np.int32(16000))], [y], custom=flexible(
            upper_frequency_limit=highest, lower_frequency_limit=lowest, filterbank_channel_count=bands,
            dct_coefficient_count=coefficients))
        g.outputs(y)
    return model


@case
def audio_spectrogram():
    """Two channels; frames that overlap, of a length that is no power of two."""
    return front_end(40, 16, 150, 2, False)


@case
def audio_spectrogram_squared():
    """Frames with samples between them that count for none."""
    return front_end(32, 50, 140, 1, True)


@case
def mfcc():
    """As the keyword spotters of TensorFlow's tutorial have it, and fewer samples."""
    return front_end(480, 320, 1440, 1, True, coefficients=13, bands=40)


@case
def mfcc_of_few_bands():
    return front_end(64, 32, 200, 1, True, coefficients=5, bands=6, lowest=300.0, highest=8000.0)


CASES.update(converter_cases.CASES)
CASES.update(unsigned_cases.CASES)
CASES.update(hybrid_state_cases.CASES)
CASES.update(placing_cases.CASES)
CASES.update(sequence_cases.CASES)
CASES.update(sparse_cases.CASES)
CASES.update(whole_cases.CASES)


def make_case(folder, name):
    model = CASES[name]()
    folder = fresh(folder / name)
    content = model.bytes()
    (folder / "model.tflite").write_bytes(content)
    graph = model.model.subgraphs[0]
    kernels = getattr(model, "kernels", OpResolverType.BUILTIN_REF)
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    rng = rng_of(name)
    fixed = getattr(model, "values", None)
    meta = {"reference": "LiteRT", "inputs": [], "outputs": []}
    invocations = getattr(model, "invocations", 1)  # one after another, on what the model keeps
    if invocations != 1:
        meta["invocations"] = invocations
    sequences = [b""] * len(graph.inputs)
    for _ in range(invocations):
        for i, (index, there) in enumerate(zip(graph.inputs, interpreter.get_input_details())):
            value = fixed[i] if fixed else random_values(rng, graph.tensors[index])
            interpreter.set_tensor(there["index"], value)
            sequences[i] += value.tobytes()
        interpreter.invoke()
    for i, index in enumerate(graph.inputs):
        (folder / f"in{i}.bin").write_bytes(sequences[i])
        meta["inputs"].append({"file": f"in{i}.bin", "type": TYPE_NAMES[graph.tensors[index].type]})
    for i, (index, there) in enumerate(zip(graph.outputs, interpreter.get_output_details())):
        values = interpreter.get_tensor(there["index"])
        (folder / f"out{i}.bin").write_bytes(values.tobytes())
        meta["outputs"].append({"file": f"out{i}.bin", "type": TYPE_NAMES[graph.tensors[index].type]})
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")


def make_all(folder):
    for name in CASES:
        make_case(folder, name)
    print(f"{len(CASES)} cases")


if __name__ == "__main__":
    run_script(make_all, HERE, sys.argv[1:])
