"""Random networks of ONNX, images with channels first: floats, and the same as onnxruntime's quantiser leaves it."""
import pathlib
import tempfile

import numpy as np
from chances import Chances
from onnx import TensorProto, helper, numpy_helper

SET = 17  # of operators
F32, I64 = np.float32, np.int64


class Network(Chances):
    """A graph that grows; every value of it is [1, channels, height, width] until the end."""

    def __init__(self, rng):
        super().__init__(rng)
        self.nodes, self.constants, self.values = [], [], []
        self.kinds = []
        self.shapes = {"x": (1, self.whole(1, 6), self.whole(6, 14), self.whole(6, 14))}
        self.values.append("x")

    def constant(self, values, kind=F32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def weights(self, *shape, terms=None):
        return self.constant(self.rng.normal(0, 1 / np.sqrt(terms or np.prod(shape[1:])), shape))

    def node(self, kind, operands, shape, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, operands, names, name=f"{kind}{len(self.nodes)}", **attributes))
        shapes = shape if outputs > 1 else [shape]
        self.shapes.update(dict(zip(names, map(tuple, shapes))))
        return names if outputs > 1 else names[0]

    def some(self):
        """A value, the latest ones more often."""
        return self.values[-1] if self.chance(65) else self.pick(*self.values)

    def keep(self, name, kind):
        self.values.append(name)
        self.kinds.append(kind)


def conv(n, x, channels=None, kernel=None, group=1, stride=1, dilation=1):
    _, c, h, w = n.shapes[x]
    kernel = kernel or n.pick(1, 1, 3, 3, 5)
    kernel = min(kernel, (min(h, w) - 1) // dilation + 1)
    channels = channels or n.whole(1, 12)
    reach = (kernel - 1) * dilation
    pad = reach // 2 if n.chance(85) else 0
    out = [(size + 2 * pad - reach - 1) // stride + 1 for size in (h, w)]
    bias = [n.constant(n.rng.normal(0, 0.3, channels))] if n.chance(80) else []
    return n.node("Conv", [x, n.weights(channels, c // group, kernel, kernel), *bias], (1, channels, *out), group=group,
                  kernel_shape=[kernel, kernel], strides=[stride, stride], dilations=[dilation, dilation], pads=[pad] * 4)


def curve(n, x):
    shape = n.shapes[x]
    kind = n.pick("Relu", "Relu", "Relu6", "HardSwish", "SiLU", "LeakyRelu", "PRelu", "Elu", "Gelu", "Tanh", "Sigmoid", "HardSigmoid", "Softplus")
    if kind == "Relu6":
        return n.node("Clip", [x, n.constant(0.0), n.constant(6.0)], shape)
    if kind == "HardSwish":
        return n.node("HardSwish", [x], shape)
    if kind == "SiLU":
        return n.node("Mul", [x, n.node("Sigmoid", [x], shape)], shape)
    if kind == "PRelu":
        return n.node("PRelu", [x, n.constant(n.rng.uniform(0.05, 0.5, (shape[1], 1, 1)))], shape)
    if kind == "Gelu":
        half = n.node("Div", [x, n.constant(np.sqrt(2.0))], shape)
        one = n.node("Add", [n.node("Erf", [half], shape), n.constant(1.0)], shape)
        return n.node("Mul", [n.node("Mul", [x, one], shape), n.constant(0.5)], shape)
    return n.node(kind, [x], shape)


def plain_conv(n):
    x = n.some()
    _, c, h, w = n.shapes[x]
    way = n.pick("plain", "plain", "depthwise", "groups", "stride", "dilated")
    if way == "depthwise":
        y = conv(n, x, channels=c * n.pick(1, 1, 2), kernel=3, group=c, stride=n.pick(1, 1, 2))
    elif way == "groups" and c % 2 == 0:
        y = conv(n, x, channels=2 * n.whole(1, 4), group=2)
    elif way == "dilated" and min(h, w) >= 5:
        y = conv(n, x, kernel=3, dilation=2)
    else:
        y = conv(n, x, stride=2 if way == "stride" and min(h, w) > 3 else 1)
    if n.chance(40):
        c = n.shapes[y][1]
        y = n.node("BatchNormalization", [y, *(n.constant(n.rng.uniform(0.5, 1.5, c)) for _ in range(2)), n.constant(n.rng.normal(0, 0.2, c)),
                                          n.constant(n.rng.uniform(0.5, 1.5, c))], n.shapes[y])
    return curve(n, y) if n.chance(75) else y


def transposed(n):
    x = n.some()
    _, c, h, w = n.shapes[x]
    if h * w > 200:
        return None
    channels, kernel = n.whole(1, 6), n.pick(2, 3, 4)
    pad, more = (0, 0) if kernel == 2 else (1, 1) if kernel == 3 else (1, 0)
    return n.node("ConvTranspose", [x, n.weights(c, channels, kernel, kernel, terms=c * kernel)], (1, channels, 2 * h, 2 * w),
                  kernel_shape=[kernel, kernel], strides=[2, 2], pads=[pad] * 4, output_padding=[more, more])


def resized(n):
    x = n.some()
    _, c, h, w = n.shapes[x]
    if h * w > 200:
        return None
    mode = n.pick("nearest", "linear")
    how = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if mode == "nearest" else {
        "coordinate_transformation_mode": n.pick("half_pixel", "align_corners")}
    return n.node("Resize", [x, "", "", n.constant([1, c, 2 * h, 2 * w], I64)], (1, c, 2 * h, 2 * w), mode=mode, **how)


def pooled(n):
    x = n.some()
    _, c, h, w = n.shapes[x]
    if min(h, w) < 4:
        return None
    kernel, stride = n.pick((2, 2), (3, 2), (3, 1))
    pad = 1 if kernel == 3 else 0
    out = [(size + 2 * pad - kernel) // stride + 1 for size in (h, w)]
    kind = n.pick("MaxPool", "AveragePool")
    more = {"count_include_pad": n.whole(0, 1)} if kind == "AveragePool" else {}
    return n.node(kind, [x], (1, c, *out), kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[pad] * 4, **more)


def of_size(n, shape, channels=False):
    """The values of the same extents, of as many channels too where asked."""
    return [v for v in n.values if n.shapes[v][2:] == shape[2:] and (not channels or n.shapes[v] == shape)]


def joined(n):
    x = n.some()
    others = of_size(n, n.shapes[x])
    operands = [x] + [n.pick(*others) for _ in range(n.whole(1, 2))]
    return n.node("Concat", operands, (1, sum(n.shapes[v][1] for v in operands), *n.shapes[x][2:]), axis=1)


def combined(n):
    x = n.some()
    y = n.pick(*of_size(n, n.shapes[x], True))
    return n.node(n.pick("Add", "Add", "Add", "Mul", "Sub", "Max", "Min"), [x, y], n.shapes[x])


def parted(n):
    x = n.some()
    _, c, h, w = n.shapes[x]
    if c < 2:
        return None
    first = n.whole(1, c - 1)
    a, b = n.node("Split", [x, n.constant([first, c - first], I64)], [(1, first, h, w), (1, c - first, h, w)], outputs=2, axis=1)
    n.keep(a, "Split")
    return b


def gated(n):
    x = n.some()
    shape = n.shapes[x]
    mean = n.node("GlobalAveragePool", [x], (1, shape[1], 1, 1)) if n.chance(50) else n.node(
        "ReduceMean", [x], (1, shape[1], 1, 1), axes=[2, 3], keepdims=1)
    inner = conv(n, mean, channels=n.whole(1, 4), kernel=1)
    inner = n.node("Relu", [inner], n.shapes[inner])
    gate = n.node(n.pick("Sigmoid", "HardSigmoid"), [conv(n, inner, channels=shape[1], kernel=1)], (1, shape[1], 1, 1))
    return n.node("Mul", [x, gate], shape)


def shuffled(n):
    x = n.some()
    _, c, h, w = n.shapes[x]
    if c % 2 or c < 4:
        return None
    y = n.node("Reshape", [x, n.constant([1, 2, c // 2, h, w], I64)], (1, 2, c // 2, h, w))
    y = n.node("Transpose", [y], (1, c // 2, 2, h, w), perm=[0, 2, 1, 3, 4])
    return n.node("Reshape", [y, n.constant([1, c, h, w], I64)], (1, c, h, w))


def attended(n):
    x = n.some()
    _, c, h, w = n.shapes[x]
    if h * w > 64:
        return None
    flat = n.node("Transpose", [n.node("Reshape", [x, n.constant([1, c, h * w], I64)], (1, c, h * w))], (1, h * w, c), perm=[0, 2, 1])
    if n.chance(60):
        flat = n.node("LayerNormalization", [flat, n.constant(n.rng.uniform(0.5, 1.5, c)), n.constant(n.rng.normal(0, 0.2, c))], (1, h * w, c), axis=-1)
    width = n.whole(1, 6)
    q, k, v = (n.node("Add", [n.node("MatMul", [flat, n.weights(c, width, terms=c)], (1, h * w, width)), n.constant(n.rng.normal(0, 0.2, width))],
                      (1, h * w, width)) for _ in range(3))
    scores = n.node("MatMul", [q, n.node("Transpose", [k], (1, width, h * w), perm=[0, 2, 1])], (1, h * w, h * w))
    scores = n.node("Softmax", [n.node("Mul", [scores, n.constant(1 / np.sqrt(width))], (1, h * w, h * w))], (1, h * w, h * w), axis=-1)
    y = n.node("MatMul", [scores, v], (1, h * w, width))
    y = n.node("Transpose", [y], (1, width, h * w), perm=[0, 2, 1])
    return n.node("Reshape", [y, n.constant([1, width, h, w], I64)], (1, width, h, w))


def moved(n):
    x = n.some()
    _, c, h, w = n.shapes[x]
    way = n.pick("pad", "slice", "space", "depth", "flip")
    if way == "pad":
        mode = n.pick("constant", "reflect", "edge")
        most = min(2, h - 1, w - 1)
        t, l, b, r = (n.whole(0, most) for _ in range(4))
        return n.node("Pad", [x, n.constant([0, 0, t, l, 0, 0, b, r], I64)], (1, c, h + t + b, w + l + r), mode=mode)
    if way == "slice" and h > 3:
        step = n.pick(1, 2)
        rows = -(-(h - 1) // step)
        return n.node("Slice", [x, *(n.constant([v], I64) for v in (1, h, 2, step))], (1, c, rows, w))
    if way == "space" and h % 2 == 0 and w % 2 == 0 and c <= 4:
        return n.node("SpaceToDepth", [x], (1, 4 * c, h // 2, w // 2), blocksize=2)
    if way == "depth" and c % 4 == 0 and h * w <= 100:
        return n.node("DepthToSpace", [x], (1, c // 4, 2 * h, 2 * w), blocksize=2, mode=n.pick("DCR", "CRD"))
    if way == "flip":
        return n.node("Transpose", [x], (1, c, w, h), perm=[0, 1, 3, 2])
    return None


def normed(n):
    x = n.some()
    shape = n.shapes[x]
    if shape[2] * shape[3] < 4:
        return None
    c = shape[1]
    return n.node("InstanceNormalization", [x, n.constant(n.rng.uniform(0.5, 1.5, c)), n.constant(n.rng.normal(0, 0.2, c))], shape)


STEPS = (plain_conv,) * 8 + (combined,) * 4 + (joined,) * 3 + (pooled, pooled, transposed, resized, parted, parted, gated, gated, shuffled, attended,
                                                             moved, moved, moved, normed)


def draw_network(rng, most=9):
    """(a model of floats, what to calibrate it with, the kinds of its up to so many parts)"""
    n = Network(rng)
    n.keep(plain_conv(n), "plain_conv")
    for _ in range(n.whole(2, most)):
        step = n.pick(*STEPS)
        made = step(n)
        if made is not None:
            n.keep(made, step.__name__)
    last = n.values[-1]
    way = n.pick("dense", "as it is", "softmax")
    if way == "dense":
        count = int(np.prod(n.shapes[last]))
        last = n.node("Flatten", [last], (1, count), axis=1)
        outputs = n.whole(4, 12)
        last = n.node("Gemm", [last, n.weights(outputs, count), n.constant(n.rng.normal(0, 0.2, outputs))], (1, outputs), transB=1)
    elif way == "softmax":
        last = n.node("Softmax", [last], n.shapes[last], axis=1)
    graph = helper.make_graph(n.nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, n.shapes["x"])],
                              [helper.make_tensor_value_info(last, TensorProto.FLOAT, None)], n.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", SET)])
    model.ir_version = 9
    samples = [rng.normal(0, 1, n.shapes["x"]).astype(F32) for _ in range(4)]
    return model, samples, n.kinds


class Samples:
    """Calibration's."""

    def __init__(self, samples):
        self.left = list(samples)

    def get_next(self):
        return {"x": self.left.pop()} if self.left else None


def quantised(model, samples, rng):
    """The file that onnxruntime's quantiser makes of it."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(Samples, CalibrationDataReader):
        pass
    kinds = ((QuantType.QInt8, QuantType.QInt8, "int8"), (QuantType.QUInt8, QuantType.QInt8, "uint8"), (QuantType.QUInt8, QuantType.QUInt8, "uint8 all"),
             (QuantType.QInt16, QuantType.QInt8, "int16"))
    activations, weights, word = kinds[rng.integers(len(kinds))]
    per_channel, way = bool(rng.integers(2)), rng.choice(["QDQ", "QDQ", "QDQ", "QOperator", "dynamic"])
    if way == "dynamic":
        word = "float, weights of " + ("uint8" if weights == QuantType.QUInt8 else "int8")
    form = word + (" per channel" if per_channel else "") + (", QOperator" if way == "QOperator" else "")
    with tempfile.TemporaryDirectory() as folder:
        given, ready, made = (str(pathlib.Path(folder) / name) for name in ("given.onnx", "ready.onnx", "made.onnx"))
        pathlib.Path(given).write_bytes(model.SerializeToString())
        quant_pre_process(given, ready, skip_symbolic_shape=True)
        if way == "dynamic":
            quantize_dynamic(ready, made, weight_type=weights, per_channel=per_channel)
        else:
            quantize_static(ready, made, Reader(samples), quant_format=QuantFormat.QOperator if way == "QOperator" else QuantFormat.QDQ,
                            per_channel=per_channel, activation_type=activations, weight_type=weights,
                            extra_options={"ActivationSymmetric": word == "int16", "WeightSymmetric": weights == QuantType.QInt8})
        return pathlib.Path(made).read_bytes(), form
