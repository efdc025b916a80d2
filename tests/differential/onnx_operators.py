"""Random ONNX operators on floats, and the same between QuantizeLinear and DequantizeLinear: shapes, attributes and constants drawn anew
for every case."""
import numpy as np
from chances import Chances
from onnx import TensorProto, helper, numpy_helper

OPERATORS = {}
SET = 22  # of operators


def operator(*names):
    def add(function):
        for name in names:
            OPERATORS[name] = function
        return function
    return add


class Draw(Chances):
    """One model of one operator. Operands of `given` come from outside, the others are part of the model."""

    def __init__(self, rng):
        super().__init__(rng)
        self.given, self.constants, self.nodes = {}, {}, []
        self.types, self.domain, self.set = {}, "", SET

    def shape(self, least_rank=1, most_rank=4, most=6):
        return [self.whole(1, most) for _ in range(self.whole(least_rank, most_rank))]

    def values(self, shape, low=-2.0, high=2.0):
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def input(self, shape, low=-2.0, high=2.0):
        return self.operand(self.given, self.values(shape, low, high))

    def integers(self, values, kind=np.int64):
        return self.operand(self.constants, np.asarray(values, kind))

    def constant(self, shape, low=-2.0, high=2.0):
        return self.operand(self.constants, self.values(shape, low, high))

    def operand(self, table, values):
        name = f"x{len(self.given) + len(self.constants)}"
        table[name] = values
        return name

    def given_integers(self, low, high, shape, kind=np.int64):
        return self.operand(self.given, self.rng.integers(low, high, shape).astype(kind))

    def op(self, kind, operands, outputs=1, types=(), domain="", of_set=SET, **attributes):
        """`types`: of the outputs' elements, where these are no floats. `domain`: of a node that is not ONNX's own. `of_set`: of operators."""
        self.set = of_set
        names = [f"y{i}" for i in range(outputs)]
        self.types, self.domain = dict(zip(names, (helper.np_dtype_to_tensor_dtype(np.dtype(t)) for t in types))), domain
        self.nodes.append(helper.make_node(kind, operands, names, name="layer", domain=domain, **attributes))
        return names

    def type_of(self, output):
        if output in self.types:
            return self.types[output]
        kind = self.nodes[0].op_type
        if kind in ("ArgMax", "ArgMin") or (kind == "TopK" and output == "y1"):
            return TensorProto.INT64
        return TensorProto.BOOL if kind in ("Greater", "LessOrEqual") else TensorProto.FLOAT

    def graph(self, outputs, nodes=None):
        inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in self.given.items()]
        graph = helper.make_graph(nodes or self.nodes, "random", inputs,
                                  [helper.make_tensor_value_info(n, self.type_of(n), None) for n in outputs],
                                  [numpy_helper.from_array(v, n) for n, v in self.constants.items()])
        sets = [helper.make_opsetid("", self.set)] + ([helper.make_opsetid(self.domain, 1)] if self.domain else [])
        model = helper.make_model(graph, opset_imports=sets)
        model.ir_version = 10
        return model


def windows(d, axes):
    """Sizes of an image, and the attributes of a window on it."""
    size = [d.whole(3, 9) for _ in range(axes)]
    kernel = [d.whole(1, 3) for _ in range(axes)]
    attributes = {"kernel_shape": kernel, "strides": [d.whole(1, 3) for _ in range(axes)]}
    padding = d.pick("none", "pads", "pads", "SAME_UPPER", "SAME_LOWER", "VALID")
    if padding == "pads":
        attributes["pads"] = [d.whole(0, k - 1) for k in kernel] + [d.whole(0, k - 1) for k in kernel]
    elif padding != "none":
        attributes["auto_pad"] = padding
    if padding.startswith("SAME"):  # windows that leave gaps would have padding below zero, which onnxruntime takes off
        attributes["strides"] = [min(s, k) for s, k in zip(attributes["strides"], kernel)]
    return size, attributes


@operator("Conv")
def conv(d):
    axes = d.pick(1, 2, 2, 2, 3)
    size, attributes = windows(d, axes)
    group = d.pick(1, 1, 2, 3)
    channels = group * d.whole(1, 3)
    outputs = group * d.whole(1, 3)
    if d.chance(30) and attributes.get("auto_pad", "") in ("", "VALID"):
        attributes["dilations"] = [2 if (k - 1) * 2 < n else 1 for k, n in zip(attributes["kernel_shape"], size)]
    operands = [d.input([d.pick(1, 1, 2), channels, *size]), d.constant([outputs, channels // group, *attributes["kernel_shape"]])]
    if d.chance(60):
        operands.append(d.constant([outputs]))
    return d.op("Conv", operands, group=group, **attributes)


@operator("ConvTranspose")
def conv_transpose(d):
    axes = d.pick(1, 2, 2)
    size, attributes = windows(d, axes)
    size = [max(n // 2, 1) for n in size]
    group = d.pick(1, 1, 2)
    if d.chance(30) and "auto_pad" not in attributes:
        attributes["output_padding"] = [d.whole(0, s - 1) for s in attributes["strides"]]
    if d.chance(20) and "auto_pad" not in attributes:
        attributes["dilations"] = [d.pick(1, 2) for _ in range(axes)]
    channels, outputs = group * d.whole(1, 3), d.whole(1, 3)
    operands = [d.input([1, channels, *size]), d.constant([channels, outputs, *attributes["kernel_shape"]])]
    if d.chance(60):
        operands.append(d.constant([outputs * group]))
    return d.op("ConvTranspose", operands, group=group, **attributes)


@operator("MaxPool", "AveragePool", "LpPool")
def pool(d, kind):
    axes = d.pick(1, 2, 2, 2, 3)
    size, attributes = windows(d, axes)
    if d.chance(40) and "auto_pad" not in attributes:
        attributes["ceil_mode"] = 1
    if kind == "AveragePool" and d.chance(40):
        attributes["count_include_pad"] = 1
    if d.chance(20) and "auto_pad" not in attributes:
        attributes["dilations"] = [2 if (k - 1) * 2 < n else 1 for k, n in zip(attributes["kernel_shape"], size)]
    if kind == "LpPool":
        attributes["p"] = d.pick(1, 2, 3)
    return d.op(kind, [d.input([d.pick(1, 2), d.whole(1, 5), *size])], **attributes)


@operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(d, kind):
    return d.op(kind, [d.input([d.pick(1, 2), d.whole(1, 5), *[d.whole(1, 6) for _ in range(d.whole(1, 2))]])])


@operator("Gemm")
def gemm(d):
    m, k, n, turned_a, turned_b = d.whole(1, 5), d.whole(1, 12), d.whole(1, 9), d.chance(30), d.chance(50)
    b = d.constant if d.chance(70) else d.input
    operands = [d.input([k, m] if turned_a else [m, k]), b([n, k] if turned_b else [k, n])]
    if d.chance(70):
        operands.append(d.constant(d.pick([n], [1, n], [m, 1], [m, n], [])))
    return d.op("Gemm", operands, transA=int(turned_a), transB=int(turned_b), alpha=d.pick(1.0, 0.5), beta=d.pick(1.0, 2.0))


@operator("MatMul")
def matmul(d):
    m, k, n, batch = d.whole(1, 5), d.whole(1, 12), d.whole(1, 9), [d.whole(1, 3) for _ in range(d.whole(0, 2))]
    a = [k] if d.chance(15) else [*batch, m, k]
    other = [1 if d.chance(40) else size for size in batch][d.whole(0, len(batch)):]
    b = [k] if d.chance(15) else [*other, k, n]
    return d.op("MatMul", [d.input(a), (d.constant if d.chance(50) else d.input)(b)])


@operator("BatchNormalization")
def batch_normalization(d):
    c = d.whole(1, 6)
    return d.op("BatchNormalization", [d.input([d.pick(1, 2), c, *[d.whole(1, 5) for _ in range(d.whole(0, 2))]]), d.constant([c]),
                                       d.constant([c]), d.constant([c]), d.constant([c], 0.1, 2)], epsilon=d.pick(1e-5, 1e-3))


@operator("InstanceNormalization")
def instance_normalization(d):
    c = d.whole(1, 6)
    return d.op("InstanceNormalization", [d.input([d.pick(1, 2), c, d.whole(2, 6), d.whole(2, 6)]), d.constant([c]), d.constant([c])])


@operator("LayerNormalization")
def layer_normalization(d):
    shape = [d.whole(2, 6) for _ in range(d.whole(2, 4))]
    axis = d.whole(0, len(shape) - 1)
    operands = [d.input(shape), d.constant(shape[axis:])] + ([d.constant(shape[axis:])] if d.chance(60) else [])
    return d.op("LayerNormalization", operands, axis=axis - (len(shape) if d.chance(50) else 0))


@operator("GroupNormalization")
def group_normalization(d):
    groups = d.whole(1, 3)
    c = groups * d.whole(1, 3)
    return d.op("GroupNormalization", [d.input([d.pick(1, 2), c, d.whole(2, 5), d.whole(2, 5)]), d.constant([c]), d.constant([c])],
                num_groups=groups)


@operator("Softmax", "LogSoftmax", "Hardmax")
def softmax(d, kind):
    shape = d.shape(1, 4)
    return d.op(kind, [d.input(shape)], axis=d.whole(-len(shape), len(shape) - 1))


@operator("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
          "ReduceSumSquare")
def reduce(d, kind):
    shape = d.shape(1, 4)
    axes = sorted({d.whole(0, len(shape) - 1) for _ in range(d.whole(0, len(shape)))})
    operands = [d.input(shape, 0.1 if kind == "ReduceLogSum" else -2)]
    if axes:
        operands.append(d.integers([a - (len(shape) if d.chance(30) else 0) for a in axes]))
    return d.op(kind, operands, keepdims=int(d.chance(50)), noop_with_empty_axes=int(d.chance(30)))


@operator("ArgMax", "ArgMin")
def arg(d, kind):
    shape = d.shape(1, 4)
    return d.op(kind, [d.input(shape)], axis=d.whole(-len(shape), len(shape) - 1), keepdims=int(d.chance(50)))


@operator("Pad")
def pad(d):
    shape = [d.whole(2, 6) for _ in range(d.whole(1, 4))]
    mode = d.pick("constant", "reflect", "edge", "wrap")
    most = [3 if mode in ("constant", "edge") else n - 1 for n in shape]
    least = [-1 if mode == "constant" and n > 3 else 0 for n in shape]
    amounts = [d.whole(a, b) for a, b in zip(least, most)] + [d.whole(0, b) for b in most]
    operands = [d.input(shape), d.integers(amounts)]
    if mode == "constant" and d.chance(50):
        operands.append(d.constant([]))
    return d.op("Pad", operands, mode=mode)


@operator("Slice")
def slices(d):
    shape = d.shape(1, 4, 8)
    axes = sorted({d.whole(0, len(shape) - 1) for _ in range(d.whole(1, len(shape)))})
    starts, ends, steps = [], [], []
    for axis in axes:
        n, step = shape[axis], d.pick(1, 1, 2, -1, -2)
        a, b = sorted((d.whole(0, n - 1), d.whole(0, n - 1)))
        begin, end = (a, b + 1) if step > 0 else (b, a - 1 if a > 0 else -n - 1)
        starts.append(begin - (n if d.chance(30) else 0))
        ends.append((2 ** 31 if step > 0 and b + 1 == n and d.chance(50) else end))
        steps.append(step)
    return d.op("Slice", [d.input(shape)] + [d.integers(v) for v in (starts, ends, axes, steps)])


@operator("Transpose")
def transpose(d):
    shape = d.shape(1, 5, 4)
    return d.op("Transpose", [d.input(shape)], perm=[int(i) for i in d.rng.permutation(len(shape))])


@operator("Concat")
def concat(d):
    shape = d.shape(1, 4)
    axis = d.whole(0, len(shape) - 1)
    operands = [(d.input if i == 0 or d.chance(70) else d.constant)(shape[:axis] + [d.whole(1, 4)] + shape[axis + 1:])
                for i in range(d.whole(1, 4))]
    return d.op("Concat", operands, axis=axis - (len(shape) if d.chance(50) else 0))


@operator("Split")
def split(d):
    shape, pieces = d.shape(1, 4), d.whole(1, 3)
    axis = d.whole(0, len(shape) - 1)
    sizes = [d.whole(1, 4) for _ in range(pieces)]
    shape[axis] = sum(sizes)
    return d.op("Split", [d.input(shape), d.integers(sizes)], outputs=pieces, axis=axis)


@operator("Gather")
def gather(d):
    shape = d.shape(1, 4)
    axis = d.whole(0, len(shape) - 1)
    places = d.rng.integers(-shape[axis], shape[axis], d.pick([], [3], [2, 2]))
    return d.op("Gather", [d.input(shape), d.integers(places)], axis=axis)


@operator("GatherElements")
def gather_elements(d):
    shape = d.shape(1, 4)
    axis = d.whole(0, len(shape) - 1)
    taken = [n if i == axis else d.whole(1, n) for i, n in enumerate(shape)]
    taken[axis] = d.whole(1, 5)
    return d.op("GatherElements", [d.input(shape), d.integers(d.rng.integers(-shape[axis], shape[axis], taken))], axis=axis)


@operator("GatherND")
def gather_nd(d):
    shape = d.shape(2, 4, 5)
    batches = d.whole(0, 1)
    depth = d.whole(1, len(shape) - batches)
    taken = shape[:batches] + [d.whole(1, 4)]
    places = np.stack([d.rng.integers(-n, n, taken) for n in shape[batches:batches + depth]], axis=-1)
    return d.op("GatherND", [d.input(shape), d.integers(places)], batch_dims=batches)


@operator("ScatterND", "ScatterElements")
def scatter(d, kind):
    shape = d.shape(1, 3, 5)
    reduction = d.pick("none", "add", "mul", "max", "min")
    if kind == "ScatterND":
        depth = d.whole(1, len(shape))
        every = np.stack(np.meshgrid(*[np.arange(n) for n in shape[:depth]], indexing="ij"), axis=-1).reshape(-1, depth)
        places = d.rng.permutation(every)[:d.whole(1, len(every))]
        return d.op(kind, [d.input(shape), d.integers(places), d.input([len(places)] + shape[depth:])], reduction=reduction)
    axis = d.whole(0, len(shape) - 1)
    taken = [d.whole(1, n) for n in shape]
    places = np.argsort(d.rng.uniform(size=[n if i != axis else shape[axis] for i, n in enumerate(taken)]), axis=axis)
    places = np.take(places, np.arange(taken[axis]), axis=axis)
    return d.op(kind, [d.input(shape), d.integers(places), d.input(taken)], axis=axis, reduction=reduction)


@operator("Resize")
def resize(d):
    shape = [1, d.whole(1, 3), d.whole(2, 6), d.whole(2, 6)]
    mode = d.pick("nearest", "linear", "linear", "cubic")
    attributes = {"mode": mode, "coordinate_transformation_mode": d.pick("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")}
    if mode == "nearest":
        attributes["nearest_mode"] = d.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    if mode == "cubic":
        attributes["cubic_coeff_a"] = d.pick(-0.75, -0.5)
    if mode in ("linear", "cubic") and d.chance(25):
        attributes["antialias"] = 1
    if d.chance(50):
        return d.op("Resize", [d.input(shape), "", "", d.integers(shape[:2] + [d.whole(1, 11), d.whole(1, 11)])], **attributes)
    scales = np.float32([1, 1, d.pick(0.5, 1.0, 1.5, 2.0, 2.3), d.pick(0.5, 1.0, 1.5, 2.0, 0.7)])
    if attributes["coordinate_transformation_mode"] == "align_corners":
        # Of extents that are no whole number the standard has the fraction, too, onnxruntime has not.
        scales[2:] = [d.pick(1.0, 2.0, 3.0), d.pick(1.0, 2.0)]
    return d.op("Resize", [d.input(shape), "", d.operand(d.constants, scales)], **attributes)


@operator("DepthToSpace", "SpaceToDepth")
def blocks(d, kind):
    b, h, w, c = d.whole(1, 3), d.whole(1, 4), d.whole(1, 4), d.whole(1, 4)
    if kind == "SpaceToDepth":
        return d.op(kind, [d.input([1, c, h * b, w * b])], blocksize=b)
    return d.op(kind, [d.input([1, c * b * b, h, w])], blocksize=b, mode=d.pick("DCR", "CRD"))


@operator("Add", "Sub", "Mul", "Div", "Min", "Max", "PRelu", "Greater", "LessOrEqual", "Mod", "Pow")
def binary(d, kind):
    shape = d.shape(1, 4)
    other = [1 if d.chance(35) else n for n in shape]
    other = other[d.whole(0, len(other) - 1):] if d.chance(40) else other
    low = 0.2 if kind in ("Div", "Pow", "Mod") else -2
    x = d.input(shape, 0.1 if kind == "Pow" else -2)
    y = (d.constant if d.chance(40) or kind == "PRelu" else d.input)(other, low)
    swaps = kind not in ("PRelu", "Div", "Pow", "Mod") and d.chance(30)
    return d.op(kind, [y, x] if swaps else [x, y], **({"fmod": 1} if kind == "Mod" else {}))


@operator("Relu", "LeakyRelu", "Elu", "Selu", "Celu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Softplus", "Softsign", "Gelu", "Mish",
          "Exp", "Abs", "Neg", "Floor", "Ceil", "Round", "Sqrt", "Log", "Reciprocal", "Erf", "Sign", "Sin", "Cos", "Atan", "ThresholdedRelu",
          "Shrink", "Clip")
def unary(d, kind):
    shape = d.shape(1, 4)
    positive = kind in ("Sqrt", "Log", "Reciprocal")
    attributes = {"LeakyRelu": {"alpha": 0.3}, "Elu": {"alpha": 0.7}, "Celu": {"alpha": 1.3}, "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
                  "Gelu": {"approximate": d.pick("none", "tanh")}, "Shrink": {"lambd": 0.6, "bias": 0.2},
                  "ThresholdedRelu": {"alpha": 0.4}}.get(kind, {})
    operands = [d.input(shape, 0.1 if positive else -4, 4)]
    if kind == "Clip":
        operands += [d.constant([], -2, -1) if d.chance(70) else "", d.constant([], 0, 2)]
    return d.op(kind, operands, **attributes)


@operator("LSTM", "GRU", "RNN")
def recurrent(d, kind):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    steps, batch, width, units = d.whole(1, 5), d.pick(1, 1, 2), d.whole(1, 5), d.whole(1, 5)
    direction = d.pick("forward", "reverse", "bidirectional")
    ways = 2 if direction == "bidirectional" else 1
    operands = [d.input([steps, batch, width]), d.constant([ways, gates * units, width]), d.constant([ways, gates * units, units]),
                d.constant([ways, 2 * gates * units]) if d.chance(60) else "", "",
                d.input([ways, batch, units]) if d.chance(40) else ""]
    attributes = {"hidden_size": units, "direction": direction}
    if kind == "LSTM":
        operands.append(d.input([ways, batch, units]) if d.chance(40) else "")
        operands.append(d.constant([ways, 3 * units]) if d.chance(20) else "")
    if kind == "GRU":
        attributes["linear_before_reset"] = d.whole(0, 1)
    if d.chance(15):
        attributes["clip"] = 1.0
    while operands and operands[-1] == "":
        operands.pop()
    return d.op(kind, operands, outputs=3 if kind == "LSTM" else 2, **attributes)


@operator("TopK")
def top_k(d):
    shape = d.shape(1, 3, 8)
    axis = d.whole(0, len(shape) - 1)
    return d.op("TopK", [d.input(shape), d.integers([d.whole(1, shape[axis])])], outputs=2, axis=axis, largest=int(d.chance(60)))


@operator("CumSum")
def cumsum(d):
    shape = d.shape(1, 4)
    return d.op("CumSum", [d.input(shape), d.integers(d.whole(-len(shape), len(shape) - 1))], exclusive=int(d.chance(40)),
                reverse=int(d.chance(40)))


@operator("Expand", "Tile", "Reshape", "Unsqueeze", "Squeeze", "Flatten")
def reshape(d, kind):
    shape = d.shape(1, 4, 4)
    if kind == "Expand":
        cut = [1 if d.chance(50) else n for n in shape]
        return d.op(kind, [d.input(cut[d.whole(0, len(cut) - 1):]), d.integers(shape)])
    if kind == "Tile":
        return d.op(kind, [d.input(shape), d.integers([d.whole(1, 3) for _ in shape])])
    if kind == "Reshape":
        target = d.pick([-1], [0, -1], [int(np.prod(shape)), 1], [1, -1, shape[-1]])
        return d.op(kind, [d.input(shape), d.integers(target)])
    if kind == "Flatten":
        return d.op(kind, [d.input(shape)], axis=d.whole(0, len(shape)))
    axis = d.whole(0, len(shape))
    if kind == "Squeeze":
        return d.op(kind, [d.input(shape[:axis] + [1] + shape[axis:]), d.integers([axis])])
    return d.op(kind, [d.input(shape), d.integers([axis])])


@operator("Where")
def where(d):
    shape = d.shape(1, 4)
    condition = d.operand(d.given, d.rng.integers(0, 2, shape).astype(bool))
    return d.op("Where", [condition, d.input(shape), (d.constant if d.chance(50) else d.input)([1 if d.chance(50) else n for n in shape])])


@operator("LRN")
def lrn(d):
    return d.op("LRN", [d.input([1, d.whole(1, 7), d.whole(1, 4), d.whole(1, 4)])], size=d.pick(1, 3, 5), alpha=0.01, beta=0.7, bias=1.2)


@operator("Einsum")
def einsum(d):
    equation, shapes = d.pick(("ij,jk->ik", ((2, 3), (3, 4))), ("bij,bjk->bik", ((2, 3, 4), (2, 4, 5))), ("bhid,bhjd->bhij", ((1, 2, 3, 4), (1, 2, 5, 4))),
                              ("ij->ji", ((3, 4),)), ("ij->i", ((3, 4),)), ("bij,kj->bik", ((2, 3, 4), (5, 4))), ("i,j->ij", ((3,), (4,))))
    return d.op("Einsum", [d.input(shape) for shape in shapes], equation=equation)


@operator("GridSample")
def grid_sample(d):
    h, w = d.whole(2, 5), d.whole(2, 5)
    image = d.input([1, d.whole(1, 3), h, w])
    return d.op("GridSample", [image, d.input([1, d.whole(1, 4), d.whole(1, 4), 2], -1.3, 1.3)], mode=d.pick("linear", "nearest", "cubic"),
                padding_mode=d.pick("zeros", "border", "reflection"), align_corners=d.whole(0, 1))


@operator("Trilu")
def trilu(d):
    return d.op("Trilu", [d.input([d.whole(1, 2), d.whole(1, 5), d.whole(1, 5)]), d.integers(d.whole(-3, 3))], upper=d.whole(0, 1))


def draw(rng, name):
    d = Draw(rng)
    function = OPERATORS[name]
    return d, function(d, name) if function.__code__.co_argcount == 2 else function(d)


def quantised(d, outputs, results, kind, per_channel):
    """The same operator between QuantizeLinear and DequantizeLinear: integers of `kind` in and out, int8 weights with scales of their own.

    Nothing where an output is no float. `results`: what the floats come to, which says the scales of the outputs."""
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    if any(v.dtype != np.float32 for v in [*d.given.values(), *results]):
        return None
    nodes = []

    def parameters(name, values):
        least, most = min(float(values.min(initial=0)), 0.0), max(float(values.max(initial=0)), 0.0)
        if kind is np.int16:  # around zero, as quantisers of 16 bits have it
            least, most = -max(-least, most), max(-least, most)
        scale = np.float32(max(most - least, 1e-3) / (high - low))
        zero = kind(0 if kind is np.int16 else np.clip(round(low - least / float(scale)), low, high))
        d.constants[f"{name}_scale"], d.constants[f"{name}_zero"] = np.float32(scale), kind(zero)
        return [f"{name}_scale", f"{name}_zero"]

    renamed = {}
    for name, values in d.given.items():
        both = parameters(name, values)
        # On the grid: what lies between two steps may become either.
        scale, zero = (d.constants[parameter] for parameter in both)
        d.given[name] = ((np.clip(np.round(values / scale) + zero, low, high) - zero) * scale).astype(np.float32)
        nodes.append(helper.make_node("QuantizeLinear", [name, *both], [f"{name}_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", *both], [f"{name}_r"]))
        renamed[name] = f"{name}_r"
    layer = d.nodes[0]
    weighted = {"Conv": 0, "ConvTranspose": 1, "MatMul": None, "Gemm": None}
    for name in list(d.constants):
        if name.endswith(("_scale", "_zero")) or d.constants[name].dtype != np.float32:
            continue
        values = d.constants[name]
        if layer.op_type in weighted and len(layer.input) > 1 and name == layer.input[1]:
            axis = weighted[layer.op_type]
            if axis is None or not per_channel or layer.op_type == "ConvTranspose":
                scale = np.float32(np.abs(values).max() / 127)
                integers = np.round(values / scale).astype(np.int8)
                d.constants[f"{name}_scale"], d.constants[f"{name}_zero"] = scale, np.int8(0)
                more = {}
            else:
                scale = (np.abs(values).reshape(values.shape[0], -1).max(axis=1) / 127).astype(np.float32)
                integers = np.round(values / scale.reshape([-1] + [1] * (values.ndim - 1))).astype(np.int8)
                d.constants[f"{name}_scale"], d.constants[f"{name}_zero"] = scale, np.zeros(scale.shape, np.int8)
                more = {"axis": 0}
            d.constants[name] = integers
            nodes.append(helper.make_node("DequantizeLinear", [name, f"{name}_scale", f"{name}_zero"], [f"{name}_r"], **more))
            renamed[name] = f"{name}_r"
    nodes.append(helper.make_node(layer.op_type, [renamed.get(n, n) for n in layer.input], list(layer.output), name="layer",
                                  domain=layer.domain, **{a.name: helper.get_attribute_value(a) for a in layer.attribute}))
    steps = []
    for name, values in zip(outputs, results):
        both = parameters(name, values)
        nodes.append(helper.make_node("QuantizeLinear", [name, *both], [f"{name}_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", *both], [f"{name}_r"]))
        steps.append(float(d.constants[f"{name}_scale"]))
    return d.graph([f"{name}_r" for name in outputs], nodes), steps
