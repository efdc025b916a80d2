"""Random operators of one element or of a line of them: curves, comparisons, logic, norms, and what is counted along an axis."""
import numpy as np
from operators import F32, I8, I16, SAME, VALID, broadcast, operator, window_extent
from tflite_writer import options

BOOL, I32 = np.bool_, np.int32


@operator("LOG", "SQRT", "SQUARE", "SIN", "COS", "NEG", "FLOOR", "CEIL", "ROUND")
def curve(d, name):
    # TFLite has no SQUARE of integers.
    if name not in ("LOG", "SQRT") or d.kind is I16 and name != "LOG":
        d.kind = F32
    shape = d.shape(1, 3, 9)
    q = d.quantisation()
    if name in ("LOG", "SQRT"):  # of positive numbers
        d.model.least = 1 if d.kind is I16 else -127
        q = {**q, "zero": -128} if d.kind is I8 else q
    x, y = d.tensor(shape, **q), d.tensor(shape, **d.quantisation())
    opts = {"SQUARE": "SquareOptions", "COS": "CosOptions", "NEG": "NegOptions"}.get(name)
    d.g.op(name, [x], [y], options(opts) if opts else None)
    return d.done([x], [y])


@operator("FLOOR_DIV", "FLOOR_MOD", "POW")
def whole_quotient(d, name):
    shape = d.shape()
    kind = F32 if name == "POW" or d.chance(50) else I32
    a, b = d.g.tensor(shape, kind), d.g.tensor(shape if name == "POW" else broadcast(d, shape), kind)
    y = d.g.tensor(shape, kind)
    # A divisor of zero is refused by both peers while they run.
    d.model.range = (1, 1000)
    d.model.least = 1
    d.g.op(name, [a, b], [y], options({"FLOOR_DIV": "FloorDivOptions", "FLOOR_MOD": "FloorModOptions", "POW": "PowOptions"}[name]), 1)
    return d.done([a, b], [y])


@operator("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT")
def logic(d, name):
    shape = d.shape()
    inputs = [d.g.tensor(shape, BOOL)]
    if name != "LOGICAL_NOT":
        inputs.append(d.g.tensor(broadcast(d, shape), BOOL))
    y = d.g.tensor(shape, BOOL)
    d.g.op(name, inputs, [y], options({"LOGICAL_AND": "LogicalAndOptions", "LOGICAL_OR": "LogicalOrOptions",
                                       "LOGICAL_NOT": "LogicalNotOptions"}[name]))
    return d.done(inputs, [y])


@operator("SELECT_V2")
def select(d):
    shape, q = d.shape(), d.quantisation()
    condition = d.g.tensor(broadcast(d, shape), BOOL)
    a, b, y = d.tensor(broadcast(d, shape), **q), d.tensor(shape, **q), d.tensor(shape, **q)
    d.g.op("SELECT_V2", [condition, a, b], [y], options("SelectV2Options"))
    return d.done([condition, a, b], [y])


@operator("ADD_N")
def add_n(d):
    d.kind = F32 if d.kind is I16 else d.kind
    shape, q = d.shape(), d.quantisation()
    # TFLite Micro takes operands of one scale.
    inputs = [d.tensor(shape, **q) for _ in range(d.whole(2, 4))]
    y = d.tensor(shape, **d.quantisation())
    d.g.op("ADD_N", inputs, [y])
    return d.done(inputs, [y])


@operator("CUMSUM")
def cumsum(d):
    d.kind = F32 if d.kind is I16 else d.kind
    shape = d.shape(1, 4, 7)
    axis = d.whole(0, len(shape) - 1)
    x, y = d.tensor(shape), d.tensor(shape)
    d.g.op("CUMSUM", [x, d.g.constant(axis)], [y],
           options("CumsumOptions", exclusive=bool(d.chance(50)), reverse=bool(d.chance(50))))
    return d.done([x], [y])


@operator("TOPK_V2")
def top_k(d):
    if d.kind is I16:
        d.kind = I8
    shape, q = d.shape(1, 3, 9), d.quantisation()
    k = d.whole(1, shape[-1])
    x = d.tensor(shape, **q)
    values, places = d.tensor(shape[:-1] + [k], **q), d.g.tensor(shape[:-1] + [k], I32)
    d.g.op("TOPK_V2", [x, d.g.constant(k)], [values, places], options("TopKV2Options"), 2)
    return d.done([x], [values, places])


@operator("LOG_SOFTMAX", "L2_NORMALIZATION")
def fixed_result(d, name):
    d.kind = I8 if d.kind is I16 else d.kind
    shape = d.shape(1 if name == "LOG_SOFTMAX" else 2, 4, 12)
    opts, result = {"LOG_SOFTMAX": ("LogSoftmaxOptions", dict(scale=16 / 256, zero=127)),
                    "L2_NORMALIZATION": ("L2NormOptions", dict(scale=1 / 128, zero=0))}[name]
    x, y = d.tensor(shape), d.tensor(shape, **({} if d.kind is F32 else result))
    d.g.op(name, [x], [y], options(opts), 2)
    return d.done([x], [y])


@operator("L2_POOL_2D")
def l2_pool(d):
    d.kind = F32
    h, w, c, kh, kw = d.extent(9), d.extent(9), d.extent(9), d.whole(1, 4), d.whole(1, 4)
    padding, sh, sw = d.pick(SAME, VALID), d.whole(1, 3), d.whole(1, 3)
    if padding == VALID:
        h, w = max(h, kh), max(w, kw)
    x = d.tensor([1, h, w, c])
    y = d.tensor([1, window_extent(h, kh, sh, 1, padding), window_extent(w, kw, sw, 1, padding), c])
    d.g.op("L2_POOL_2D", [x], [y], options("Pool2DOptions", padding=padding, strideH=sh, strideW=sw, filterHeight=kh,
                                           filterWidth=kw, fusedActivationFunction=0))
    return d.done([x], [y])


@operator("REDUCE_ANY", "REDUCE_ALL", "REDUCE_PROD")
def reduce(d, name):
    shape = d.shape(1, 4)
    axes = sorted({d.whole(0, len(shape) - 1) for _ in range(d.whole(1, len(shape)))})
    keep = bool(d.chance(50))
    out = [1 if i in axes else n for i, n in enumerate(shape)] if keep else [
        n for i, n in enumerate(shape) if i not in axes]
    kind = F32 if name == "REDUCE_PROD" else BOOL
    x, y = d.g.tensor(shape, kind), d.g.tensor(out, kind)
    d.g.op(name, [x, d.g.constant(axes)], [y], options("ReducerOptions", keepDims=keep),
           1 if name == "REDUCE_ANY" else 2)
    return d.done([x], [y])


@operator("CAST")
def cast(d):
    kinds = (I8, I16, I32, F32, BOOL)
    before, after = d.pick(*kinds), d.pick(*kinds)
    # What a float makes of an integer that cannot hold it is undefined in C.
    d.model.range = (-100, 100)
    shape = d.shape(1, 3, 9)
    x, y = d.g.tensor(shape, before), d.g.tensor(shape, after)
    d.g.op("CAST", [x], [y], options("CastOptions"))
    return d.done([x], [y])
