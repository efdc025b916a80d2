"""Layers with weights, and operators on activations, in each type that they have. make_cases.py runs them."""
import numpy as np
from tflite_writer import INT4, Cases, Model, one, options

SAME, VALID = 0, 1
CASES = case = Cases()
I8, I16, F32 = np.int8, np.int16, np.float32


def stated(g, shape, kind, at):
    """A tensor of activations; its quantisation is one of a few that no other operand has."""
    if kind is F32:
        return g.tensor(shape)
    if kind is I16:
        return g.tensor(shape, I16, [4e-4, 7e-4, 9e-4][at], 0)
    return g.tensor(shape, I8, [0.05, 0.09, 0.11][at], [3, -11, 21][at])


def weights(rng, g, shape, kind, axis=None, bits=8):
    """Random weights; with `axis` a scale for each index of it."""
    if kind is F32:
        return g.constant(rng.integers(-40, 41, shape) / 32, F32), None
    most = 7 if bits == 4 else 127
    values = rng.integers(-most, most + 1, shape)
    count = 1 if axis is None else shape[axis]
    scales = (rng.integers(50, 151, count) / (100 * most)).astype(F32)
    made = g.tensor(shape, INT4 if bits == 4 else I8, scales, 0, data=values, axis=axis or 0)
    return made, scales


def bias(rng, g, count, kind, scales, input_scale):
    if kind is F32:
        return g.constant(rng.integers(-40, 41, count) / 16, F32)
    wide = np.int32 if kind is I8 else np.int64
    reals = rng.integers(-100, 101, count) / 100
    product = (scales * F32(input_scale)).astype(F32)
    return g.constant(np.round(reals / product), wide, scale=product)


def scale_of(g, index):
    quantization = g.graph.tensors[index].quantization
    return None if quantization is None else quantization.scale[0]


def weighted(code, name, kind, shape, filter_shape, out, opts, axis=None, bits=8, has_bias=True, version=1):
    rng = np.random.default_rng(sum(map(ord, name)) + 1)
    model = Model()
    g = model.subgraph()
    x, y = stated(g, shape, kind, 0), stated(g, out, kind, 1)
    if kind is not F32:  # room for the sum of many products, and for some saturation
        terms = np.prod(filter_shape) / out[-1] if code != "DEPTHWISE_CONV_2D" else np.prod(filter_shape[1:3])
        span = 0.5 * float(np.sqrt(terms)) * scale_of(g, x) * (127 if kind is I8 else 32767)
        g.graph.tensors[y].quantization.scale = [F32(f"{span / (64 if kind is I8 else 16384):.2e}")]
    w, scales = weights(rng, g, filter_shape, kind, axis if kind is not F32 else None, bits)
    given = [x, w]
    if code == "TRANSPOSE_CONV":
        given = [g.constant(out), w, x]
    if has_bias:
        given.append(bias(rng, g, out[-1], kind, scales, scale_of(g, x)))
    g.op(code, given, [y], opts, version)
    g.inputs(x)
    g.outputs(y)
    return model


def conv(name, kind, depth=4, channels=5, kernel=(3, 2), stride=(1, 1), dilation=(1, 1), padding=SAME, groups=1,
         act=0, size=(6, 5), **more):
    spread = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    out = [-(-(n if padding == SAME else n - k + 1) // s) for n, k, s in zip(size, spread, stride)]
    opts = options("Conv2DOptions", padding=padding, strideH=stride[0], strideW=stride[1],
                   dilationHFactor=dilation[0], dilationWFactor=dilation[1], fusedActivationFunction=act)
    return weighted("CONV_2D", name, kind, [1, *size, depth], [channels, *kernel, depth // groups],
                    [1, *out, channels], opts, axis=0, **more)


def depthwise(name, kind, depth=4, multiplier=1, kernel=(3, 3), stride=(1, 1), dilation=(1, 1), padding=SAME, act=0,
              size=(6, 5), **more):
    spread = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    out = [-(-(n if padding == SAME else n - k + 1) // s) for n, k, s in zip(size, spread, stride)]
    channels = depth * multiplier
    opts = options("DepthwiseConv2DOptions", padding=padding, strideH=stride[0], strideW=stride[1],
                   depthMultiplier=multiplier, dilationHFactor=dilation[0], dilationWFactor=dilation[1],
                   fusedActivationFunction=act)
    return weighted("DEPTHWISE_CONV_2D", name, kind, [1, *size, depth], [1, *kernel, channels],
                    [1, *out, channels], opts, axis=3, **more)


def dense(name, kind, batch=1, inputs=19, outputs=7, act=0, **more):
    opts = options("FullyConnectedOptions", fusedActivationFunction=act)
    return weighted("FULLY_CONNECTED", name, kind, [batch, inputs], [outputs, inputs], [batch, outputs], opts, **more)


def transposed(name, kind, **more):
    opts = options("TransposeConvOptions", padding=SAME, strideH=2, strideW=2)
    return weighted("TRANSPOSE_CONV", name, kind, [1, 3, 4, 3], [4, 3, 3, 3], [1, 6, 8, 4], opts, axis=0, **more)


def pooled(code, kind, act=0):
    """The result's quantisation is that of the operand, as the format asks."""
    model = Model()
    g = model.subgraph()
    x, y = stated(g, [1, 7, 6, 5], kind, 0), stated(g, [1, 4, 3, 5], kind, 0)
    g.op(code, [x], [y], options("Pool2DOptions", padding=SAME, strideH=2, strideW=2, filterHeight=3, filterWidth=2,
                                 fusedActivationFunction=act))
    g.inputs(x)
    g.outputs(y)
    return model


def simple(code, kind, shapes, out, opts=None, constants=(), quantised_alike=False, out_kind=None, out_quant=None):
    """One operator on activations; each operand and the result have a quantisation of their own."""
    model = Model()
    g = model.subgraph()
    ids = [stated(g, shape, kind, 0 if quantised_alike else i) for i, shape in enumerate(shapes)]
    given = list(ids)
    for values, position in constants:
        given.insert(position, g.constant(values))
    if out_quant is not None:
        y = g.tensor(out, out_kind or kind, *out_quant)
    elif out_kind is not None and out_kind is not kind:
        y = g.tensor(out, out_kind) if out_kind is not I16 and out_kind is not I8 else stated(g, out, out_kind, 2)
    else:
        y = stated(g, out, kind, 0 if quantised_alike else 2)
    g.op(code, given, [y], opts)
    g.inputs(*ids)
    g.outputs(y)
    return model


def split_model():
    model = Model()
    g = model.subgraph()
    x, pieces = stated(g, [2, 6, 3], I8, 0), [stated(g, [2, 2, 3], I8, 0) for _ in range(3)]
    g.op("SPLIT", [g.constant(1), x], pieces, options("SplitOptions", numSplits=3))
    g.inputs(x)
    g.outputs(*pieces)
    return model


def unpack_model():
    model = Model()
    g = model.subgraph()
    x, pieces = stated(g, [2, 3, 4], I8, 0), [stated(g, [2, 4], I8, 0) for _ in range(3)]
    g.op("UNPACK", [x], pieces, options("UnpackOptions", num=3, axis=1))
    g.inputs(x)
    g.outputs(*pieces)
    return model


def prelu_model():
    model = Model()
    g = model.subgraph()
    x, y = stated(g, [1, 3, 4, 5], I8, 0), stated(g, [1, 3, 4, 5], I8, 2)
    alpha = g.tensor([1, 1, 5], I8, 0.01, 4, data=[-60, 127, 4, 90, -128])
    g.op("PRELU", [x, alpha], [y])
    g.inputs(x)
    g.outputs(y)
    return model


def select_model():
    model = Model()
    g = model.subgraph()
    c, a, b, y = g.tensor([2, 5], np.bool_), stated(g, [2, 5], I8, 0), stated(g, [2, 5], I8, 0), stated(g, [2, 5], I8, 0)
    g.op("SELECT_V2", [c, a, b], [y])
    g.inputs(c, a, b)
    g.outputs(y)
    return model


def requantised(kind, out_kind, quant, out_quant):
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([3, 7], kind, *quant), g.tensor([3, 7], out_kind, *out_quant)
    g.op("DEQUANTIZE" if out_kind is F32 else "QUANTIZE", [x], [y])
    g.inputs(x)
    g.outputs(y)
    return model


def svdf_network():
    """Two layers with a memory of some frames, and a classifier; six frames on one state."""
    rng = np.random.default_rng(77)
    model = Model()
    g = model.subgraph()
    x = g.tensor([1, 16], I8, 0.05, -9, name="frame")
    g.inputs(x)
    width, scale = 16, 0.05
    for layer, (units, rank, memory) in enumerate([(10, 2, 5), (6, 1, 7)]):
        filters = units * rank
        feature = g.tensor([filters, width], I8, 0.004, 0, data=rng.integers(-127, 128, (filters, width)))
        time = g.tensor([filters, memory], I16, 5e-5, 0, data=rng.integers(-9000, 9001, (filters, memory)))
        shift = g.tensor([units], np.int32, 5e-8, 0, data=rng.integers(-6000000, 6000001, units))
        state = g.tensor([1, filters * memory], I16, 1e-3, 0, variable=True)
        out_scale = [0.02, 0.03][layer]
        y = g.tensor([1, units], I8, out_scale, -128 if layer == 0 else 5, name=f"svdf{layer}")
        g.op("SVDF", [x, feature, time, shift, state], [y],
             options("SVDFOptions", rank=rank, fusedActivationFunction=1 if layer == 0 else 0))
        x, width, scale = y, units, out_scale
    w = g.tensor([4, width], I8, 0.01, 0, data=rng.integers(-127, 128, (4, width)))
    b = g.tensor([4], np.int32, 0.01 * scale, 0, data=rng.integers(-2000, 2001, 4))
    y = g.tensor([1, 4], I8, 0.04, 2)
    g.op("FULLY_CONNECTED", [x, w, b], [y], options("FullyConnectedOptions"))
    g.outputs(y)
    model.invocations = 6
    return model


@case
def fully_connected_s16_factor():
    """Of these scales the product in float would give another multiplier than that in double, in the bits that count."""
    rng = np.random.default_rng(88)
    model = Model()
    g = model.subgraph()
    scale, weight_scale = 0.0005877904, 0.0022801699
    x, y = g.tensor([12, 8], I16, scale), g.tensor([12, 8], I16, 0.0002474945)
    weights = g.tensor([8, 8], I8, weight_scale, 0, data=rng.integers(-30, 31, (8, 8)))
    bias = g.tensor([8], np.int64, scale * weight_scale, 0, data=rng.integers(-30000, 30001, 8))
    g.op("FULLY_CONNECTED", [x, weights, bias], [y], options("FullyConnectedOptions"), 4)
    g.inputs(x)
    g.outputs(y)
    return model


def add_case(name, make):
    CASES[name] = make


ADD = options("AddOptions", potScaleInt16=False)
SUB = options("SubOptions", potScaleInt16=False)
REDUCE = options("ReducerOptions", keepDims=False)
for name, make in {
    "conv_s8": lambda n: conv(n, I8, stride=(2, 1), act=1),
    "conv_valid_dilated_s8": lambda n: conv(n, I8, padding=VALID, dilation=(2, 1), size=(9, 6)),
    "conv_groups_s8": lambda n: conv(n, I8, depth=6, channels=9, groups=3),
    "conv_no_bias_s8": lambda n: conv(n, I8, kernel=(1, 1), has_bias=False),
    "conv_s16": lambda n: conv(n, I16, stride=(1, 2)),
    "conv_dilated_s16": lambda n: conv(n, I16, dilation=(2, 2), act=3),
    "conv_int4": lambda n: conv(n, I8, bits=4, channels=6),
    "conv_f32": lambda n: conv(n, F32, act=3),
    "depthwise_s8": lambda n: depthwise(n, I8, stride=(2, 2), act=3),
    "depthwise_multiplier_s8": lambda n: depthwise(n, I8, depth=2, multiplier=3, padding=VALID),
    "depthwise_dilated_s8": lambda n: depthwise(n, I8, dilation=(2, 2)),
    "depthwise_s16": lambda n: depthwise(n, I16),
    "depthwise_int4": lambda n: depthwise(n, I8, bits=4),
    "depthwise_f32": lambda n: depthwise(n, F32, stride=(1, 2)),
    "fully_connected_s8": lambda n: dense(n, I8, batch=3, act=1),
    "fully_connected_s16": lambda n: dense(n, I16, batch=2),
    "fully_connected_int4": lambda n: dense(n, I8, bits=4, inputs=20),
    "fully_connected_f32": lambda n: dense(n, F32, act=1),
    "transpose_conv_s8": lambda n: transposed(n, I8),
    "transpose_conv_s16": lambda n: transposed(n, I16),
    "transpose_conv_f32": lambda n: transposed(n, F32),
    "average_pool_s8": lambda n: pooled("AVERAGE_POOL_2D", I8, act=1),
    "average_pool_s16": lambda n: pooled("AVERAGE_POOL_2D", I16),
    "average_pool_f32": lambda n: pooled("AVERAGE_POOL_2D", F32),
    "max_pool_s8": lambda n: pooled("MAX_POOL_2D", I8),
    "max_pool_s16": lambda n: pooled("MAX_POOL_2D", I16),
    "add_broadcast_s8": lambda n: simple("ADD", I8, [[2, 3, 4], [1, 3, 1]], [2, 3, 4], ADD),
    "add_s16": lambda n: simple("ADD", I16, [[3, 5]] * 2, [3, 5], ADD),
    "sub_s8": lambda n: simple("SUB", I8, [[3, 5]] * 2, [3, 5], SUB),
    "sub_s16": lambda n: simple("SUB", I16, [[3, 5], [5]], [3, 5], SUB),
    "mul_s8": lambda n: simple("MUL", I8, [[3, 5], [1, 5]], [3, 5], options("MulOptions"), out_quant=(0.3, -7)),
    "mul_s16": lambda n: simple("MUL", I16, [[3, 5]] * 2, [3, 5], options("MulOptions"), out_quant=(0.01, 0)),
    "div_f32": lambda n: simple("DIV", F32, [[3, 5]] * 2, [3, 5], options("DivOptions")),
    "maximum_s8": lambda n: simple("MAXIMUM", I8, [[3, 5], [5]], [3, 5], quantised_alike=True),
    "minimum_f32": lambda n: simple("MINIMUM", F32, [[3, 5]] * 2, [3, 5]),
    "squared_difference_s8": lambda n: simple("SQUARED_DIFFERENCE", I8, [[3, 5]] * 2, [3, 5], out_quant=(0.5, -120)),
    "softmax_s8": lambda n: simple("SOFTMAX", I8, [[3, 9]], [3, 9], options("SoftmaxOptions", beta=1.0),
                                   out_quant=(1 / 256, -128)),
    "softmax_s8_to_s16": lambda n: simple("SOFTMAX", I8, [[3, 9]], [3, 9], options("SoftmaxOptions", beta=0.5),
                                          out_kind=I16, out_quant=(1 / 65536, -32768)),
    "softmax_s16": lambda n: simple("SOFTMAX", I16, [[3, 9]], [3, 9], options("SoftmaxOptions", beta=1.0),
                                    out_quant=(1 / 32768, 0)),
    "softmax_f32": lambda n: simple("SOFTMAX", F32, [[3, 9]], [3, 9], options("SoftmaxOptions", beta=1.0)),
    "log_softmax_s8": lambda n: simple("LOG_SOFTMAX", I8, [[8, 9]], [8, 9], out_quant=(1 / 16, 127)),
    "log_softmax_f32": lambda n: simple("LOG_SOFTMAX", F32, [[3, 9]], [3, 9]),
    "logistic_s8": lambda n: simple("LOGISTIC", I8, [[4, 40]], [4, 40], out_quant=(1 / 256, -128)),
    "logistic_s16": lambda n: simple("LOGISTIC", I16, [[4, 40]], [4, 40], out_quant=(1 / 32768, 0)),
    "tanh_s8": lambda n: simple("TANH", I8, [[4, 40]], [4, 40], out_quant=(1 / 128, 0)),
    "tanh_s16": lambda n: simple("TANH", I16, [[4, 40]], [4, 40], out_quant=(1 / 32768, 0)),
    "tanh_f32": lambda n: simple("TANH", F32, [[4, 5]], [4, 5]),
    "hard_swish_s8": lambda n: simple("HARD_SWISH", I8, [[4, 40]], [4, 40]),
    "leaky_relu_s8": lambda n: simple("LEAKY_RELU", I8, [[4, 40]], [4, 40], options("LeakyReluOptions", alpha=0.23)),
    "leaky_relu_s16": lambda n: simple("LEAKY_RELU", I16, [[4, 40]], [4, 40],
                                       options("LeakyReluOptions", alpha=0.23)),
    "elu_s8": lambda n: simple("ELU", I8, [[4, 40]], [4, 40]),
    "prelu_s8": lambda n: prelu_model(),
    "relu_s8": lambda n: simple("RELU", I8, [[4, 40]], [4, 40]),
    "relu6_s8": lambda n: simple("RELU6", I8, [[4, 40]], [4, 40], quantised_alike=True),  # README.md says why
    "abs_s16": lambda n: simple("ABS", I16, [[4, 9]], [4, 9], out_quant=(5e-4, 0)),
    "exp_f32": lambda n: simple("EXP", F32, [[2, 9]], [2, 9]),
    "mean_s8": lambda n: simple("MEAN", I8, [[1, 4, 5, 3]], [1, 3], REDUCE, [([1, 2], 1)]),
    "mean_s16": lambda n: simple("MEAN", I16, [[1, 4, 5, 3]], [1, 3], REDUCE, [([1, 2], 1)]),
    "sum_s8": lambda n: simple("SUM", I8, [[2, 4, 3]], [2, 3], REDUCE, [([1], 1)], out_quant=(0.2, 4)),
    "reduce_max_s8": lambda n: simple("REDUCE_MAX", I8, [[2, 4, 3]], [2, 3], REDUCE, [([1], 1)], True),
    "arg_max_s8": lambda n: simple("ARG_MAX", I8, [[2, 7]], [2], options("ArgMaxOptions", outputType=2), [(-1, 1)],
                                   out_kind=np.int32),
    "pad_s8": lambda n: simple("PAD", I8, [[1, 3, 4, 2]], [1, 6, 5, 2], options("PadOptions"),
                               [([[0, 0], [1, 2], [1, 0], [0, 0]], 1)], True),
    "pad_s16": lambda n: simple("PAD", I16, [[1, 3, 4, 2]], [1, 3, 6, 4], options("PadOptions"),
                                [([[0, 0], [0, 0], [2, 0], [1, 1]], 1)], True),
    "mirror_pad_s8": lambda n: simple("MIRROR_PAD", I8, [[3, 4]], [6, 7], options("MirrorPadOptions", mode=0),
                                      [([[2, 1], [1, 2]], 1)], True),
    "concatenation_s8": lambda n: simple("CONCATENATION", I8, [[2, 3, 2], [2, 1, 2]], [2, 4, 2],
                                         options("ConcatenationOptions", axis=1), (), True),
    "split_s8": lambda n: split_model(),
    "unpack_s8": lambda n: unpack_model(),
    "pack_s16": lambda n: simple("PACK", I16, [[2, 3]] * 2, [2, 2, 3], options("PackOptions", valuesCount=2, axis=1),
                                 (), True),
    "strided_slice_s16": lambda n: simple("STRIDED_SLICE", I16, [[4, 9]], [2, 4], options("StridedSliceOptions"),
                                          [([0, 1], 1), ([4, 9], 2), ([2, 2], 3)], True),
    "transpose_s8": lambda n: simple("TRANSPOSE", I8, [[2, 3, 4]], [4, 2, 3], options("TransposeOptions"),
                                     [([2, 0, 1], 1)], True),
    "space_to_depth_s8": lambda n: simple("SPACE_TO_DEPTH", I8, [[1, 4, 6, 2]], [1, 2, 3, 8],
                                          options("SpaceToDepthOptions", blockSize=2), (), True),
    "depth_to_space_s8": lambda n: simple("DEPTH_TO_SPACE", I8, [[1, 2, 3, 8]], [1, 4, 6, 2],
                                          options("DepthToSpaceOptions", blockSize=2), (), True),
    # Nothing is padded: README.md says why.
    "space_to_batch_s8": lambda n: simple("SPACE_TO_BATCH_ND", I8, [[1, 4, 6, 2]], [4, 2, 3, 2], None,
                                          [([2, 2], 1), ([[0, 0], [0, 0]], 2)], True),
    "batch_to_space_s8": lambda n: simple("BATCH_TO_SPACE_ND", I8, [[4, 2, 3, 2]], [1, 4, 5, 2], None,
                                          [([2, 2], 1), ([[0, 0], [0, 1]], 2)], True),
    "gather_s8": lambda n: simple("GATHER", I8, [[4, 3]], [3, 3], options("GatherOptions", axis=0), [([2, 0, 3], 1)],
                                  True),
    "resize_bilinear_s8": lambda n: simple("RESIZE_BILINEAR", I8, [[1, 3, 4, 2]], [1, 7, 5, 2],
                                           options("ResizeBilinearOptions", halfPixelCenters=True), [([7, 5], 1)],
                                           True),
    "resize_nearest_s8": lambda n: simple("RESIZE_NEAREST_NEIGHBOR", I8, [[1, 3, 4, 2]], [1, 6, 8, 2],
                                          options("ResizeNearestNeighborOptions"), [([6, 8], 1)], True),
    "batch_matmul_s8": lambda n: simple("BATCH_MATMUL", I8, [[2, 3, 5], [2, 5, 4]], [2, 3, 4],
                                        options("BatchMatMulOptions"), out_quant=(0.6, 8)),
    "batch_matmul_s16": lambda n: simple("BATCH_MATMUL", I16, [[2, 3, 5], [2, 4, 5]], [2, 3, 4],
                                         options("BatchMatMulOptions", adjY=True), out_quant=(0.02, 0)),
    "equal_s8": lambda n: simple("EQUAL", I8, [[3, 8]] * 2, [3, 8], options("EqualOptions"), out_kind=np.bool_),
    "less_f32": lambda n: simple("LESS", F32, [[3, 8], [8]], [3, 8], options("LessOptions"), out_kind=np.bool_),
    "logical_or": lambda n: one("LOGICAL_OR", [[3, 8]] * 2, [3, 8], np.bool_, opts=options("LogicalOrOptions")),
    "add_i32": lambda n: one("ADD", [[3, 4]] * 2, [3, 4], np.int32, opts=ADD),
    "cast_f32_to_i32": lambda n: simple("CAST", F32, [[3, 8]], [3, 8], options("CastOptions", inDataType=0, outDataType=2),
                                        out_kind=np.int32),
    "select_s8": lambda n: select_model(),
    "quantize_f32_to_s8": lambda n: requantised(F32, I8, (), (0.02, -5)),
    "quantize_s8_to_s16": lambda n: requantised(I8, I16, (0.05, 7), (3e-4, 0)),
    "quantize_s16_to_s8": lambda n: requantised(I16, I8, (4e-4, 0), (0.08, 12)),
    "dequantize_s16": lambda n: requantised(I16, F32, (4e-4, 0), ()),
    "svdf_network_s8": lambda n: svdf_network(),
}.items():
    add_case(name, lambda name=name, make=make: make(name))
