"""Ten small networks in ONNX, written here with random weights, one for each way in which architectures are put together. Needs onnx.

Images are [N, channels, height, width] as PyTorch exports them; the last operator gives ten scores."""
import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

NETWORKS = {}


def network(shape):
    def register(function):
        NETWORKS[function.__name__] = (function, shape)
        return function
    return register


class Graph:
    def __init__(self, shape, seed):
        self.rng = np.random.default_rng(seed)
        self.shape, self.nodes, self.constants, self.made = shape, [], [], 0

    def op(self, kind, *inputs, **attributes):
        self.made += 1
        name = f"{kind.lower()}_{self.made}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, values):
        self.made += 1
        name = f"constant_{self.made}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def weights(self, *shape, inputs):
        """Of a layer that sums `inputs` products: results keep the size of its inputs."""
        return self.constant(self.rng.normal(0, np.sqrt(2 / inputs), shape).astype(np.float32))

    def conv(self, x, inputs, outputs, size=3, stride=1, groups=1, activation="Relu", spatial=2, dilation=1):
        reach = (size - 1) * dilation
        pads = [reach // 2] * spatial + [reach - reach // 2] * spatial
        kernel = (size,) * spatial
        w = self.weights(outputs, inputs // groups, *kernel, inputs=inputs // groups * size ** spatial)
        b = self.constant(self.rng.normal(0, 0.1, outputs).astype(np.float32))
        y = self.op("Conv", x, w, b, kernel_shape=kernel, strides=(stride,) * spatial, pads=pads, group=groups, dilations=(dilation,) * spatial)
        if activation == "Relu6":
            return self.op("Clip", y, self.constant(np.float32(0)), self.constant(np.float32(6)))
        return self.op(activation, y) if activation else y

    def norm(self, x, channels):
        values = [self.rng.uniform(0.5, 1.5, channels), self.rng.normal(0, 0.1, channels), self.rng.normal(0, 0.1, channels),
                  self.rng.uniform(0.5, 1.5, channels)]
        return self.op("BatchNormalization", x, *(self.constant(each.astype(np.float32)) for each in values))

    def dense(self, x, inputs, outputs, activation=None):
        y = self.op("Add", self.op("MatMul", x, self.weights(inputs, outputs, inputs=inputs)),
                    self.constant(self.rng.normal(0, 0.1, outputs).astype(np.float32)))
        return self.op(activation, y) if activation else y

    def classes(self, x, inputs):
        """Ten scores of flat values."""
        return self.op("Gemm", x, self.weights(inputs, 10, inputs=inputs), self.constant(self.rng.normal(0, 0.1, 10).astype(np.float32)))

    def pooled_classes(self, x, channels):
        return self.classes(self.op("Flatten", self.op("GlobalAveragePool", x)), channels)

    def model(self, output):
        graph = helper.make_graph(
            self.nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, [self.shape[0], 10])], self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        checker.check_model(made)
        return made


@network((1, 1, 16, 16))
def plain(g):
    """Convolutions and pooling in a row, and two dense layers."""
    x = g.op("MaxPool", g.conv("x", 1, 8), kernel_shape=(2, 2), strides=(2, 2))
    x = g.op("MaxPool", g.conv(x, 8, 16), kernel_shape=(2, 2), strides=(2, 2))
    x = g.dense(g.op("Flatten", x), 256, 32, "Relu")
    return g.classes(x, 32)


@network((1, 3, 16, 16))
def residual(g):
    x = g.conv("x", 3, 16)
    for _ in range(3):
        x = g.op("Relu", g.op("Add", x, g.norm(g.conv(g.conv(x, 16, 16), 16, 16, activation=None), 16)))
    return g.pooled_classes(x, 16)


@network((1, 3, 24, 24))
def separable(g):
    x = g.conv("x", 3, 8, stride=2)
    for inputs, outputs, stride in ((8, 16, 1), (16, 32, 2), (32, 32, 1)):
        x = g.conv(g.conv(x, inputs, inputs, stride=stride, groups=inputs), inputs, outputs, size=1)
    return g.pooled_classes(x, 32)


@network((1, 3, 24, 24))
def inverted_residual(g):
    x = g.conv("x", 3, 8, stride=2, activation="Relu6")
    for _ in range(3):
        y = g.conv(g.conv(x, 8, 32, size=1, activation="Relu6"), 32, 32, groups=32, activation="Relu6")
        x = g.op("Add", x, g.conv(y, 32, 8, size=1, activation=None))
    return g.pooled_classes(x, 8)


@network((1, 3, 16, 16))
def squeeze_excite(g):
    x = g.conv("x", 3, 16, activation="HardSwish")
    for _ in range(2):
        y = g.conv(x, 16, 16, activation="HardSwish")
        scale = g.conv(g.conv(g.op("GlobalAveragePool", y), 16, 4, size=1), 4, 16, size=1, activation="HardSigmoid")
        x = g.op("Add", x, g.op("Mul", y, scale))
    return g.pooled_classes(x, 16)


@network((1, 3, 16, 16))
def dense_blocks(g):
    x, channels = g.conv("x", 3, 8), 8
    for _ in range(4):
        x, channels = g.op("Concat", x, g.conv(x, channels, 8), axis=1), channels + 8
    return g.pooled_classes(x, channels)


@network((1, 3, 16, 16))
def branches(g):
    x = g.conv("x", 3, 16)
    for _ in range(2):
        pooled = g.op("AveragePool", x, kernel_shape=(3, 3), strides=(1, 1), pads=(1, 1, 1, 1))
        x = g.op("Concat", g.conv(x, 16, 4, size=1), g.conv(x, 16, 4), g.conv(x, 16, 4, size=5), g.conv(pooled, 16, 4, size=1), axis=1)
    return g.pooled_classes(x, 16)


@network((1, 8, 64))
def temporal(g):
    x = g.conv("x", 8, 16, spatial=1)
    for dilation in (1, 2, 4):
        x = g.op("Add", x, g.conv(x, 16, 16, spatial=1, dilation=dilation))
    return g.classes(g.op("Flatten", g.op("GlobalAveragePool", x)), 16)


@network((1, 16, 32))
def transformer(g):
    x = "x"
    ones = lambda: g.constant(np.ones(32, np.float32))
    zeros = lambda: g.constant(np.zeros(32, np.float32))
    split = g.constant(np.array([1, 16, 4, 8], np.int64))
    whole = g.constant(np.array([1, 16, 32], np.int64))
    for _ in range(2):
        y = g.op("LayerNormalization", x, ones(), zeros(), axis=-1)
        q, k, v = (g.op("Transpose", g.op("Reshape", g.dense(y, 32, 32), split), perm=perm)
                   for perm in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))
        scores = g.op("Softmax", g.op("Mul", g.op("MatMul", q, k), g.constant(np.float32(8 ** -0.5))), axis=-1)
        y = g.op("Reshape", g.op("Transpose", g.op("MatMul", scores, v), perm=(0, 2, 1, 3)), whole)
        x = g.op("Add", x, g.dense(y, 32, 32))
        y = g.op("LayerNormalization", x, ones(), zeros(), axis=-1)
        x = g.op("Add", x, g.dense(g.dense(y, 32, 64, "Relu"), 64, 32))
    return g.classes(g.op("ReduceMean", x, axes=[1], keepdims=0), 32)


@network((1, 16, 32))
def mixer(g):
    """Products over positions and over channels in turn."""
    x = "x"
    for _ in range(2):
        y = g.op("Transpose", x, perm=(0, 2, 1))
        y = g.dense(g.dense(y, 16, 32, "Sigmoid"), 32, 16)
        x = g.op("Add", x, g.op("Transpose", y, perm=(0, 2, 1)))
        x = g.op("Add", x, g.dense(g.dense(x, 32, 64, "Tanh"), 64, 32))
    return g.classes(g.op("ReduceMean", x, axes=[1], keepdims=0), 32)


def make(name, seed=1):
    function, shape = NETWORKS[name]
    graph = Graph(shape, [seed, *name.encode()])
    return graph.model(function(graph))
