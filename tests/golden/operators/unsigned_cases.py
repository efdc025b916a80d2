"""Networks as old converters made them, of quantised bytes without a sign. make_litert_cases.py runs them."""
import numpy as np
from tflite_writer import Cases, Model, flexible, options

U8 = np.uint8
SAME, VALID = 0, 1
RELU, RELU6 = 1, 3
CASES = case = Cases()


class Network:
    """Layers one behind another; what each makes has a scale and a zero point of its own."""

    def __init__(self, seed):
        self.model = Model()
        self.g = self.model.subgraph()
        self.rng = np.random.default_rng(seed)

    def tensor(self, shape, scale, zero):
        return self.g.tensor(shape, U8, scale, zero)

    def scale_of(self, tensor):
        return np.float32(self.g.graph.tensors[tensor].quantization.scale[0])

    def shape_of(self, tensor):
        return list(self.g.graph.tensors[tensor].shape)

    def weights(self, shape, scale, zero, reach=None):
        """`reach`: how far weights are from their zero point; none: as far as bytes are."""
        low, high = (0, 255) if reach is None else (zero - reach, zero + reach)
        values = np.clip(np.rint(self.rng.normal(zero, 45, shape)), low, high)
        values.flat[0], values.flat[-1] = low, high
        return self.g.constant(values, U8, scale=scale, zero=zero)

    def bias(self, x, weights, count):
        return self.g.constant(self.rng.integers(-900, 900, count), np.int32,
                               scale=self.scale_of(x) * self.scale_of(weights))

    def conv(self, x, weights, to, stride=1, activation=RELU6, padding=SAME):
        self.g.op("CONV_2D", [x, weights, self.bias(x, weights, self.shape_of(weights)[0])], [to],
                  options("Conv2DOptions", padding=padding, strideH=stride, strideW=stride, dilationHFactor=1,
                          dilationWFactor=1, fusedActivationFunction=activation))
        return to

    def depthwise(self, x, weights, to, stride=1):
        self.g.op("DEPTHWISE_CONV_2D", [x, weights, self.bias(x, weights, self.shape_of(weights)[3])], [to],
                  options("DepthwiseConv2DOptions", padding=SAME, strideH=stride, strideW=stride, depthMultiplier=1,
                          dilationHFactor=1, dilationWFactor=1, fusedActivationFunction=RELU6))
        return to

    def finish(self, inputs, outputs):
        self.g.inputs(*inputs)
        self.g.outputs(*outputs)
        return self.model


def network(gives_classes):
    n = Network(11)
    x = n.tensor([1, 13, 12, 3], 1 / 128, 128)
    a = n.conv(x, n.weights([8, 3, 3, 3], 0.011, 117), n.tensor([1, 7, 6, 8], 6 / 255, 0), stride=2)
    b = n.depthwise(a, n.weights([1, 3, 3, 8], 0.012, 140), n.tensor([1, 7, 6, 8], 6 / 255, 0))
    c = n.conv(b, n.weights([8, 1, 1, 8], 0.008, 122), n.tensor([1, 7, 6, 8], 0.035, 131), activation=0)
    d = n.tensor([1, 7, 6, 8], 0.05, 98)
    n.g.op("ADD", [a, c], [d], options("AddOptions"))
    e = n.conv(d, n.weights([4, 3, 3, 8], 0.004, 128, reach=100), n.tensor([1, 7, 6, 4], 0.03, 12), activation=0)
    pooled, joined = n.tensor([1, 7, 6, 8], 0.05, 98), n.tensor([1, 7, 6, 20], 0.055, 90)
    n.g.op("AVERAGE_POOL_2D", [d], [pooled], options("Pool2DOptions", padding=SAME, strideH=1, strideW=1,
                                                      filterHeight=3, filterWidth=3))
    n.g.op("CONCATENATION", [e, pooled, c], [joined], options("ConcatenationOptions", axis=3))
    mean, flat = n.tensor([1, 1, 1, 20], 0.055, 90), n.tensor([1, 20], 0.055, 90)
    n.g.op("AVERAGE_POOL_2D", [joined], [mean], options("Pool2DOptions", padding=VALID, strideH=1, strideW=1,
                                                         filterHeight=7, filterWidth=6))
    n.g.op("RESHAPE", [mean, n.g.constant([1, 20])], [flat], options("ReshapeOptions", newShape=[1, 20]))
    weights = n.weights([10, 20], 0.02, 150)
    logits, classes = n.tensor([1, 10], 0.06, 120), n.tensor([1, 10], 1 / 256, 0)
    n.g.op("FULLY_CONNECTED", [flat, weights, n.bias(flat, weights, 10)], [logits], options("FullyConnectedOptions"))
    if gives_classes:
        n.g.op("SOFTMAX", [logits], [classes], options("SoftmaxOptions", beta=1.0))
    return n.finish([x], [classes if gives_classes else logits])


@case
def unsigned_network():
    """Separable convolutions, a sum, a concatenation of three scales, averages, classes."""
    return network(True)


@case
def unsigned_features():
    """The same without floats."""
    return network(False)


def rounded(sums, factor):
    """Sums times a factor below one, as TFLite rounds them: to the bits of a shift first, and then to a whole number."""
    mantissa, exponent = np.frexp(factor)
    high = (sums * int(np.rint(mantissa * 2**31)) + 2**30) >> 31
    return (high + (1 << (-exponent - 1))) >> -exponent


def sums_between(x, weights, out, count):
    """Sums that are rounded to one number where the scales are multiplied in single precision, and to another in double."""
    sums = np.arange(1, int(200 * out / (float(x) * float(weights))), dtype=np.int64)
    single, double = float(x * weights), float(x) * float(weights)
    apart = sums[rounded(sums, single / float(out)) != rounded(sums, double / float(out))]
    return apart[np.linspace(0, len(apart) - 1, count).astype(int)]


@case
def unsigned_single_scales():
    """Layers whose sums tell in which precision the scales of input and weights are multiplied: LiteRT does it in single precision."""
    n = Network(18)
    scale, of_weights, made = np.float32(0.023528477), np.float32(0.0151478), np.float32(3.5)
    count = 4
    x, row = n.tensor([1, 1, 2, count], scale, 128), n.tensor([2, count], scale, 128)
    sums = sums_between(scale, of_weights, made, count)

    def weights(shape, zero=128):
        """Of a zero point elsewhere weights take nine bits."""
        low, high = (120, 137) if zero == 128 else (0, 256)
        return n.g.constant(n.rng.integers(low, high, shape), U8, scale=of_weights, zero=zero)

    def bias():
        return n.g.constant(sums, np.int32, scale=scale * of_weights)

    plane, line, up = [n.tensor(shape, made, 20) for shape in ([1, 1, 2, count], [2, count], [1, 1, 4, count])]
    deep = n.tensor([1, 1, 2, count], made, 20)
    window = {"padding": SAME, "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}
    n.g.op("CONV_2D", [x, weights([count, 1, 1, count]), bias()], [plane], options("Conv2DOptions", **window))
    n.g.op("DEPTHWISE_CONV_2D", [x, weights([1, 1, 1, count], zero=60), bias()], [deep],
           options("DepthwiseConv2DOptions", depthMultiplier=1, **window))
    n.g.op("RESHAPE", [x, n.g.constant([2, count])], [row], options("ReshapeOptions", newShape=[2, count]))
    n.g.op("FULLY_CONNECTED", [row, weights([count, count]), bias()], [line], options("FullyConnectedOptions"))
    n.g.op("TRANSPOSE_CONV", [n.g.constant([1, 1, 4, count]), weights([count, 1, 2, count]), x, bias()], [up],
           options("TransposeConvOptions", padding=SAME, strideH=1, strideW=2), version=3)
    # The first pixel is nothing, so that sums are the numbers that are added to them.
    n.model.values = [np.concatenate([np.full(count, 128), n.rng.integers(0, 256, count)]).astype(U8).reshape(1, 1, 2, count)]
    return n.finish([x], [plane, deep, line, up])


@case
def unsigned_decoder():
    """Transposed convolution, resizing, padding, strides over pixels, a mean."""
    n = Network(12)
    x = n.tensor([1, 5, 4, 6], 0.02, 140)
    padded, up, big = n.tensor([1, 7, 5, 6], 0.02, 140), n.tensor([1, 14, 10, 4], 0.05, 128), n.tensor([1, 9, 11, 4], 0.05, 128)
    mean, picked = n.tensor([1, 4], 0.03, 100), n.tensor([1, 5, 5, 4], 0.05, 128)
    n.g.op("PAD", [x, n.g.constant([[0, 0], [1, 1], [0, 1], [0, 0]])], [padded], options("PadOptions"))
    n.g.op("TRANSPOSE_CONV", [n.g.constant([1, 14, 10, 4]), n.weights([4, 3, 3, 6], 0.01, 131), padded], [up],
           options("TransposeConvOptions", padding=SAME, strideH=2, strideW=2))
    n.g.op("RESIZE_BILINEAR", [up, n.g.constant([9, 11])], [big], options("ResizeBilinearOptions", halfPixelCenters=True),
           version=3)
    n.g.op("MEAN", [big, n.g.constant([1, 2])], [mean], options("ReducerOptions"))
    n.g.op("STRIDED_SLICE", [big, n.g.constant([0, 0, 1, 0]), n.g.constant([1, 9, 11, 4]), n.g.constant([1, 2, 2, 1])],
           [picked], options("StridedSliceOptions"))
    return n.finish([x], [mean, picked])


@case
def unsigned_functions():
    """All bytes through functions of one element, and two tensors compared and combined."""
    n = Network(13)
    x, y = n.tensor([2, 128], 0.05, 120), n.tensor([2, 128], 0.03, 10)
    results = []
    for name, scale, zero in (("LOGISTIC", 1 / 256, 0), ("TANH", 1 / 128, 128), ("HARD_SWISH", 0.04, 12), ("RELU6", 0.03, 4)):
        results.append(n.tensor([2, 128], scale, zero))
        n.g.op(name, [x], [results[-1]])
    for name, opts, scale, zero in (("SUB", "SubOptions", 0.06, 140), ("MUL", "MulOptions", 0.12, 100)):
        results.append(n.tensor([2, 128], scale, zero))
        n.g.op(name, [x, y], [results[-1]], options(opts))
    results.append(n.g.tensor([2, 128], np.bool_))
    n.g.op("GREATER", [x, y], [results[-1]], options("GreaterOptions"))
    real = n.g.tensor([2, 128])
    n.g.op("DEQUANTIZE", [results[0]], [real])
    n.model.values = [np.arange(256, dtype=U8).reshape(2, 128), n.rng.integers(0, 256, (2, 128)).astype(U8)]
    return n.finish([x, y], [*results, real])


@case
def unsigned_sums():
    """GELU of all bytes, sums on one scale and on two, and quotients that are far from zero, where LiteRT divides as it says."""
    n = Network(15)
    x, y = n.tensor([4, 64], 0.05, 120), n.tensor([4, 64], 0.03, 0)
    gelu, exact = n.tensor([4, 64], 0.04, 30), n.tensor([4, 64], 0.03, 40)
    n.g.op("GELU", [x], [gelu], options("GeluOptions", approximate=True))
    n.g.op("GELU", [x], [exact], options("GeluOptions"))
    same, other = n.tensor([4], 0.05, 120), n.tensor([1, 64], 0.11, 99)
    n.g.op("SUM", [x, n.g.constant([1])], [same], options("ReducerOptions"))
    n.g.op("SUM", [x, n.g.constant([0])], [other], options("ReducerOptions", keepDims=True))
    quotient = n.tensor([4, 64], 0.2, 100)
    n.g.op("DIV", [x, y], [quotient], options("DivOptions"))
    far = np.where(n.rng.integers(0, 2, 256) == 1, n.rng.integers(160, 256, 256), n.rng.integers(0, 80, 256))
    n.model.values = [far.astype(U8).reshape(4, 64), n.rng.integers(1, 90, (4, 64)).astype(U8)]
    return n.finish([x, y], [gelu, exact, same, other, quotient])


@case
def unsigned_ends():
    """An output that is an input, one that is an operator's result and another's operand, and numbers cast to floats."""
    n = Network(14)
    x = n.tensor([3, 5], 0.1, 7)
    y, z, real = n.tensor([3, 5], 0.1, 7), n.tensor([5, 3], 0.1, 7), n.g.tensor([3, 5])
    n.g.op("RELU", [x], [y])
    n.g.op("TRANSPOSE", [y, n.g.constant([1, 0])], [z], options("TransposeOptions"))
    n.g.op("CAST", [y], [real], options("CastOptions", inDataType=3, outDataType=0))
    return n.finish([x], [x, y, z, real])


@case
def unsigned_detections():
    """Boxes of a detector by their distances from anchors, all of them bytes."""
    n = Network(15)
    boxes, scores = n.tensor([1, 12, 4], 0.08, 128), n.tensor([1, 12, 3], 1 / 256, 0)
    anchors = n.g.constant(n.rng.integers(40, 220, (12, 4)), U8, scale=1 / 255, zero=0)
    kept = n.tensor([1, 12, 3], 1 / 256, 0)
    n.g.op("RELU", [scores], [kept])
    made = [n.g.tensor(shape) for shape in ([1, 5, 4], [1, 5], [1, 5], [1])]
    n.g.op("TFLite_Detection_PostProcess", [boxes, kept, anchors], made, custom=flexible(
        max_detections=5, max_classes_per_detection=1, detections_per_class=100, use_regular_nms=False, num_classes=2,
        nms_score_threshold=0.1, nms_iou_threshold=0.5, y_scale=10.0, x_scale=10.0, h_scale=5.0, w_scale=5.0))
    return n.finish([boxes, scores], made)
