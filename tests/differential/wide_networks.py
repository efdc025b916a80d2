"""Random small networks of what lies between convolutions: padding, transposed convolutions, resizing, pieces that change places,
attention, gates, normalisation, sequences."""
import numpy as np
from networks import Network
from operators import F32, I8, I16, SAME, VALID, Draw, activation, window_extent
from tflite_writer import options

FIXED = {"LOGISTIC": {I8: (1 / 256, -128), I16: (1 / 32768, 0)}, "TANH": {I8: (1 / 128, 0), I16: (1 / 32768, 0)},
         "SOFTMAX": {I8: (1 / 256, -128), I16: (1 / 32768, 0)}}


class WideNetwork(Network):
    def fixed(self, name):
        return {} if self.d.kind is F32 else dict(zip(("scale", "zero"), FIXED[name][self.d.kind]))

    def reshape(self, shape):
        self.become("RESHAPE", [self.id, self.d.g.constant(shape)], shape, self.q, options("ReshapeOptions", newShape=shape), 1)

    def transpose(self, order):
        self.become("TRANSPOSE", [self.id, self.d.g.constant(order)], [self.shape[i] for i in order], self.q,
                    options("TransposeOptions"), 2)

    def dense(self, channels):
        weights, bias, q = self.d.weights([channels, self.shape[-1]], channels, 0, self.q.get("scale", 1), self.shape[-1])
        self.become("FULLY_CONNECTED", [self.id, weights, bias], self.shape[:-1] + [channels], q,
                    options("FullyConnectedOptions", keepNumDims=True), 4)

    def dilated(self):
        d, (_, h, w, c) = self.d, self.shape
        dilation, k, channels = d.pick(1, 2, 3), d.pick(2, 3), d.wide(d.pick(c, 4, 8, 7))
        weights, bias, q = d.weights([channels, k, k, c], channels, 0, self.q.get("scale", 1), k * k * c)
        self.become("CONV_2D", [self.id, weights, bias], [1, h, w, channels], q, options(
            "Conv2DOptions", padding=SAME, strideH=1, strideW=1, dilationHFactor=dilation, dilationWFactor=dilation,
            fusedActivationFunction=activation(d)), 3)

    def padded(self):
        """A convolution behind padding of its own."""
        d, (_, h, w, c) = self.d, self.shape
        before, after, k, stride = d.whole(0, 2), d.whole(1, 2), d.pick(1, 3), d.pick(1, 2)
        h, w = h + before + after, w + before + after
        if min(h, w) < k:
            return
        self.become("PAD", [self.id, d.g.constant([[0, 0], [before, after], [before, after], [0, 0]])], [1, h, w, c], self.q,
                    options("PadOptions"), 2)
        depthwise = d.chance(50)
        channels = c if depthwise else d.wide(d.pick(4, 9))
        weights, bias, q = d.weights([1, k, k, c] if depthwise else [channels, k, k, c], channels, 3 if depthwise else 0,
                                     self.q.get("scale", 1), k * k * (1 if depthwise else c))
        common = dict(padding=VALID, strideH=stride, strideW=stride, dilationHFactor=1, dilationWFactor=1,
                      fusedActivationFunction=activation(d))
        self.become("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", [self.id, weights, bias],
                    [1, window_extent(h, k, stride, 1, VALID), window_extent(w, k, stride, 1, VALID), channels], q,
                    options("DepthwiseConv2DOptions", depthMultiplier=1, **common) if depthwise
                    else options("Conv2DOptions", **common), 3)

    def upsample(self):
        d, (_, h, w, c) = self.d, self.shape
        if h * w > 150:
            return
        if d.kind is not I16 and d.chance(60):
            code = d.pick("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
            align, half = d.pick((False, False), (True, False), (False, True))
            size = d.pick([2 * h, 2 * w], [h + 1, 2 * w], [d.whole(1, 9), d.whole(1, 9)])
            self.become(code, [self.id, d.g.constant(size)], [1, *size, c], self.q, options(
                "ResizeBilinearOptions" if code == "RESIZE_BILINEAR" else "ResizeNearestNeighborOptions",
                alignCorners=align, halfPixelCenters=half), 3)
            return
        k, stride, padding, channels = d.pick(2, 3, 4), d.pick(1, 2, 2), d.pick(SAME, VALID), d.wide(d.pick(3, 8))
        shape = [1] + [n * stride if padding == SAME else n * stride + max(k - stride, 0) for n in (h, w)] + [channels]
        weights, bias, q = d.weights([channels, k, k, c], channels, 0, self.q.get("scale", 1), k * k * c)
        self.become("TRANSPOSE_CONV", [d.g.constant(shape), weights, self.id, bias], shape, q,
                    options("TransposeConvOptions", padding=padding, strideH=stride, strideW=stride), 3)

    def shuffle(self):
        """Channels that change places, as groups of convolutions do."""
        c = self.shape[-1]
        groups = next((n for n in (4, 3, 2) if c % n == 0 and c > n), None)
        if groups is None:
            return
        shape = list(self.shape)
        self.reshape(shape[:3] + [groups, c // groups])
        self.transpose([0, 1, 2, 4, 3])
        self.reshape(shape)

    def pieces(self):
        """Two halves of the channels, one of them convolved, and joined the other way round."""
        d, shape, q = self.d, self.shape, self.q
        if shape[-1] % 2:
            return
        half = shape[:-1] + [shape[-1] // 2]
        parts = [d.tensor(half, **q) for _ in range(2)]
        d.g.op("SPLIT", [d.g.constant(3), self.id], parts, options("SplitOptions", numSplits=2), 2)
        self.id, self.shape = parts[0], half
        self.dilated()
        if d.kind is not F32:
            self.become("QUANTIZE", [self.id], self.shape, q)
        joined = self.shape[:3] + [self.shape[3] + half[3]]
        self.become("CONCATENATION", [parts[1], self.id], joined, q, options("ConcatenationOptions", axis=3))

    def crop(self):
        d, (_, h, w, c) = self.d, self.shape
        if min(h, w) < 3:
            return
        y, x, step = d.whole(0, 1), d.whole(0, 2), d.pick(1, 1, 2)
        shape = [1, -(-(h - y) // step), -(-(w - x) // step), c]
        self.become("STRIDED_SLICE", [self.id, d.g.constant([0, y, x, 0]), d.g.constant([1, h, w, c]),
                                      d.g.constant([1, step, step, 1])], shape, self.q, options("StridedSliceOptions"), 2)

    def gate(self):
        """Squeeze and excite: a mean, two layers, and a product with the image."""
        d, x, shape, q = self.d, self.id, self.shape, self.q
        self.become("MEAN", [x, d.g.constant([1, 2])], [1, 1, 1, shape[3]], q, options("ReducerOptions", keepDims=True))
        self.reshape([1, shape[3]])
        self.dense(self.d.wide(4))
        self.dense(shape[3])
        name = d.pick("LOGISTIC", "TANH")
        self.become(name, [self.id], self.shape, self.fixed(name))
        self.reshape([1, 1, 1, shape[3]])
        self.become("MUL", [x, self.id], shape, q, options("MulOptions"))

    def attention(self):
        d, (_, h, w, c) = self.d, self.shape
        if h * w > 80:
            return
        heads, depth = d.pick(1, 2), d.pick(4, 8)
        shape, x, q = self.shape, self.id, self.q
        made = []
        for _ in range(3):
            self.id, self.shape, self.q = x, shape, q
            self.reshape([1, h * w, c])
            self.dense(heads * depth)
            self.reshape([1, h * w, heads, depth])
            self.transpose([0, 2, 1, 3])
            made.append((self.id, self.q))
        (query, a), (key, b), (value, v) = made
        whole = [1, heads, h * w, h * w]

        def product_of(first, second, terms):
            if d.kind is F32:
                return {}
            step = first["scale"] * second["scale"] * 74 * 74 * np.sqrt(terms) / 64 * (1 if d.kind is I8 else 256)
            return dict(scale=float(np.float32(step)), zero=0)

        self.become("BATCH_MATMUL", [query, key], whole, product_of(a, b, depth),
                    options("BatchMatMulOptions", adjX=False, adjY=True), 4)
        self.become("SOFTMAX", [self.id], whole, self.fixed("SOFTMAX"), options("SoftmaxOptions", beta=1.0), 2)
        result = {} if d.kind is F32 else dict(scale=v["scale"], zero=v["zero"])
        self.become("BATCH_MATMUL", [self.id, value], [1, heads, h * w, depth], result,
                    options("BatchMatMulOptions", adjX=False, adjY=False), 4)
        self.transpose([0, 2, 1, 3])
        self.reshape([1, h, w, heads * depth])

    def normalise(self):
        """Differences from the mean of the channels, squared, and the mean of these."""
        d, x, shape = self.d, self.id, self.shape
        if d.kind is I16:
            return
        last = d.g.constant([3])
        self.become("MEAN", [x, last], shape[:3] + [1], self.q, options("ReducerOptions", keepDims=True))
        mean, q = self.id, d.quantisation(None, 0.01, 0.1)
        self.become("SQUARED_DIFFERENCE", [x, mean], shape, q, options("SquaredDifferenceOptions"))
        self.become("MEAN", [self.id, last], shape[:3] + [1], q, options("ReducerOptions", keepDims=True))
        spread = self.id
        self.become("SUB", [x, mean], shape, d.quantisation(None, 0.01, 0.1), options("SubOptions"))
        self.become("ADD", [self.id, spread], shape, d.quantisation(None, 0.02, 0.2), options("AddOptions"))

    def extreme(self):
        d, x, shape, q = self.d, self.id, self.shape, self.q
        self.activate()
        if self.shape == shape and self.id != x:
            if d.kind is not F32:
                self.become("QUANTIZE", [self.id], shape, q)
            self.become(d.pick("MAXIMUM", "MINIMUM"), [self.id, x], shape, q, options("MaximumMinimumOptions"))

    def along(self):
        """A sequence: rows behind one another, with windows of one axis."""
        d, (_, h, w, c) = self.d, self.shape
        k, dilation = d.pick(2, 3, 5), d.pick(1, 2, 4)
        self.reshape([1, 1, h * w, c])
        channels = d.wide(d.pick(c, 6, 8))
        weights, bias, q = d.weights([channels, 1, k, c], channels, 0, self.q.get("scale", 1), k * c)
        self.become("CONV_2D", [self.id, weights, bias], [1, 1, h * w, channels], q, options(
            "Conv2DOptions", padding=SAME, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=dilation,
            fusedActivationFunction=activation(d)), 3)
        self.reshape([1, h, w, channels])

    def scores(self):
        c = int(np.prod(self.shape))
        self.reshape([1, c])
        self.dense(self.d.wide(6))
        self.become("SOFTMAX", [self.id], self.shape, self.fixed("SOFTMAX"), options("SoftmaxOptions", beta=1.0), 2)


def draw_wide_network(rng):
    d = Draw(rng, (I8, I8, I8, I16, F32))
    net = WideNetwork(d, [1, d.whole(3, 11), d.whole(3, 11), d.pick(1, 2, 4, 6, 8)])
    layers = (net.convolution, net.branch, net.dilated, net.padded, net.upsample, net.shuffle, net.pieces, net.crop, net.gate,
              net.attention, net.normalise, net.extreme, net.along, net.pool)
    for _ in range(d.whole(2, 6)):
        d.pick(*layers)()
    if d.chance(30):
        net.scores()
    elif d.chance(50):
        net.head()
    elif net.id == net.first:
        net.dilated()
    return d.done([net.first], [net.id])
