"""Random small networks of images: convolutions, pooling, branches that meet again, and a head."""
from operators import F32, I8, I16, SAME, Draw, activation, window_extent
from tflite_writer import options


class Network:
    """A tensor that grows: its number, shape and quantisation."""

    def __init__(self, d, shape):
        self.d, self.shape, self.q = d, shape, d.quantisation(None, 0.01, 0.1)
        self.id = self.first = d.tensor(shape, **self.q)

    def become(self, code, operands, shape, q, opts=None, version=2):
        made = self.d.tensor(shape, **q)
        self.d.g.op(code, operands, [made], opts, version)
        self.id, self.shape, self.q = made, shape, q

    def convolution(self):
        d, (_, h, w, c) = self.d, self.shape
        depthwise, k, stride = d.chance(40), d.pick(1, 3, 3, 5), d.pick(1, 1, 2)
        channels = c if depthwise else d.wide(d.pick(4, 8, 12, 16, 5))
        weights, bias, q = d.weights([1, k, k, c] if depthwise else [channels, k, k, c], channels, 3 if depthwise else 0,
                                     self.q.get("scale", 1), k * k * (1 if depthwise else c))
        shape = [1, window_extent(h, k, stride, 1, SAME), window_extent(w, k, stride, 1, SAME), channels]
        common = dict(padding=SAME, strideH=stride, strideW=stride, dilationHFactor=1, dilationWFactor=1,
                      fusedActivationFunction=activation(d))
        opts = (options("DepthwiseConv2DOptions", depthMultiplier=1, **common) if depthwise
                else options("Conv2DOptions", **common))
        self.become("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", [self.id, weights, bias], shape, q, opts, 3)

    def pool(self):
        d, (_, h, w, c) = self.d, self.shape
        shape = [1, window_extent(h, 2, 2, 1, SAME), window_extent(w, 2, 2, 1, SAME), c]
        self.become(d.pick("MAX_POOL_2D", "AVERAGE_POOL_2D"), [self.id], shape, self.q,
                    options("Pool2DOptions", padding=SAME, strideH=2, strideW=2, filterHeight=2, filterWidth=2), 3)

    def activate(self):
        d = self.d
        if d.kind is I8 and d.chance(60):
            if d.chance(50):
                self.become("HARD_SWISH", [self.id], self.shape, d.quantisation(None, 0.01, 0.05))
            else:  # SiLU
                x, q = self.id, self.q
                self.become("LOGISTIC", [x], self.shape, dict(scale=1 / 256, zero=-128))
                self.become("MUL", [x, self.id], self.shape, dict(scale=q["scale"], zero=-100), options("MulOptions"))
        elif d.chance(50):
            self.become("LEAKY_RELU", [self.id], self.shape, d.quantisation(None, 0.01, 0.1),
                        options("LeakyReluOptions", alpha=0.1))

    def branch(self):
        """Two ways, joined by a sum or side by side."""
        d, x, shape, q = self.d, self.id, self.shape, self.q
        self.convolution()
        if self.shape == shape and d.chance(60):
            self.become(d.pick("ADD", "SUB", "MUL"), [self.id, x], shape, d.quantisation(None, 0.02, 0.2),
                        options("AddOptions", fusedActivationFunction=0))
            self.d.g.graph.operators[-1].builtinOptionsType, self.d.g.graph.operators[-1].builtinOptions = options(
                {0: "AddOptions", 41: "SubOptions", 18: "MulOptions"}[self.code()])
        elif self.shape[1:3] == shape[1:3]:
            if d.kind is not F32:  # TFLite wants one scale
                self.become("QUANTIZE", [self.id], self.shape, q)
            self.become("CONCATENATION", [x, self.id], self.shape[:3] + [shape[3] + self.shape[3]], q,
                        options("ConcatenationOptions", axis=3))

    def code(self):
        model = self.d.model.model
        return model.operatorCodes[self.d.g.graph.operators[-1].opcodeIndex].builtinCode

    def head(self):
        d, c = self.d, self.shape[3]
        self.become("MEAN", [self.id, d.g.constant([1, 2])], [1, c], self.q, options("ReducerOptions", keepDims=False))
        weights, bias, q = d.weights([10, c], 10, 0, self.q.get("scale", 1), c)
        self.become("FULLY_CONNECTED", [self.id, weights, bias], [1, 10], q, options("FullyConnectedOptions"), 4)


def draw_network(rng):
    d = Draw(rng, (I8, I8, I16, F32))
    net = Network(d, [1, d.whole(6, 14), d.whole(6, 14), d.pick(1, 2, 3, 4)])
    for _ in range(d.whole(2, 9)):
        d.pick(net.convolution, net.convolution, net.branch, net.activate, net.pool)()
    if d.chance(70):
        net.head()
    return d.done([net.first], [net.id])
