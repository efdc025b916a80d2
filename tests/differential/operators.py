"""Random operators as .tflite models: shapes, scales, attributes and constants drawn anew for every case."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
from chances import Chances  # noqa: E402
from tflite_writer import Model, options  # noqa: E402

SAME, VALID = 0, 1
I8, U8, I16, F32 = np.int8, np.uint8, np.int16, np.float32
OPERATORS = {}


def operator(*names):
    def add(function):
        for name in names or (function.__name__.upper(),):
            OPERATORS[name] = function
        return function
    return add


class Draw(Chances):
    """One model being drawn: its graph, and what tensors of its type are like."""

    larger = 1  # by how much extents may be larger than they are as a rule

    def __init__(self, rng, kinds=(I8, I8, I8, I16, F32)):
        super().__init__(rng)
        self.model = Model()
        self.g = self.model.subgraph()
        self.kind = kinds[rng.integers(len(kinds))]

    def extent(self, most):
        return self.whole(1, most * self.larger)

    def wide(self, channels):
        """Up to as many times as many channels as extents may be larger."""
        return channels * self.whole(1, self.larger) + self.whole(0, 3) if self.larger > 1 else channels

    def shape(self, least_rank=1, most_rank=4, most=6):
        return [self.extent(most) for _ in range(self.whole(least_rank, most_rank))]

    def scale(self, low=0.004, high=0.3):
        return float(np.float32(np.exp(self.rng.uniform(np.log(low), np.log(high)))))

    def quantisation(self, kind=None, low=0.004, high=0.3):
        kind = kind or self.kind
        if kind is F32:
            return {}
        if kind is I16:
            return {"scale": self.scale(low / 256, high / 256), "zero": 0}
        return {"scale": self.scale(low, high), "zero": self.whole(*((0, 255) if kind is U8 else (-128, 127)))}

    def tensor(self, shape, kind=None, **quantisation):
        kind = kind or self.kind
        return self.g.tensor(shape, kind, **(quantisation or self.quantisation(kind)))

    def values(self, shape, kind):
        if kind is F32:
            return self.rng.uniform(-2, 2, shape).astype(F32)
        info = np.iinfo(kind)
        return self.rng.integers(info.min, info.max + 1, shape).astype(kind)

    def weights(self, shape, channels, axis, input_scale, terms):
        """Weights and bias on scales that leave the result in its range mostly; the scale for the result."""
        if self.kind is F32:
            return (self.g.constant(self.values(shape, F32) / np.sqrt(terms), F32),
                    self.g.constant(self.values([channels], F32), F32), {})
        one_scale = self.kind is U8 or self.chance(30)
        scales = [self.scale(0.002, 0.02) for _ in range(1 if one_scale else channels)]
        w = (self.g.constant(self.values(shape, U8), U8, scale=scales, zero=self.whole(0, 255)) if self.kind is U8 else
             self.g.constant(self.rng.integers(-127, 128, shape), I8, scale=scales, zero=0, axis=axis))
        reach = int(min(1 << 20, 127 * 127 * np.sqrt(terms)))
        bias_kind = np.int64 if self.kind is I16 else np.int32
        bias_scales = [input_scale * s for s in scales]
        b = self.g.constant(self.rng.integers(-reach, reach + 1, [channels]), bias_kind, scale=bias_scales, zero=0)
        spread = input_scale * max(scales) * 74 * 74 * np.sqrt(terms) * float(self.rng.uniform(0.5, 4))
        if self.kind is I16:
            return w, b, {"scale": float(np.float32(spread / 128)), "zero": 0}
        return w, b, {"scale": float(np.float32(spread / 128)), "zero": self.whole(-100, 100) + (128 if self.kind is U8 else 0)}

    def done(self, inputs, outputs):
        self.g.inputs(*inputs)
        self.g.outputs(*outputs)
        return self.model


def activation(d):
    return d.pick(0, 0, 1, 3, 2)


def window_extent(size, kernel, stride, dilation, padding):
    return -(-size // stride) if padding == SAME else -(-(size - (kernel - 1) * dilation) // stride)


def weighted_window(d, depthwise):
    h, w, c = d.extent(9), d.extent(9), d.extent(9)
    kh, kw, padding = d.whole(1, 4), d.whole(1, 4), d.pick(SAME, VALID)
    sh = d.whole(1, 3)
    sw = sh if depthwise else d.whole(1, 3)
    dh, dw = (d.pick(1, 1, 2), d.pick(1, 1, 2)) if sh == sw == 1 else (1, 1)
    if padding == VALID:
        h, w = max(h, (kh - 1) * dh + 1), max(w, (kw - 1) * dw + 1)
    q = d.quantisation()
    x = d.tensor([d.pick(1, 1, 2), h, w, c], **q)
    batches = d.model.model.subgraphs[0].tensors[x].shape[0]
    channels = c * d.pick(1, 1, 2, 3) if depthwise else d.extent(10)
    shape, axis = ([1, kh, kw, channels], 3) if depthwise else ([channels, kh, kw, c], 0)
    weights, bias, out = d.weights(shape, channels, axis, q.get("scale", 1), kh * kw * (1 if depthwise else c))
    y = d.tensor([batches, window_extent(h, kh, sh, dh, padding), window_extent(w, kw, sw, dw, padding), channels], **out)
    common = dict(padding=padding, strideH=sh, strideW=sw, dilationHFactor=dh, dilationWFactor=dw,
                  fusedActivationFunction=activation(d))
    if depthwise:
        d.g.op("DEPTHWISE_CONV_2D", [x, weights, bias], [y],
               options("DepthwiseConv2DOptions", depthMultiplier=channels // c, **common), 3)
    else:
        d.g.op("CONV_2D", [x, weights, bias], [y], options("Conv2DOptions", **common), 3)
    return d.done([x], [y])


@operator("CONV_2D")
def conv_2d(d):
    return weighted_window(d, False)


@operator("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(d):
    return weighted_window(d, True)


@operator("FULLY_CONNECTED")
def fully_connected(d):
    depth, channels = d.extent(40), d.extent(20)
    q = d.quantisation()
    x = d.tensor([d.whole(1, 3), depth], **q)
    rows = d.model.model.subgraphs[0].tensors[x].shape[0]
    weights, bias, out = d.weights([channels, depth], channels, 0, q.get("scale", 1), depth)
    y = d.tensor([rows, channels], **out)
    d.g.op("FULLY_CONNECTED", [x, weights, bias], [y],
           options("FullyConnectedOptions", fusedActivationFunction=activation(d)), 4)
    return d.done([x], [y])


@operator("TRANSPOSE_CONV")
def transpose_conv(d):
    h, w, c, channels = d.extent(5), d.extent(5), d.extent(5), d.extent(5)
    kh, kw, sh, sw, padding = d.whole(1, 4), d.whole(1, 4), d.whole(1, 3), d.whole(1, 3), d.pick(SAME, VALID)
    out = [1] + [n * s if padding == SAME else n * s + max(k - s, 0)
                 for n, k, s in ((h, kh, sh), (w, kw, sw))] + [channels]
    q = d.quantisation()
    x = d.tensor([1, h, w, c], **q)
    weights, bias, result = d.weights([channels, kh, kw, c], channels, 0, q.get("scale", 1), kh * kw * c)
    y = d.tensor(out, **result)
    d.g.op("TRANSPOSE_CONV", [d.g.constant(out), weights, x, bias], [y],
           options("TransposeConvOptions", padding=padding, strideH=sh, strideW=sw), 3)
    return d.done([x], [y])


@operator("AVERAGE_POOL_2D", "MAX_POOL_2D")
def pool(d, name):
    h, w, c, kh, kw = d.extent(9), d.extent(9), d.extent(9), d.whole(1, 4), d.whole(1, 4)
    padding, sh, sw = d.pick(SAME, VALID), d.whole(1, 3), d.whole(1, 3)
    if padding == VALID:
        h, w = max(h, kh), max(w, kw)
    q = d.quantisation()
    x, y = d.tensor([1, h, w, c], **q), d.tensor(
        [1, window_extent(h, kh, sh, 1, padding), window_extent(w, kw, sw, 1, padding), c], **q)
    d.g.op(name, [x], [y], options("Pool2DOptions", padding=padding, strideH=sh, strideW=sw, filterHeight=kh,
                                   filterWidth=kw, fusedActivationFunction=activation(d)), 3)
    return d.done([x], [y])


def broadcast(d, shape):
    """The shape, or one that repeats to it."""
    if d.chance(55):
        return list(shape)
    cut = [1 if d.chance(50) else n for n in shape]
    return cut[d.whole(0, len(cut) - 1):] if d.chance(40) else cut


@operator("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "MINIMUM", "MAXIMUM")
def binary(d, name):
    if name == "DIV":
        d.kind = F32
    if name == "SQUARED_DIFFERENCE" and d.kind is I16:
        d.kind = I8
    shape = d.shape()
    q = d.quantisation()
    same = name in ("MINIMUM", "MAXIMUM")
    a = d.tensor(shape, **q)
    inputs = [a]
    other = broadcast(d, shape)
    if d.chance(30):
        b = d.g.constant(d.values(other, d.kind), d.kind, **(q if same else d.quantisation()))
    else:
        b = d.tensor(other, **(q if same else d.quantisation()))
        inputs.append(b)
    y = d.tensor(shape, **(q if same else d.quantisation()))
    named = {"SQUARED_DIFFERENCE": "SquaredDifferenceOptions", "MINIMUM": "MaximumMinimumOptions",
             "MAXIMUM": "MaximumMinimumOptions"}.get(name, name.capitalize() + "Options")
    more = {} if named in ("SquaredDifferenceOptions", "MaximumMinimumOptions") else {
        "fusedActivationFunction": activation(d)}
    operands = [a, b] if d.chance(70) else [b, a]
    d.g.op(name, operands, [y], options(named, **more), 2)
    return d.done(inputs, [y])


@operator("RELU", "RELU6", "ABS", "LEAKY_RELU", "ELU", "EXP", "HARD_SWISH", "GELU", "RSQRT")
def unary(d, name):
    if d.kind is I16 and name not in ("RELU", "LEAKY_RELU", "ABS", "RSQRT"):
        d.kind = I8
    shape = d.shape(1, 3, 9)
    q = d.quantisation()
    if name == "RSQRT":  # of positive numbers
        d.model.least = 1 if d.kind is I16 else -127
        q = {**q, "zero": -128} if d.kind is I8 else {} if d.kind is F32 else q
    x = d.tensor(shape, **q)
    # TFLite Micro's RELU6 takes input and output for tensors of one scale.
    y = d.tensor(shape, **(q if name == "RELU6" else d.quantisation()))
    opts = {"LEAKY_RELU": lambda: options("LeakyReluOptions", alpha=float(d.rng.uniform(-0.5, 1))),
            "GELU": lambda: options("GeluOptions", approximate=bool(d.chance(50)))}.get(name, lambda: None)()
    d.g.op(name, [x], [y], opts, 2)
    return d.done([x], [y])


@operator("LOGISTIC", "TANH")
def sigmoid(d, name):
    shape = d.shape(1, 3, 9)
    x = d.tensor(shape)
    fixed = {I8: {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}, U8: {"LOGISTIC": (1 / 256, 0), "TANH": (1 / 128, 128)},
             I16: {n: (1 / 32768, 0) for n in ("LOGISTIC", "TANH")}}
    y = d.tensor(shape, **({} if d.kind is F32 else dict(zip(("scale", "zero"), fixed[d.kind][name]))))
    d.g.op(name, [x], [y], None, 2)
    return d.done([x], [y])


@operator("SOFTMAX")
def softmax(d):
    shape = d.shape(1, 3, 12)
    x = d.tensor(shape)
    y = d.tensor(shape, **{I8: dict(scale=1 / 256, zero=-128), U8: dict(scale=1 / 256, zero=0), I16: dict(scale=1 / 32768, zero=0),
                           F32: {}}[d.kind])
    d.g.op("SOFTMAX", [x], [y], options("SoftmaxOptions", beta=1.0), 2)
    return d.done([x], [y])


@operator("PRELU")
def prelu(d):
    if d.kind is I16:
        d.kind = I8
    shape = d.shape(2, 4)
    x, y = d.tensor(shape), d.tensor(shape)
    alpha = d.g.constant(d.values([1] * (len(shape) - 2) + shape[-1:], d.kind), d.kind, **d.quantisation())
    d.g.op("PRELU", [x, alpha], [y])
    return d.done([x], [y])


@operator("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN")
def reduce(d, name):
    shape = d.shape(1, 4)
    axes = sorted({d.whole(0, len(shape) - 1) for _ in range(d.whole(1, len(shape)))})
    keep = bool(d.chance(50))
    out = [1 if i in axes else n for i, n in enumerate(shape)] if keep else [
        n for i, n in enumerate(shape) if i not in axes]
    q = d.quantisation()
    same = name.startswith("REDUCE")
    x, y = d.tensor(shape, **q), d.tensor(out, **(q if same or d.chance(30) else d.quantisation()))
    d.g.op(name, [x, d.g.constant(axes)], [y], options("ReducerOptions", keepDims=keep), 2)
    return d.done([x], [y])


@operator("ARG_MAX", "ARG_MIN")
def arg(d, name):
    if d.kind is I16:
        d.kind = I8
    shape = d.shape(1, 4)
    axis = d.whole(0, len(shape) - 1)
    x, y = d.tensor(shape), d.g.tensor(shape[:axis] + shape[axis + 1:], np.int32)
    d.g.op(name, [x, d.g.constant(axis)], [y],
           options("ArgMaxOptions" if name == "ARG_MAX" else "ArgMinOptions", outputType=2))
    return d.done([x], [y])


@operator("CONCATENATION")
def concatenation(d):
    shape = d.shape(1, 4)
    axis, q = d.whole(0, len(shape) - 1), d.quantisation()
    inputs, total = [], 0
    for _ in range(d.whole(1, 4)):
        extent = d.whole(1, 5)
        total += extent
        inputs.append(d.tensor(shape[:axis] + [extent] + shape[axis + 1:], **q))
    y = d.tensor(shape[:axis] + [total] + shape[axis + 1:], **q)
    d.g.op("CONCATENATION", inputs, [y], options("ConcatenationOptions", axis=axis), 2)
    return d.done(inputs, [y])


@operator("PAD", "PADV2", "MIRROR_PAD")
def pad(d, name):
    if name == "MIRROR_PAD" and d.kind is I16:
        d.kind = I8
    shape = d.shape(1, 4)
    reflect = d.chance(50)
    most = [n - 1 if reflect else n for n in shape] if name == "MIRROR_PAD" else [3] * len(shape)
    amounts = [[d.whole(0, m), d.whole(0, m)] for m in most]
    q = d.quantisation()
    x, y = d.tensor(shape, **q), d.tensor([n + sum(a) for n, a in zip(shape, amounts)], **q)
    operands = [x, d.g.constant(amounts)]
    if name == "PADV2":
        operands.append(d.g.constant(d.values([1], d.kind), d.kind, **q))
    opts = {"PAD": ("PadOptions", {}), "PADV2": ("PadV2Options", {}),
            "MIRROR_PAD": ("MirrorPadOptions", {"mode": 0 if reflect else 1})}[name]
    d.g.op(name, operands, [y], options(opts[0], **opts[1]), 2)
    return d.done([x], [y])


@operator("STRIDED_SLICE")
def strided_slice(d):
    shape = d.shape(1, 4)
    begin, end, stride, out = [], [], [], []
    for n in shape:
        step = d.pick(1, 1, 2, 3, -1)
        first, last = sorted((d.whole(0, n - 1), d.whole(0, n - 1)))
        if step > 0:
            begin.append(first), end.append(last + 1)
        else:
            begin.append(last), end.append(first - 1 if first > 0 else -n - 1)
        stride.append(step), out.append(-(-(last - first + 1) // abs(step)))
    q = d.quantisation()
    x, y = d.tensor(shape, **q), d.tensor(out, **q)
    d.g.op("STRIDED_SLICE", [x] + [d.g.constant(v) for v in (begin, end, stride)], [y],
           options("StridedSliceOptions"), 2)
    return d.done([x], [y])


@operator("TRANSPOSE")
def transpose(d):
    shape = d.shape(1, 4)
    order, q = [int(i) for i in d.rng.permutation(len(shape))], d.quantisation()
    x, y = d.tensor(shape, **q), d.tensor([shape[i] for i in order], **q)
    d.g.op("TRANSPOSE", [x, d.g.constant(order)], [y], options("TransposeOptions"), 2)
    return d.done([x], [y])


@operator("SPLIT")
def split(d):
    pieces, shape = d.whole(1, 4), d.shape(1, 4)
    axis, q = d.whole(0, len(shape) - 1), d.quantisation()
    part = list(shape)
    shape[axis] *= pieces
    x = d.tensor(shape, **q)
    outputs = [d.tensor(part, **q) for _ in range(pieces)]
    d.g.op("SPLIT", [d.g.constant(axis), x], outputs, options("SplitOptions", numSplits=pieces), 2)
    return d.done([x], outputs)


@operator("RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR")
def resize(d, name):
    if d.kind is I16:
        d.kind = I8
    h, w, c, oh, ow = d.extent(6), d.extent(6), d.extent(4), d.extent(12), d.extent(12)
    align, half = d.pick((False, False), (True, False), (False, True))
    q = d.quantisation()
    x, y = d.tensor([1, h, w, c], **q), d.tensor([1, oh, ow, c], **q)
    opts = "ResizeBilinearOptions" if name == "RESIZE_BILINEAR" else "ResizeNearestNeighborOptions"
    d.g.op(name, [x, d.g.constant([oh, ow])], [y], options(opts, alignCorners=align, halfPixelCenters=half), 3)
    return d.done([x], [y])


@operator("SPACE_TO_DEPTH", "DEPTH_TO_SPACE")
def blocks(d, name):
    if d.kind is I16:
        d.kind = I8
    b, h, w, c, q = d.whole(1, 3), d.extent(4), d.extent(4), d.extent(4), d.quantisation()
    small, large = [1, h, w, c * b * b], [1, h * b, w * b, c]
    x, y = (large, small) if name == "SPACE_TO_DEPTH" else (small, large)
    x, y = d.tensor(x, **q), d.tensor(y, **q)
    d.g.op(name, [x], [y], options("SpaceToDepthOptions" if name == "SPACE_TO_DEPTH" else "DepthToSpaceOptions", blockSize=b))
    return d.done([x], [y])


@operator("BATCH_MATMUL")
def batch_matmul(d):
    batch = [] if d.chance(30) else [d.whole(1, 3)]
    m, k, n = d.extent(8), d.extent(20), d.extent(8)
    adj_x, adj_y = bool(d.chance(30)), bool(d.chance(30))
    a, b = d.quantisation(), d.quantisation()
    x = d.tensor([1] + batch + ([k, m] if adj_x else [m, k]), **a)
    z = d.tensor([1] + batch + ([n, k] if adj_y else [k, n]), **b)
    out = {} if d.kind is F32 else dict(
        scale=float(np.float32(a["scale"] * b["scale"] * 74 * 74 * np.sqrt(k) / 64 * (1 if d.kind is I8 else 256))),
        zero=0 if d.kind is I16 else d.whole(-60, 60))
    y = d.tensor([1] + batch + [m, n], **out)
    d.g.op("BATCH_MATMUL", [x, z], [y], options("BatchMatMulOptions", adjX=adj_x, adjY=adj_y), 4)
    return d.done([x, z], [y])


@operator("QUANTIZE")
def quantize(d):
    kinds = d.pick((F32, I8), (F32, I16), (I8, I8), (I16, I16), (I16, I8), (I8, I16))
    shape = d.shape(1, 3, 9)
    x, y = d.tensor(shape, kinds[0], **d.quantisation(kinds[0])), d.tensor(shape, kinds[1], **d.quantisation(kinds[1]))
    d.g.op("QUANTIZE", [x], [y], None, 2)
    return d.done([x], [y])


@operator("GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "EQUAL", "NOT_EQUAL")
def comparison(d, name):
    if d.kind is I16:
        d.kind = I8
    shape = d.shape()
    a, b, y = d.tensor(shape), d.tensor(broadcast(d, shape)), d.g.tensor(shape, np.bool_)
    d.g.op(name, [a, b], [y])
    return d.done([a, b], [y])


def draw(rng, name):
    d = Draw(rng)
    function = OPERATORS[name]
    return function(d, name) if function.__code__.co_argcount == 2 else function(d)
