"""Random ONNX operators that fewer networks have, and those of onnxruntime's own domain."""
import numpy as np
from onnx_operators import operator

MICROSOFT = "com.microsoft"
F32, I32, I64, I8, U8, BOOL = np.float32, np.int32, np.int64, np.int8, np.uint8, np.bool_


@operator("Acos", "Asin", "Atanh", "Acosh", "Asinh", "Sinh", "Cosh", "Tan")
def angle(d, kind):
    low, high = {"Acos": (-0.99, 0.99), "Asin": (-0.99, 0.99), "Atanh": (-0.95, 0.95), "Acosh": (1.05, 5), "Tan": (-1.3, 1.3)}.get(kind, (-3, 3))
    return d.op(kind, [d.input(d.shape(), low, high)])


@operator("And", "Or", "Xor", "Not")
def logic(d, kind):
    shape = d.shape()
    operands = [d.given_integers(0, 2, shape, BOOL)]
    if kind != "Not":
        operands.append(d.given_integers(0, 2, [1 if d.chance(40) else n for n in shape], BOOL))
    return d.op(kind, operands, types=[BOOL])


@operator("Equal", "Less", "GreaterOrEqual")
def comparison(d, kind):
    shape, whole = d.shape(), d.chance(50)
    other = [1 if d.chance(40) else n for n in shape]
    a, b = ([d.given_integers(-3, 4, s, d.pick(I32, I32)) for s in (shape, other)] if whole else [d.input(shape), d.input(other)])
    return d.op(kind, [a, b], types=[BOOL])


@operator("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot")
def bits(d, kind):
    shape, element = d.shape(), d.pick(I32, U8, np.int16)
    low, high = (0, 256) if element is U8 else (-900, 900)
    return d.op(kind, [d.given_integers(low, high, shape, element) for _ in range(1 if kind == "BitwiseNot" else 2)], types=[element])


@operator("BitShift")
def shift(d):
    shape = d.shape()
    return d.op("BitShift", [d.given_integers(0, 256, shape, U8), d.given_integers(0, 8, shape, U8)], types=[U8],
                direction=d.pick("LEFT", "RIGHT"))


@operator("Cast")
def cast(d):
    shape, to = d.shape(), d.pick(I32, I64, BOOL, F32, I8, U8)
    number = {F32: 1, U8: 2, I8: 3, I32: 6, I64: 7, BOOL: 9}
    source = d.pick("float", "float", I32, U8, BOOL)
    # What is out of the range of a float's target is not defined.
    x = d.input(shape, 0 if to is U8 else -90, 90) if source == "float" else d.given_integers(0, 2 if source is BOOL else 90, shape, source)
    return d.op("Cast", [x], types=[to], to=number[to])


@operator("Sum", "Mean")
def variadic(d, kind):
    shape = d.shape()
    return d.op(kind, [d.input([1 if i and d.chance(30) else n for n in shape]) for i in range(d.whole(1, 4))])


@operator("CenterCropPad")
def centred(d):
    shape = d.shape(1, 4)
    axes = sorted({d.whole(0, len(shape) - 1) for _ in range(d.whole(1, len(shape)))})
    return d.op("CenterCropPad", [d.input(shape), d.integers([d.whole(1, 8) for _ in axes])], axes=axes)


@operator("Col2Im")
def image_of_columns(d):
    size, kernel = [d.whole(2, 6), d.whole(2, 6)], [d.whole(1, 2), d.whole(1, 2)]
    strides, pads = [d.whole(1, 2), d.whole(1, 2)], [d.whole(0, 1) for _ in range(4)]
    columns = [(size[i] + pads[i] + pads[i + 2] - kernel[i]) // strides[i] + 1 for i in range(2)]
    channels = d.whole(1, 3)
    return d.op("Col2Im", [d.input([1, channels * kernel[0] * kernel[1], columns[0] * columns[1]]), d.integers(size), d.integers(kernel)],
                strides=strides, pads=pads)


@operator("EyeLike", "Size", "Shape", "ConstantOfShape", "IsNaN", "IsInf", "Identity", "Dropout")
def about(d, kind):
    if kind == "EyeLike":
        return d.op(kind, [d.input([d.whole(1, 5), d.whole(1, 5)])], k=d.whole(-2, 2))
    if kind == "ConstantOfShape":
        return d.op(kind, [d.integers(d.shape(1, 3))])
    types = {"Size": [I64], "Shape": [I64], "IsNaN": [BOOL], "IsInf": [BOOL]}.get(kind, [])
    return d.op(kind, [d.input(d.shape())], types=types)


@operator("GlobalLpPool", "LpNormalization", "MeanVarianceNormalization")
def norm(d, kind):
    shape = [d.pick(1, 2), d.whole(2, 5), d.whole(1, 5), d.whole(2, 5)]
    attributes = {"GlobalLpPool": {"p": d.pick(1, 2, 3)}, "LpNormalization": {"p": d.pick(1, 2), "axis": d.whole(-4, 3)},
                  "MeanVarianceNormalization": {"axes": d.pick([0, 2, 3], [1], [2, 3])}}[kind]
    return d.op(kind, [d.input(shape)], of_set=13 if kind == "GlobalLpPool" else 22, **attributes)


@operator("OneHot")
def one_hot(d):
    depth, shape = d.whole(1, 6), d.shape(1, 2)
    return d.op("OneHot", [d.given_integers(-depth, depth, shape), d.integers(depth), d.operand(d.constants, np.float32([0.5, 2]))],
                axis=d.whole(-len(shape) - 1, len(shape)))


@operator("ReverseSequence")
def reversed_sequence(d):
    shape, time = [d.whole(2, 5), d.whole(2, 5), *d.shape(0, 2, 4)], d.whole(0, 1)
    return d.op("ReverseSequence", [d.input(shape), d.integers([d.whole(1, shape[time]) for _ in range(shape[1 - time])])],
                time_axis=time, batch_axis=1 - time)


@operator("RoiAlign")
def regions(d):
    count, h, w = d.whole(1, 3), d.whole(4, 8), d.whole(4, 8)
    corner = d.rng.uniform(0, 3, [count, 2])
    places = np.concatenate([corner, corner + d.rng.uniform(0.5, 4, [count, 2])], 1).astype(F32)
    return d.op("RoiAlign", [d.input([1, d.whole(1, 3), h, w]), d.operand(d.constants, places), d.integers([0] * count)],
                of_set=16, output_height=d.whole(1, 3), output_width=d.whole(1, 3), sampling_ratio=d.whole(0, 2), spatial_scale=d.pick(1.0, 0.5),
                coordinate_transformation_mode=d.pick("half_pixel", "output_half_pixel"))


@operator("ConvInteger", "MatMulInteger")
def integers(d, kind):
    of_x, of_w = d.pick(U8, I8), d.pick(U8, I8)

    def draw(shape, element, table):
        info = np.iinfo(element)
        return d.operand(table, d.rng.integers(info.min, info.max + 1, shape).astype(element))
    if kind == "ConvInteger":
        of_x = U8
        h, w, c, k = d.whole(3, 6), d.whole(3, 6), d.whole(1, 4), d.whole(1, 3)
        operands = [draw([1, c, h, w], of_x, d.given), draw([d.whole(1, 4), c, k, k], of_w, d.constants)]
        attributes = {"pads": [d.whole(0, k - 1)] * 4, "strides": [d.whole(1, 2)] * 2}
    else:
        m, k, n = d.whole(1, 4), d.whole(1, 9), d.whole(1, 5)
        operands, attributes = [draw([m, k], of_x, d.given), draw([k, n], of_w, d.constants)], {}
    if d.chance(70):
        operands += [draw([], of_x, d.constants), draw([], of_w, d.constants)]
    return d.op(kind, operands, types=[I32], **attributes)


@operator("DynamicQuantizeLinear")
def measured(d):
    return d.op("DynamicQuantizeLinear", [d.input(d.shape())], outputs=3, types=[U8, F32, U8])


@operator("RMSNormalization")
def rms(d):
    shape = [d.whole(2, 6) for _ in range(d.whole(2, 4))]
    axis = d.whole(0, len(shape) - 1)
    return d.op("RMSNormalization", [d.input(shape), d.constant(shape[axis:])], axis=axis, of_set=23)


@operator("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "SimplifiedLayerNormalization")
def skip_norm(d, kind):
    shape = [d.whole(1, 2), d.whole(1, 5), d.whole(2, 9)]
    if kind == "SimplifiedLayerNormalization":
        return d.op(kind, [d.input(shape), d.constant(shape[-1:])], axis=-1, epsilon=1e-5)
    operands = [d.input(shape), d.input(shape), d.constant(shape[-1:])]
    if kind == "SkipLayerNormalization":
        operands.append(d.constant(shape[-1:]))
    if d.chance(40):
        operands.append(d.constant(shape[-1:]))
    return d.op(kind, operands, domain=MICROSOFT, epsilon=1e-5)


@operator("FastGelu", "BiasGelu", "QuickGelu")
def gelu(d, kind):
    shape = d.shape(2, 3)
    operands = [d.input(shape)]
    if kind == "BiasGelu" or (kind == "FastGelu" and d.chance(50)):
        operands.append(d.constant(shape[-1:]))
    return d.op(kind, operands, domain=MICROSOFT, **({"alpha": 1.7} if kind == "QuickGelu" else {}))


@operator("FusedMatMul")
def fused_product(d):
    batch, m, k, n = d.whole(1, 3), d.whole(1, 5), d.whole(1, 9), d.whole(1, 5)
    a, b = d.chance(40), d.chance(40)
    return d.op("FusedMatMul", [d.input([batch, k, m] if a else [batch, m, k]), d.input([batch, n, k] if b else [batch, k, n])],
                domain=MICROSOFT, transA=int(a), transB=int(b), alpha=d.pick(1.0, 0.25))


@operator("FusedConv")
def fused_conv(d):
    c, k = d.whole(1, 4), d.whole(1, 3)
    outputs = d.whole(1, 4)
    return d.op("FusedConv", [d.input([1, c, d.whole(3, 6), d.whole(3, 6)]), d.constant([outputs, c, k, k]), d.constant([outputs])],
                domain=MICROSOFT, activation=d.pick("Relu", "Tanh", "Sigmoid"))


@operator("MultiHeadAttention")
def attention(d):
    batch, q, kv, heads, width = d.whole(1, 2), d.whole(1, 4), d.whole(1, 5), d.whole(1, 3), d.whole(1, 4)
    return d.op("MultiHeadAttention", [d.input([batch, q, heads * width]), d.input([batch, kv, heads * width]), d.input([batch, kv, heads * width])],
                domain=MICROSOFT, num_heads=heads)


@operator("RotaryEmbedding")
def rotary(d):
    batch, steps, heads, half = d.whole(1, 2), d.whole(1, 4), d.whole(1, 3), d.whole(1, 4)
    return d.op("RotaryEmbedding", [d.input([batch, steps, heads * half * 2]), d.integers(np.tile(np.arange(steps), (batch, 1))),
                                    d.constant([steps, half]), d.constant([steps, half])], domain=MICROSOFT, num_heads=heads,
                interleaved=d.whole(0, 1))


@operator("MatMulNBits")
def few_bits(d):
    k, n, block, rows = 32 * d.whole(1, 2), d.whole(1, 5), 32, d.whole(1, 3)
    blocks = k // block
    packed = d.operand(d.constants, d.rng.integers(0, 256, [n, blocks, block // 2]).astype(U8))
    scales = d.operand(d.constants, d.rng.uniform(0.01, 0.1, [n * blocks]).astype(F32))
    operands = [d.input([rows, k]), packed, scales]
    if d.chance(50):
        operands.append(d.operand(d.constants, d.rng.integers(0, 256, [n * ((blocks + 1) // 2)]).astype(U8)))
    return d.op("MatMulNBits", operands, domain=MICROSOFT, K=k, N=n, bits=4, block_size=block)


@operator("DFT")
def fourier(d):
    n = d.pick(2, 4, 8, 16)
    return d.op("DFT", [d.input([d.whole(1, 2), n, d.pick(1, 2)]), "", d.integers(1)], onesided=0, inverse=0)


@operator("STFT")
def short_time(d):
    frame = d.pick(4, 8, 16)
    return d.op("STFT", [d.input([1, frame * d.whole(2, 4), 1]), d.integers(d.whole(1, frame)), d.constant([frame], 0.1, 1), d.integers(frame)],
                onesided=1)


@operator("MaxUnpool")
def unpool(d):
    h, w = d.whole(1, 3), d.whole(1, 3)
    places = (np.arange(h)[:, None] * 2 * w * 2 + np.arange(w)[None] * 2 + d.rng.integers(0, 2, [h, w])).reshape(1, 1, h, w)
    return d.op("MaxUnpool", [d.input([1, 1, h, w]), d.integers(places)], kernel_shape=[2, 2], strides=[2, 2])


@operator("QLinearConv", "QLinearMatMul", "QGemm")
def quantised_layer(d, kind):
    of_x, of_w, of_y = (I8, I8, I8) if d.chance(50) else (U8, d.pick(U8, I8), U8)

    def integers_of(shape, element, table):
        info = np.iinfo(element)
        return d.operand(table, d.rng.integers(info.min, info.max + 1, shape).astype(element))

    def scale(low, high):
        return d.operand(d.constants, F32(d.rng.uniform(low, high)))

    def zero(element):
        return d.operand(d.constants, element(d.whole(*((-50, 50) if element is I8 else (80, 170)))))
    weight_zero = d.operand(d.constants, of_w(0 if of_w is I8 else 128))
    if kind == "QLinearConv":
        c, k, outputs, h, w = d.whole(1, 4), d.whole(1, 3), d.whole(1, 4), d.whole(3, 6), d.whole(3, 6)
        x, weights = integers_of([1, c, h, w], of_x, d.given), integers_of([outputs, c, k, k], of_w, d.constants)
        bias = [d.operand(d.constants, d.rng.integers(-4000, 4000, [outputs]).astype(I32))] if d.chance(60) else []
        return d.op(kind, [x, scale(0.01, 0.05), zero(of_x), weights, scale(0.01, 0.02), weight_zero, scale(0.1, 0.3), zero(of_y), *bias],
                    types=[of_y], pads=[k // 2] * 4)
    m, k, n = d.whole(1, 4), d.whole(1, 9), d.whole(1, 5)
    x, weights = integers_of([m, k], of_x, d.given), integers_of([k, n], of_w, d.constants)
    if kind == "QLinearMatMul":
        return d.op(kind, [x, scale(0.01, 0.05), zero(of_x), weights, scale(0.01, 0.02), weight_zero, scale(0.1, 0.3), zero(of_y)],
                    types=[of_y])
    bias = d.operand(d.constants, d.rng.integers(-4000, 4000, [n]).astype(I32)) if d.chance(60) else ""
    return d.op(kind, [x, scale(0.01, 0.05), zero(of_x), weights, scale(0.01, 0.02), weight_zero, bias, scale(0.1, 0.3), zero(of_y)],
                domain=MICROSOFT, types=[of_y])


@operator("QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearGlobalAveragePool", "QLinearConcat", "QLinearSoftmax")
def quantised_elements(d, kind):
    element = d.pick(U8, I8)
    shape = d.shape(1, 4) if kind != "QLinearGlobalAveragePool" else [1, d.whole(1, 5), d.whole(1, 5), d.whole(1, 5)]
    info = np.iinfo(element)

    def x(of=shape):
        return d.given_integers(info.min, info.max + 1, of, element)

    def parameters(low=0.01, high=0.05):
        return [d.operand(d.constants, F32(d.rng.uniform(low, high))),
                d.operand(d.constants, element(d.whole(*((-50, 50) if element is I8 else (80, 170)))))]
    if kind in ("QLinearAdd", "QLinearMul"):
        return d.op(kind, [x(), *parameters(), x(), *parameters(), *parameters(0.03, 0.09)], domain=MICROSOFT, types=[element])
    if kind == "QLinearConcat":
        axis = d.whole(0, len(shape) - 1)
        return d.op(kind, [*parameters(), x(), *parameters(), x(), *parameters()], domain=MICROSOFT, types=[element], axis=axis)
    if kind == "QLinearSoftmax":
        out = [d.operand(d.constants, F32(1 / 256)), d.operand(d.constants, element(-128 if element is I8 else 0))]
        return d.op(kind, [x(), *parameters(0.02, 0.1), *out], domain=MICROSOFT, types=[element], axis=-1, opset=13)
    attributes = {"QLinearLeakyRelu": {"alpha": 0.3}, "QLinearGlobalAveragePool": {"channels_last": 0}}.get(kind, {})
    out = parameters(0.003, 0.005) if kind == "QLinearSigmoid" else parameters()
    return d.op(kind, [x(), *parameters(), *out], domain=MICROSOFT, types=[element], **attributes)
