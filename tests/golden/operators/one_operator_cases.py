"""Operators by themselves, whose values are any. make_cases.py runs them."""
import numpy as np
from tflite_writer import Cases, Model, flexible, one, options

VALID = 1
CASES = case = Cases()


@case
def sin_f32():
    return one("SIN", [[2, 9]], [2, 9])


@case
def cos_f32():
    return one("COS", [[2, 9]], [2, 9])


@case
def floor_div_f32():
    return one("FLOOR_DIV", [[2, 3, 4], [2, 3, 4]], [2, 3, 4])


@case
def floor_mod_f32():
    return one("FLOOR_MOD", [[2, 3, 4], [4]], [2, 3, 4])


@case
def add_n_f32():
    return one("ADD_N", [[3, 4]] * 3, [3, 4])


@case
def add_n_s8():
    return one("ADD_N", [[3, 7]] * 3, [3, 7], np.int8, [(0.05, 3)] * 3 + [(0.13, -9)])


@case
def cumsum_f32():
    return one("CUMSUM", [[2, 5, 3]], [2, 5, 3], opts=options("CumsumOptions"), constants=[([1], 1)])


@case
def cumsum_s8():
    return one("CUMSUM", [[2, 5, 3]], [2, 5, 3], np.int8, [(0.04, 5), (0.11, -3)],
               options("CumsumOptions"), [([1], 1)])


@case
def cumsum_exclusive_reverse_s8():
    return one("CUMSUM", [[2, 5, 3]], [2, 5, 3], np.int8, [(0.04, 5), (0.11, -3)],
               options("CumsumOptions", exclusive=True, reverse=True), [([-3], 1)])


@case
def broadcast_to_s8():
    return one("BROADCAST_TO", [[3, 1, 2]], [2, 3, 4, 2], np.int8, [(0.1, 1)] * 2, constants=[([2, 3, 4, 2], 1)])


@case
def zeros_like_s8():
    model = Model()
    g = model.subgraph()
    x, zeros, y = (g.tensor([2, 3], np.int8, 0.1, 0) for _ in range(3))
    g.op("ZEROS_LIKE", [x], [zeros])
    g.op("MAXIMUM", [x, zeros], [y], options("MaximumMinimumOptions"))
    g.inputs(x)
    g.outputs(y)
    return model


@case
def fill_s8():
    model = Model()
    g = model.subgraph()
    x, filled = g.tensor([], np.int8, 0.1, 0), g.tensor([2, 3], np.int8, 0.1, 0)
    g.op("FILL", [g.constant([2, 3]), x], [filled])
    g.inputs(x)
    g.outputs(filled)
    return model


@case
def reverse_v2_s8():
    return one("REVERSE_V2", [[2, 3, 4]], [2, 3, 4], np.int8, [(0.1, 1)] * 2, constants=[([1], 1)])


@case
def l2_pool_f32():
    return one("L2_POOL_2D", [[1, 5, 5, 3]], [1, 3, 3, 3],
               opts=options("Pool2DOptions", padding=0, strideH=2, strideW=2, filterHeight=3, filterWidth=3))


@case
def gather_nd_s8():
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([3, 4, 2], np.int8, 0.1, 0), g.tensor([3, 2], np.int8, 0.1, 0)
    g.op("GATHER_ND", [x, g.constant([[0, 3], [2, 1], [1, 0]])], [y])
    g.inputs(x)
    g.outputs(y)
    return model


@case
def embedding_lookup_f32():
    model = Model()
    g = model.subgraph()
    table = g.constant(np.arange(12).reshape(4, 3) / 4, np.float32)
    ids, y = g.tensor([2], np.int32), g.tensor([2, 3])
    g.op("EMBEDDING_LOOKUP", [ids, table], [y])
    g.inputs(ids)
    g.outputs(y)
    model.values = [np.array([3, 1], dtype=np.int32)]
    return model


@case
def dynamic_update_slice_s8():
    model = Model()
    g = model.subgraph()
    x, update = g.tensor([4, 5], np.int8, 0.1, 0), g.tensor([2, 3], np.int8, 0.1, 0)
    start, y = g.tensor([2], np.int32), g.tensor([4, 5], np.int8, 0.1, 0)
    g.op("DYNAMIC_UPDATE_SLICE", [x, update, start], [y])
    g.inputs(x, update, start)
    g.outputs(y)
    rng = np.random.default_rng(5)
    model.values = [rng.integers(-128, 128, (4, 5)).astype(np.int8), rng.integers(-128, 128, (2, 3)).astype(np.int8),
                    np.array([3, -1], dtype=np.int32)]  # both are moved inwards
    return model


@case
def div_i32():
    model = one("DIV", [[2, 4], [4]], [2, 4], np.int32, opts=options("DivOptions"))
    model.values = [np.array([[7, -7, 9, -9], [1 << 30, -5, 0, 2]], np.int32), np.array([2, 2, -4, -4], np.int32)]
    return model


@case
def cast_u32_to_i32():
    return one("CAST", [[3, 4]], [3, 4], np.uint32, opts=options("CastOptions"), out_kind=np.int32)


@case
def circular_buffer_s8():
    """Streams' memory, two inputs on: what was there at first still counts."""
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([1, 1, 1, 3], np.int8, 0.1, 5), g.tensor([1, 2, 1, 3], np.int8, 0.1, 5)
    held = g.tensor([1, 4, 1, 3], np.int8, 0.1, 5, variable=True)
    g.op("CIRCULAR_BUFFER", [x], [held], custom=flexible(cycles_max=1))
    g.op("MAX_POOL_2D", [held], [y], options("Pool2DOptions", padding=VALID, strideH=2, strideW=1, filterHeight=2,
                                             filterWidth=1))
    g.inputs(x)
    g.outputs(y)
    model.invocations = 2
    return model


@case
def shape_of_batch():
    """What exporters write for x.reshape(batch, -1): SHAPE, STRIDED_SLICE, PACK, RESHAPE."""
    model = Model()
    g = model.subgraph()
    x = g.tensor([1, 2, 6], np.int8, 0.1, 2, signature=[-1, 2, 6])
    shape, batch, packed = g.tensor([3], np.int32), g.tensor([], np.int32), g.tensor([3], np.int32)
    y = g.tensor([1, 4, 3], np.int8, 0.1, 2, signature=[-1, 4, 3])
    g.op("SHAPE", [x], [shape], options("ShapeOptions", outType=2))
    g.op("STRIDED_SLICE", [shape, g.constant([0]), g.constant([1]), g.constant([1])], [batch],
         options("StridedSliceOptions", shrinkAxisMask=1))
    four, three = g.constant(4), g.constant(3)
    g.op("PACK", [batch, four, three], [packed], options("PackOptions", valuesCount=3, axis=0))
    g.op("RESHAPE", [x, packed], [y], options("ReshapeOptions", newShape=[]))
    g.inputs(x)
    g.outputs(y)
    return model
