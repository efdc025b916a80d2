"""Small networks in numpy for the training scripts of the examples: layers with their gradients, Adam, and
quantisation into a .tflite of int8. Imports come through here, before anything else imports numpy.

Training repeats bit for bit on x86-64 processors with AVX2: OpenBLAS and numpy choose their loops, and with them the
order of sums, by processor, so they are told which to take."""
import os

os.environ["OPENBLAS_CORETYPE"] = "Haswell"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["NPY_DISABLE_CPU_FEATURES"] = "X86_V4 AVX512_ICL AVX512_SPR"

import pathlib  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ImportWarning)  # of features that this processor does not have
    import numpy as np  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(EXAMPLES.parent / "tests" / "golden"))
sys.path.insert(0, str(EXAMPLES / "common" / "signal"))

import fixed_signal  # noqa: E402,F401
from tflite_writer import Model, options, run_script, runtime  # noqa: E402,F401

NONE, RELU, TANH = 0, 1, 4
SAME = 0


class Layer:
    """A layer has `weights` and `bias`, and after `backward` the gradients of both."""

    relu = False

    def start(self, rng, shape, inputs):
        self.weights = (rng.standard_normal(shape) * np.sqrt(2 / inputs)).astype(np.float32)
        self.bias = np.zeros(shape[-1], np.float32)

    def parameters(self):
        return [(self, "weights"), (self, "bias")]

    def cut(self, y):
        """The activation, and what its gradient passes."""
        if not self.relu:
            return y
        self.passed = y > 0
        return y * self.passed

    def uncut(self, dy):
        return dy * self.passed if self.relu else dy


def padding(size, kernel, stride):
    out = -(-size // stride)
    total = max((out - 1) * stride + kernel - size, 0)
    return out, total // 2, total - total // 2


class Window(Layer):
    """What Conv and Depthwise share: SAME padding, and the input's pixels under one weight of the kernel."""

    def __init__(self, name, kernel, stride, relu):
        self.name, self.relu = name, relu
        self.kernel = (kernel, kernel) if isinstance(kernel, int) else kernel
        self.stride = (stride, stride) if isinstance(stride, int) else stride

    def pad(self, x):
        (h, top, bottom), (w, left, right) = (padding(x.shape[1 + i], self.kernel[i], self.stride[i]) for i in (0, 1))
        self.out, self.pads = (h, w), ((0, 0), (top, bottom), (left, right), (0, 0))
        return np.pad(x, self.pads)

    def under(self, ky, kx):
        return (slice(None), slice(ky, ky + (self.out[0] - 1) * self.stride[0] + 1, self.stride[0]),
                slice(kx, kx + (self.out[1] - 1) * self.stride[1] + 1, self.stride[1]))

    def taps(self):
        return [(ky, kx) for ky in range(self.kernel[0]) for kx in range(self.kernel[1])]

    def unpad(self, dx):
        (_, _), (top, bottom), (left, right), (_, _) = self.pads
        return dx[:, top:dx.shape[1] - bottom, left:dx.shape[2] - right]


class Conv(Window):
    def __init__(self, rng, name, channels, inputs, kernel=1, stride=1, relu=True):
        super().__init__(name, kernel, stride, relu)
        self.start(rng, (*self.kernel, inputs, channels), self.kernel[0] * self.kernel[1] * inputs)

    def forward(self, x):
        padded = self.pad(x)
        self.columns = np.concatenate([padded[self.under(ky, kx)] for ky, kx in self.taps()], axis=-1)
        self.padded_shape = padded.shape
        flat = self.weights.reshape(-1, self.weights.shape[-1])
        return self.cut(self.columns @ flat + self.bias)

    def backward(self, dy):
        dy = self.uncut(dy)
        flat = self.weights.reshape(-1, self.weights.shape[-1])
        rows = dy.reshape(-1, dy.shape[-1])
        self.d_weights = (self.columns.reshape(-1, flat.shape[0]).T @ rows).reshape(self.weights.shape)
        self.d_bias = rows.sum(axis=0)
        d_columns = dy @ flat.T
        dx = np.zeros(self.padded_shape, np.float32)
        depth = self.weights.shape[2]
        for i, (ky, kx) in enumerate(self.taps()):
            dx[self.under(ky, kx)] += d_columns[..., i * depth:(i + 1) * depth]
        return self.unpad(dx)


class Depthwise(Window):
    def __init__(self, rng, name, channels, kernel=3, stride=1, relu=True):
        super().__init__(name, kernel, stride, relu)
        self.start(rng, (*self.kernel, channels), self.kernel[0] * self.kernel[1])

    def forward(self, x):
        self.padded = self.pad(x)
        y = sum(self.padded[self.under(ky, kx)] * self.weights[ky, kx] for ky, kx in self.taps())
        return self.cut(y + self.bias)

    def backward(self, dy):
        dy = self.uncut(dy)
        self.d_weights = np.zeros_like(self.weights)
        dx = np.zeros_like(self.padded)
        for ky, kx in self.taps():
            self.d_weights[ky, kx] = (self.padded[self.under(ky, kx)] * dy).sum(axis=(0, 1, 2))
            dx[self.under(ky, kx)] += dy * self.weights[ky, kx]
        self.d_bias = dy.sum(axis=(0, 1, 2))
        return self.unpad(dx)


class Average(Layer):
    """Over height and width."""

    name = "average"

    def parameters(self):
        return []

    def forward(self, x):
        self.shape = x.shape
        return x.mean(axis=(1, 2))

    def backward(self, dy):
        return np.broadcast_to(dy[:, None, None, :] / (self.shape[1] * self.shape[2]), self.shape).astype(np.float32)


class Dense(Layer):
    def __init__(self, rng, name, outputs, inputs, relu=False):
        self.name, self.relu = name, relu
        self.start(rng, (inputs, outputs), inputs)

    def forward(self, x):
        self.x = x
        return self.cut(x @ self.weights + self.bias)

    def backward(self, dy):
        dy = self.uncut(dy)
        rows, inputs = dy.reshape(-1, dy.shape[-1]), self.x.reshape(-1, self.x.shape[-1])
        self.d_weights, self.d_bias = inputs.T @ rows, rows.sum(axis=0)
        return dy @ self.weights.T


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Lstm(Layer):
    """A recurrent layer (Hochreiter and Schmidhuber, 1997) over [batch, steps, inputs]; gates in the order of TFLite:
    input, forget, cell, output. It starts with a state of zeros."""

    def __init__(self, rng, name, units, inputs):
        self.name, self.units = name, units
        self.start(rng, (inputs, 4 * units), 2 * inputs)
        self.recurrent = (rng.standard_normal((units, 4 * units)) * np.sqrt(1 / (2 * units))).astype(np.float32)
        self.bias[units:2 * units] = 1  # remembers, to begin with

    def parameters(self):
        return [*super().parameters(), (self, "recurrent")]

    def forward(self, x):
        self.x, n = x, self.units
        batch, steps, _ = x.shape
        self.gates = np.zeros((batch, steps, 4 * n), np.float32)
        self.cells = np.zeros((batch, steps + 1, n), np.float32)
        self.hidden = np.zeros((batch, steps + 1, n), np.float32)
        driven = x @ self.weights + self.bias
        for t in range(steps):
            z = driven[:, t] + self.hidden[:, t] @ self.recurrent
            g = np.concatenate([sigmoid(z[:, :2 * n]), np.tanh(z[:, 2 * n:3 * n]), sigmoid(z[:, 3 * n:])], axis=1)
            self.gates[:, t] = g
            self.cells[:, t + 1] = g[:, n:2 * n] * self.cells[:, t] + g[:, :n] * g[:, 2 * n:3 * n]
            self.hidden[:, t + 1] = g[:, 3 * n:] * np.tanh(self.cells[:, t + 1])
        return self.hidden[:, 1:]

    def backward(self, dy):
        n = self.units
        batch, steps, _ = dy.shape
        dz = np.zeros_like(self.gates)
        d_hidden, d_cell = np.zeros((batch, n), np.float32), np.zeros((batch, n), np.float32)
        for t in reversed(range(steps)):
            i, f, g, o = (self.gates[:, t, k * n:(k + 1) * n] for k in range(4))
            cell = np.tanh(self.cells[:, t + 1])
            d_hidden = d_hidden + dy[:, t]
            d_cell = d_cell + d_hidden * o * (1 - cell * cell)
            dz[:, t] = np.concatenate([d_cell * g * i * (1 - i), d_cell * self.cells[:, t] * f * (1 - f),
                                       d_cell * i * (1 - g * g), d_hidden * cell * o * (1 - o)], axis=1)
            d_cell = d_cell * f
            d_hidden = dz[:, t] @ self.recurrent.T
        rows = dz.reshape(-1, 4 * n)
        self.d_weights = self.x.reshape(len(rows), -1).T @ rows
        self.d_recurrent = self.hidden[:, :-1].reshape(len(rows), -1).T @ rows
        self.d_bias = rows.sum(axis=0)
        return dz @ self.weights.T


class Adam:
    """Kingma and Ba, 2015, with the decay of weights beside the gradient (Loshchilov and Hutter, 2019)."""

    def __init__(self, parameters, decay=0.0):
        self.slots = [(layer, name, np.zeros_like(getattr(layer, name)), np.zeros_like(getattr(layer, name)))
                      for layer, name in parameters]
        self.count, self.decay = 0, decay

    def step(self, rate):
        self.count += 1
        for layer, name, first, second in self.slots:
            gradient = getattr(layer, f"d_{name}")
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient * gradient - second)
            mean, square = first / (1 - 0.9**self.count), second / (1 - 0.999**self.count)
            value = getattr(layer, name)
            value -= np.float32(rate) * (mean / (np.sqrt(square) + 1e-8) + self.decay * value)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def forward(layers, x):
    for layer in layers:
        x = layer.forward(x)
    return x


def train_classifier(layers, x, labels, rng, epochs, rate, batch=64, decay=1e-3):
    """Cross-entropy; the rate falls along half a cosine to nothing."""
    optimiser = Adam([p for layer in layers for p in layer.parameters()], decay)
    steps, step = epochs * (len(x) // batch), 0
    for epoch in range(epochs):
        order, loss = rng.permutation(len(x)), 0.0
        for at in range(0, len(x) - batch + 1, batch):
            pick = order[at:at + batch]
            p = softmax(forward(layers, x[pick]))
            loss -= np.log(p[np.arange(batch), labels[pick]] + 1e-9).mean()
            p[np.arange(batch), labels[pick]] -= 1
            gradient = (p / batch).astype(np.float32)
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            optimiser.step(rate * 0.5 * (1 + np.cos(np.pi * step / steps)))
            step += 1
        if sys.stderr.isatty():
            print(f"\repoch {epoch + 1}/{epochs}  loss {loss / (len(x) // batch):.4f} ", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)


# ---- quantisation ----


def three_digits(value):
    """Scales are rounded, so that they can be read."""
    return np.float32(f"{float(value):.2e}")


class Quantiser:
    """Builds a .tflite beside a calibration: every tensor has the scale that its real values there ask for, weights of
    convolutions one for each output channel. One input, the outputs in the order of `output`."""

    def __init__(self, description):
        self.model = Model()
        self.model.model.description = description
        self.g = self.model.subgraph()

    def tensor(self, real, name, scale=None, zero=0, **more):
        low, high = min(float(real.min()), 0.0), max(float(real.max()), 0.0)
        if scale is None:
            scale = three_digits((high - low) / 255)
            zero = int(np.clip(round(-128 - low / float(scale)), -128, 127))
        index = self.g.tensor([1, *real.shape[1:]], np.int8, scale, zero, name=name, **more)
        return dict(index=index, real=real, scale=np.float32(scale), zero=zero)

    def input(self, real, name, scale, zero):
        made = self.tensor(real, name, scale, zero)
        self.g.inputs(made["index"])
        return made

    def constants(self, weights, bias, x_scale, name, channel_axis):
        """int8 weights and int32 bias; `channel_axis` None: one scale for all."""
        if channel_axis is None:
            peak = np.abs(weights).max()
        else:
            peak = np.abs(weights).max(axis=tuple(i for i in range(weights.ndim) if i != channel_axis))
        scales = np.array([three_digits(max(p, 1e-6) / 127) for p in np.atleast_1d(peak)], np.float32)
        across = scales.reshape([-1 if i == channel_axis else 1 for i in range(weights.ndim)])
        q = np.clip(np.round(weights / across), -127, 127).astype(np.int8)
        w = self.g.tensor(q.shape, np.int8, scales if channel_axis is not None else float(scales[0]), 0, data=q,
                          name=f"{name}_weights", axis=channel_axis or 0)
        b = self.g.constant(np.round(bias / (scales * x_scale)), np.int32,
                            scale=scales * x_scale if channel_axis is not None else float(scales[0] * x_scale),
                            name=f"{name}_bias")
        return w, b

    def layer(self, layer, x):
        """One of the layers above, behind `x`."""
        real = layer.forward(x["real"])
        out = self.tensor(real, layer.name)
        act = RELU if layer.relu else NONE
        if isinstance(layer, Window):
            stride = dict(strideH=layer.stride[0], strideW=layer.stride[1], padding=SAME, fusedActivationFunction=act)
            if isinstance(layer, Conv):
                weights, axis = layer.weights.transpose(3, 0, 1, 2), 0
                code, opts = "CONV_2D", options("Conv2DOptions", **stride)
            else:
                weights, axis = layer.weights[None], 3
                code, opts = "DEPTHWISE_CONV_2D", options("DepthwiseConv2DOptions", depthMultiplier=1, **stride)
            w, b = self.constants(weights, layer.bias, x["scale"], layer.name, axis)
            self.g.op(code, [x["index"], w, b], [out["index"]], opts)
        elif isinstance(layer, Dense):
            w, b = self.constants(layer.weights.T, layer.bias, x["scale"], layer.name, None)
            self.g.op("FULLY_CONNECTED", [x["index"], w, b], [out["index"]],
                      options("FullyConnectedOptions", fusedActivationFunction=act))
        else:
            axes = self.g.constant([1, 2], name=f"{layer.name}_axes")
            self.g.op("MEAN", [x["index"], axes], [out["index"]], options("ReducerOptions", keepDims=False))
        return out

    def softmax(self, x, name):
        out = self.tensor(softmax(x["real"]), name, 1 / 256, -128)
        self.g.op("SOFTMAX", [x["index"]], [out["index"]], options("SoftmaxOptions", beta=1.0))
        return out

    def logistic(self, x, name):
        out = self.tensor(sigmoid(x["real"]), name, 1 / 256, -128)
        self.g.op("LOGISTIC", [x["index"]], [out["index"]])
        return out

    def lstm(self, layer, x):
        """One step of an Lstm at each run; its state is two variables of the network."""
        n, name = layer.units, layer.name
        out = self.tensor(layer.forward(x["real"])[:, :1], name)
        out["real"] = layer.hidden[:, 1:].reshape(-1, n)
        names = ("input", "forget", "cell", "output")

        def gate(values, k, role):
            part = values[..., k * n:(k + 1) * n]
            scale = three_digits(np.abs(part).max() / 127)
            q = np.clip(np.round(part.T / scale), -127, 127).astype(np.int8)
            return self.g.tensor(q.shape, np.int8, scale, 0, data=q, name=f"{name}_{role}_{names[k]}"), scale

        driven = [gate(layer.weights, k, "input_to") for k in range(4)]
        recurrent = [gate(layer.recurrent, k, "recurrent_to") for k in range(4)]
        bias = [self.g.constant(np.round(layer.bias[k * n:(k + 1) * n] / (driven[k][1] * x["scale"])), np.int32,
                                scale=float(driven[k][1] * x["scale"]), name=f"{name}_bias_{names[k]}")
                for k in range(4)]
        hidden = self.g.tensor([1, n], np.int8, out["scale"], out["zero"], name=f"{name}_hidden", variable=True)
        cell = self.g.tensor([1, n], np.int16, 2.0**-12, 0, name=f"{name}_cell", variable=True)
        between = [self.g.tensor([0], name=f"{name}_between_{k}") for k in range(4)]
        between.append(self.g.tensor([0], np.int8, out["scale"], out["zero"], name=f"{name}_hidden_scale"))
        self.g.op("UNIDIRECTIONAL_SEQUENCE_LSTM",
                  [x["index"], *(w for w, _ in driven), *(w for w, _ in recurrent), -1, -1, -1, *bias, -1, -1,
                   hidden, cell, *[-1] * 4], [out["index"]],
                  options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=TANH, cellClip=7.0),
                  intermediates=between)
        return out

    def bytes(self, *outputs):
        self.g.outputs(*[out["index"] for out in outputs])
        return self.model.bytes()


class Reference:
    """TensorFlow Lite Micro's reference kernels on one model; state lasts from one run to the next."""

    def __init__(self, content):
        self.interpreter = runtime.Interpreter.from_bytes(content)

    def run(self, value):
        self.interpreter.set_input(value, 0)
        self.interpreter.invoke()
        return self.interpreter.get_output(0).copy()
