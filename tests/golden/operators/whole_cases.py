"""Plain whole numbers: bits, powers, the places of numbers among others; what comes with a subgraph of its own; and transposed
convolutions of volumes. make_litert_cases.py runs them."""
import numpy as np
from ai_edge_litert.interpreter import OpResolverType

from placing_cases import reals
from tflite_writer import Cases, Model, fb, flexible, of_values, options, rng_of

SAME, VALID, RELU = 0, 1, 1
CASES = case = Cases()


def any_numbers(name, kind, *shape):
    info = np.iinfo(kind)
    return rng_of(name).integers(info.min, info.max, shape, endpoint=True).astype(kind)


@case
def bitwise_xor_i32():
    """Broadcast, and the ends of the range."""
    a = np.concatenate([any_numbers("a", np.int32, 4, 5), np.array([[-2**31, 2**31 - 1, 0, -1, 1]], np.int32)])
    return of_values("BITWISE_XOR", [a, any_numbers("b", np.int32, 1, 5)], [5, 5], np.int32,
                     opts=options("BitwiseXorOptions"))


@case
def bitwise_xor_u8():
    return of_values("BITWISE_XOR", [any_numbers("a", np.uint8, 40), any_numbers("b", np.uint8, 1)], [40], np.uint8,
                     opts=options("BitwiseXorOptions"))


@case
def bitwise_xor_i8():
    return of_values("BITWISE_XOR", [any_numbers("a", np.int8, 40), any_numbers("b", np.int8, 40)], [40], np.int8,
                     opts=options("BitwiseXorOptions"))


@case
def right_shift_i32():
    """By distances of the running model; those outside of the number's bits are its ends."""
    by = np.array([0, 1, 2, 7, 15, 16, 30, 31, 32, 100, -1, -40], np.int32)
    return of_values("RIGHT_SHIFT", [any_numbers("a", np.int32, 12), by], [12], np.int32,
                     opts=options("RightShiftOptions"))


@case
def right_shift_i32_known():
    """31 leaves the sign."""
    return of_values("RIGHT_SHIFT", [any_numbers("b", np.int32, 3, 4)], [3, 4], np.int32,
                     opts=options("RightShiftOptions"), constants=[np.array([3, 31, 30, -2], np.int32)])


@case
def right_shift_i16():
    by = np.array([0, 1, 5, 14, 15, 16, 40, -3], np.int16)
    return of_values("RIGHT_SHIFT", [any_numbers("c", np.int16, 8), by], [8], np.int16,
                     opts=options("RightShiftOptions"))


@case
def right_shift_u8():
    by = np.array([0, 1, 2, 3, 6, 7, 8, 200], np.uint8)
    return of_values("RIGHT_SHIFT", [any_numbers("d", np.uint8, 8), by], [8], np.uint8,
                     opts=options("RightShiftOptions"))


@case
def pow_i32():
    return of_values("POW", [np.array([0, 1, -1, 2, -3, 5, 7], np.int32)], [7], np.int32, opts=options("PowOptions"),
                     constants=[np.int32(11)])


@case
def squared_difference_i32():
    rng = rng_of("squared_difference_i32")
    return of_values("SQUARED_DIFFERENCE", [rng.integers(-900, 900, (3, 4)).astype(np.int32),
                                            rng.integers(-900, 900, (1, 4)).astype(np.int32)], [3, 4], np.int32,
                     opts=options("SquaredDifferenceOptions"))


@case
def bucketize_f32():
    """On boundaries, below and above all, and no number."""
    values = np.array([[-9, -1.5, -1.4999, 0, -0.0, 0.25], [0.3, 7, 7.5, np.inf, -np.inf, np.nan]], np.float32)
    return of_values("BUCKETIZE", [values], [2, 6], np.int32,
                     opts=options("BucketizeOptions", boundaries=[-1.5, 0.0, 0.25, 0.25, 7.0]))


@case
def bucketize_i32():
    return of_values("BUCKETIZE", [np.array([-3, 0, 1, 2, 5, 9], np.int32)], [6], np.int32,
                     opts=options("BucketizeOptions", boundaries=[0.0, 1.5, 5.0]))


def placed(indices, values, kind, elsewhere, shape):
    model = Model()
    g = model.subgraph()
    x, y = g.tensor(values.shape, kind), g.tensor(shape, kind)
    g.op("SPARSE_TO_DENSE", [g.constant(indices), g.constant(shape), x, g.constant(elsewhere, kind)], [y],
         options("SparseToDenseOptions"))
    g.inputs(x)
    g.outputs(y)
    model.values = [values]
    return model


@case
def sparse_to_dense_f32():
    """One value for each of the places."""
    return placed([[0, 1], [1, 2], [2, 0]], reals("values", 3), np.float32, -7.5, [3, 4])


@case
def sparse_to_dense_i32():
    """One value for all places, along one axis."""
    return placed([1, 3, 6], np.array(9, np.int32), np.int32, -1, [8])


def composite(g, name, subgraph, inputs, outputs):
    g.op("STABLEHLO_COMPOSITE", inputs, outputs)
    made = fb.StableHLOCompositeOptionsT()
    made.name, made.decompositionSubgraphIndex, made.version = name, subgraph, 1
    made.compositeAttributes = np.frombuffer(flexible(epsilon=1e-6), np.uint8)
    g.graph.operators[-1].builtinOptions2Type = fb.BuiltinOptions2.StableHLOCompositeOptions
    g.graph.operators[-1].builtinOptions2 = made


@case
def composite_twice():
    """A normalisation that its subgraph describes, run by two operators."""
    model = Model()
    g, inside = model.subgraph(), model.subgraph("rms_norm")
    x, y, z = g.tensor([2, 6]), g.tensor([2, 6]), g.tensor([2, 6])
    weights = [g.constant(reals(name, 6), np.float32) for name in ("first", "second")]
    composite(g, "odml.rms_norm", 1, [x, weights[0]], [y])
    composite(g, "odml.rms_norm", 1, [y, weights[1]], [z])
    g.inputs(x)
    g.outputs(z, y)
    a, w, squares, normal, result = (inside.tensor(shape) for shape in ([2, 6], [6], [2, 6], [2, 6], [2, 6]))
    mean, shifted, factor = (inside.tensor([2, 1]) for _ in range(3))
    inside.op("MUL", [a, a], [squares], options("MulOptions"))
    inside.op("MEAN", [squares, inside.constant([1])], [mean], options("ReducerOptions", keepDims=True))
    inside.op("ADD", [mean, inside.constant(1e-6, np.float32)], [shifted], options("AddOptions"))
    inside.op("RSQRT", [shifted], [factor])
    inside.op("MUL", [a, factor], [normal], options("MulOptions"))
    inside.op("MUL", [normal, w], [result], options("MulOptions"))
    inside.inputs(a, w)
    inside.outputs(result)
    return model


def transposed_volume(name, shape, weights, out, padding, strides, bias=True):
    """`weights`: depth, height, width, filters, channels."""
    model = Model()
    g = model.subgraph()
    x, y = g.tensor(shape), g.tensor(out)
    filters = g.constant(reals(name, *weights) / 4, np.float32)
    more = [g.constant(reals("bias", weights[3]), np.float32)] if bias else []
    g.op("CONV_3D_TRANSPOSE", [g.constant(out), filters, x, *more], [y],
         options("Conv3DOptions", padding=padding, strideD=strides[0], strideH=strides[1], strideW=strides[2],
                 dilationDFactor=1, dilationHFactor=1, dilationWFactor=1))
    g.inputs(x)
    g.outputs(y)
    model.kernels = OpResolverType.BUILTIN_REF
    return model


@case
def conv_3d_transpose_same():
    return transposed_volume("conv_3d_transpose_same", [2, 3, 2, 4, 3], (3, 3, 2, 2, 3), [2, 6, 4, 8, 2], SAME, (2, 2, 2))


@case
def conv_3d_transpose_valid():
    """Strides that differ, one of them longer than the filter."""
    return transposed_volume("conv_3d_transpose_valid", [1, 3, 3, 2, 2], (5, 1, 3, 3, 2), [1, 9, 7, 4, 3], VALID,
                             (2, 3, 1), bias=False)


@case
def conv_3d_transpose_gaps():
    return transposed_volume("conv_3d_transpose_gaps", [1, 2, 2, 2, 2], (2, 2, 2, 2, 2), [1, 6, 4, 4, 2], SAME, (3, 2, 2))
