"""Elements that are put where indices say, volumes, signs and angles. make_litert_cases.py runs them."""
import numpy as np
from ai_edge_litert.interpreter import OpResolverType

from tflite_writer import Cases, Model, of_values, options, rng_of

SAME, VALID, RELU = 0, 1, 1
CASES = case = Cases()


def reals(name, *shape):
    return rng_of(name).uniform(-3, 3, shape).astype(np.float32)


@case
def sign_f32():
    return of_values("SIGN", [np.array([[-3, -0.0, 0, 1e-30, np.inf, -np.inf, 7.5]], np.float32)], [1, 7],
                     opts=options("SignOptions"))


@case
def sign_i32():
    return of_values("SIGN", [np.array([-2**31, -5, 0, 1, 2**31 - 1], np.int32)], [5], np.int32,
                     opts=options("SignOptions"))


@case
def atan2_f32():
    """All quadrants, and the axes."""
    y = np.concatenate([reals("y", 40), np.array([0, -0.0, 2, -2, 0, -0.0], np.float32)])
    x = np.concatenate([reals("x", 40), np.array([1, 1, 0, 0, -1, -1], np.float32)])
    return of_values("ATAN2", [y, x], [46], opts=options("ATan2Options"))


@case
def scatter_nd_f32():
    """Two rows go to one place, and are added up."""
    indices = np.array([[[1, 2], [0, 0]], [[1, 2], [2, 1]]], np.int32)
    return of_values("SCATTER_ND", [indices, reals("updates", 2, 2, 4)], [3, 3, 4],
                     opts=options("ScatterNdOptions"), constants=[np.array([3, 3, 4], np.int32)])


@case
def scatter_nd_i32():
    indices = np.array([[4], [0], [4], [4]], np.int32)
    updates = np.array([[5, -7], [2**31 - 1, 3], [1, 1], [100, 2]], np.int32)
    return of_values("SCATTER_ND", [indices, updates], [6, 2], np.int32, opts=options("ScatterNdOptions"),
                     constants=[np.array([6, 2], np.int32)])


@case
def scatter_nd_s8():
    """Known places that are different; what is named by none is the number 0, whatever the zero point is."""
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([2, 3], np.int8, 0.1, 9), g.tensor([5, 3], np.int8, 0.1, 9)
    g.op("SCATTER_ND", [g.constant([[3], [1]]), x, g.constant([5, 3])], [y], options("ScatterNdOptions"))
    g.inputs(x)
    g.outputs(y)
    return model


@case
def scatter_nd_s8_meeting():
    """Places that the running model names, some of them twice: the bytes wrap around."""
    model = Model()
    g = model.subgraph()
    at, x, y = g.tensor([4, 1], np.int32), g.tensor([4, 3], np.int8, 0.1, 9), g.tensor([5, 3], np.int8, 0.1, 9)
    g.op("SCATTER_ND", [at, x, g.constant([5, 3])], [y], options("ScatterNdOptions"))
    g.inputs(at, x)
    g.outputs(y)
    model.values = [np.array([[3], [1], [3], [0]], np.int32),
                    np.array([[100, -100, 3], [7, 8, 9], [90, -90, -5], [-128, 127, 0]], np.int8)]
    return model


def segments(code, opts, kind=np.float32):
    """Segment 2 stays empty; a row whose number is below 0 is left out."""
    rows = reals(code, 7, 3) if kind is np.float32 else rng_of(code).integers(-9, 9, (7, 3)).astype(kind)
    return of_values(code, [rows, np.array([3, 0, 1, -1, 3, 0, 3], np.int32)], [4, 3], kind, opts=options(opts),
                     constants=[np.int32(4)])


@case
def unsorted_segment_sum_f32():
    return segments("UNSORTED_SEGMENT_SUM", "UnsortedSegmentSumOptions")


@case
def unsorted_segment_prod_i32():
    return segments("UNSORTED_SEGMENT_PROD", "UnsortedSegmentProdOptions", np.int32)


@case
def unsorted_segment_max_f32():
    return segments("UNSORTED_SEGMENT_MAX", "UnsortedSegmentMaxOptions")


@case
def unsorted_segment_min_i32():
    return segments("UNSORTED_SEGMENT_MIN", "UnsortedSegmentMinOptions", np.int32)


@case
def segment_sum_f32():
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([5, 2]), g.tensor([3, 2])
    g.op("SEGMENT_SUM", [x, g.constant([0, 0, 1, 2, 2])], [y], options("SegmentSumOptions"))
    g.inputs(x)
    g.outputs(y)
    model.kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES  # the reference ones have none
    return model


def volume(name, shape, weights, out, padding, strides=(1, 1, 1), dilations=(1, 1, 1), bias=True):
    opts = options("Conv3DOptions", padding=padding, strideD=strides[0], strideH=strides[1], strideW=strides[2],
                   dilationDFactor=dilations[0], dilationHFactor=dilations[1], dilationWFactor=dilations[2],
                   fusedActivationFunction=RELU if bias else 0)
    model = Model()
    g = model.subgraph()
    x, y = g.tensor(shape), g.tensor(out)
    operands = [x, g.constant(reals(name, *weights), np.float32)]
    if bias:
        operands.append(g.constant(reals(name + "b", weights[-1]), np.float32))
    g.op("CONV_3D", operands, [y], opts)
    g.inputs(x)
    g.outputs(y)
    return model


@case
def conv_3d_same():
    return volume("conv_3d_same", [2, 4, 5, 6, 3], [3, 3, 2, 3, 4], [2, 2, 5, 3, 4], SAME, (2, 1, 2))


@case
def conv_3d_valid_dilated():
    return volume("conv_3d_valid", [1, 6, 7, 5, 2], [2, 3, 2, 2, 5], [1, 4, 3, 3, 5], VALID, dilations=(2, 2, 2),
                  bias=False)


def product(kind, quant):
    info = np.iinfo(kind)
    values = rng_of("product").integers(info.min // 2, info.max // 2, (3, 4, 5)).astype(kind)
    return of_values("REDUCE_PROD", [values], [3, 4], kind, quant, options("ReducerOptions", keepDims=False),
                     [np.array([2], np.int32)])


@case
def reduce_prod_s8():
    return product(np.int8, [(0.021, 6), (0.0085, -3)])


@case
def reduce_prod_s16():
    return product(np.int16, [(1.1e-4, 0), (7e-5, 0)])


@case
def reduce_prod_two_axes_s8():
    values = rng_of("two").integers(60, 128, (2, 3, 2, 2)).astype(np.int8)
    return of_values("REDUCE_PROD", [values], [1, 3, 1, 2], np.int8, [(0.0101, -5), (0.012, 2)],
                     options("ReducerOptions", keepDims=True), [np.array([2, 0], np.int32)])


@case
def top_k_i32():
    """Larger than floats hold exactly, and some twice."""
    model = Model()
    g = model.subgraph()
    x, y, at = g.tensor([2, 8], np.int32), g.tensor([2, 3], np.int32), g.tensor([2, 3], np.int32)
    g.op("TOPK_V2", [x, g.constant(np.int32(3))], [y, at], options("TopKV2Options"))
    g.inputs(x)
    g.outputs(y, at)
    base = 2**30
    model.values = [np.array([[base, base + 1, 4, base + 1, -7, base - 1, 0, 3],
                              [-base, -base + 1, -base - 1, -2**31 + 1, -base, -base + 1, -base + 2, -2**31 + 2]],
                             np.int32)]
    return model


@case
def top_k_i32_least():
    """The least number is an element, more often than there are others."""
    model = Model()
    g = model.subgraph()
    x, y, at = g.tensor([2, 6], np.int32), g.tensor([2, 4], np.int32), g.tensor([2, 4], np.int32)
    g.op("TOPK_V2", [x, g.constant(np.int32(4))], [y, at], options("TopKV2Options"))
    g.inputs(x)
    g.outputs(y, at)
    least = -2**31
    model.values = [np.array([[least, 5, least, least + 1, least, least], [least] * 6], np.int32)]
    return model


@case
def top_k_f32_masked():
    """More elements are asked for than are finite."""
    model = Model()
    g = model.subgraph()
    x, y, at = g.tensor([2, 6]), g.tensor([2, 4]), g.tensor([2, 4], np.int32)
    g.op("TOPK_V2", [x, g.constant(np.int32(4))], [y, at], options("TopKV2Options"))
    g.inputs(x)
    g.outputs(y, at)
    none = -np.inf
    model.values = [np.array([[none, 0.5, none, -2, none, none], [none, none, none, 7, 1, 7]], np.float32)]
    return model


# ---- Whole numbers and logic ----


@case
def cumsum_i32():
    """Backwards, without the element itself; sums wrap around."""
    values = np.array([[[1, -5, 2**31 - 1], [7, 9, 1], [-3, 2**31 - 1, 20]]] * 2, np.int32)
    return of_values("CUMSUM", [values], list(values.shape), np.int32,
                     opts=options("CumsumOptions", exclusive=True, reverse=True), constants=[np.array(1, np.int32)])


@case
def sum_i32():
    values = np.array([[[1, -5, 2**31 - 1], [7, 9, 1], [-3, 2**31 - 1, 20]]] * 2, np.int32)
    return of_values("SUM", [values], [2, 1, 3], np.int32, opts=options("ReducerOptions", keepDims=True),
                     constants=[np.array([1], np.int32)])


@case
def select_bool():
    which = rng_of("which").integers(0, 2, (2, 1, 5)).astype(np.bool_)
    a, b = (rng_of(name).integers(0, 2, (2, 4, 5)).astype(np.bool_) for name in "ab")
    return of_values("SELECT_V2", [which, a, b], [2, 4, 5], np.bool_, opts=options("SelectV2Options"))
