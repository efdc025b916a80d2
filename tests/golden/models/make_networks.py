#!/usr/bin/env python3
"""Makes the networks of this folder, int8 and with int16 activations, and what TFLite Micro's reference kernels compute
for them: the outputs and every tensor in between. Needs the packages of ../requirements.txt.

    python3 make_networks.py            # writes every network beside this file
    python3 make_networks.py --check    # makes them again elsewhere: are the bytes the same?

The weights are random, from fixed seeds: exactness needs no training. Scales come from a calibration with real numbers,
as a converter's do, so that tensors use their range and do not saturate; the script fails where one does not. Scales are
rounded to three digits, so that another machine's last bit changes no file.
"""
import hashlib
import json
import pathlib
import sys
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tflite_writer import KINDS, TYPE_NAMES, Model, fresh, options, run_script, runtime  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
NONE, RELU, RELU6, TANH = 0, 1, 3, 4
SAME, VALID = 0, 1
CALIBRATION_SAMPLES = 6


def three_digits(value):
    return np.float32(f"{value:.2e}")


def same_padding(size, kernel, stride):
    out = -(-size // stride)
    total = max((out - 1) * stride + kernel - size, 0)
    return out, total // 2, total - total // 2


def windows(x, kernel, stride, padding):
    """x: [B,H,W,C] -> [B,OH,OW,KH,KW,C]"""
    pads = []
    for axis in (0, 1):
        if padding == SAME:
            _, before, after = same_padding(x.shape[1 + axis], kernel[axis], stride[axis])
        else:
            before = after = 0
        pads.append((before, after))
    x = np.pad(x, [(0, 0), *pads, (0, 0)])
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(1, 2))
    return view[:, ::stride[0], ::stride[1]].transpose(0, 1, 2, 4, 5, 3)


def activate(x, function):
    return {NONE: lambda: x, RELU: lambda: np.maximum(x, 0), RELU6: lambda: np.clip(x, 0, 6)}[function]()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Value:
    """A tensor of the network and the real values that the calibration has there."""

    def __init__(self, index, real, scale):
        self.index, self.real, self.scale = index, real, scale


class Net:
    def __init__(self, seed, kind):
        self.rng = np.random.default_rng(seed)
        self.kind = kind  # of activations; weights are int8
        self.model = Model()
        self.g = self.model.subgraph()
        self.macs = []

    # ---- quantisation ----

    def activation(self, real, name, scale=None, zero=None):
        low, high = min(real.min(), 0), max(real.max(), 0)
        if scale is None and self.kind is np.int8:
            scale = three_digits((high - low) / 255)
            zero = int(np.clip(round(-128 - low / scale), -128, 127))
        elif scale is None:
            scale, zero = three_digits(max(-low, high) / 32767), 0
        shape = [1, *real.shape[1:]]
        return Value(self.g.tensor(shape, self.kind, scale, zero, name=name), real, np.float32(scale))

    def input(self, shape, name):
        """Waves of random frequency and phase on each of which no sample is like another."""
        real = np.zeros((CALIBRATION_SAMPLES, *shape))
        axes = np.meshgrid(*[np.arange(extent) for extent in shape], indexing="ij")
        for sample in real:
            for _ in range(4):
                phase = self.rng.uniform(0, 6.28)
                sample += np.sin(phase + sum(a * self.rng.uniform(0.1, 0.9) for a in axes))
        value = self.activation(real, name)
        self.g.inputs(value.index)
        self.input_real = real
        return value

    def weights(self, shape):
        """Small integers with a bell's shape, as trained weights have."""
        return self.rng.integers(-31, 32, (4, *shape)).sum(axis=0).astype(np.int8)

    def bias(self, real, scales, name):
        wide = np.int32 if self.kind is np.int8 else np.int64
        return self.g.constant(np.round(real / scales), wide, scale=scales, name=name)

    # ---- operators ----

    def emit(self, code, inputs, real, name, opts, macs=0, **fixed):
        made = self.activation(real, name, **fixed)
        self.g.op(code, inputs, [made.index], opts)
        self.macs.append(macs)
        return made

    def conv(self, x, channels, kernel=3, stride=1, act=RELU, padding=SAME, depthwise=False, dead=0,
             name=None):
        kernel = (kernel, kernel) if isinstance(kernel, int) else kernel
        stride = (stride, stride) if isinstance(stride, int) else stride
        depth = x.real.shape[-1]
        view = windows(x.real, kernel, stride, padding)
        if depthwise:
            q = self.weights((1, *kernel, depth))
            plain = np.einsum("bhwklc,klc->bhwc", view, q[0].astype(float))
            count, axis = depth, 3
        else:
            q = self.weights((channels, *kernel, depth))
            q[channels - dead:] = 0  # dead channels, which no input changes
            plain = np.einsum("bhwklc,oklc->bhwo", view, q.astype(float))
            count, axis = channels, 0
        scales = np.array([three_digits(self.rng.integers(70, 141) / 100 / (spread or 100))
                           for spread in plain.std(axis=(0, 1, 2))], np.float32)
        # Centred, as a batch normalisation leaves it; dead channels are cut off by the activation.
        shift = np.round(self.rng.integers(-40, 41, count) / 100 - plain.mean(axis=(0, 1, 2)) * scales, 2)
        shift[count - dead:] = -1
        real = activate(plain * scales + shift, act)
        w = self.g.tensor(q.shape, np.int8, scales, 0, data=q, name=f"{name}_weights", axis=axis)
        b = self.bias(shift, scales * x.scale, f"{name}_bias")
        fields = dict(padding=padding, strideH=stride[0], strideW=stride[1], fusedActivationFunction=act)
        opts = (options("DepthwiseConv2DOptions", depthMultiplier=1, **fields) if depthwise
                else options("Conv2DOptions", **fields))
        macs = int(np.prod(real.shape[1:])) * kernel[0] * kernel[1] * (1 if depthwise else depth)
        return self.emit("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", [x.index, w, b], real, name, opts, macs)

    def depthwise(self, x, name, **more):
        return self.conv(x, None, depthwise=True, name=name, **more)

    def dense(self, x, count, name, act=NONE):
        q = self.weights((count, x.real.shape[-1]))
        plain = x.real @ q.T.astype(float)
        scale = three_digits(1.5 / plain.std())
        shift = np.round(self.rng.integers(-40, 41, count) / 100 - plain.mean(axis=0) * scale, 2)
        w = self.g.tensor(q.shape, np.int8, scale, 0, data=q, name=f"{name}_weights")
        b = self.bias(shift, np.float32(scale * x.scale), f"{name}_bias")
        opts = options("FullyConnectedOptions", fusedActivationFunction=act)
        return self.emit("FULLY_CONNECTED", [x.index, w, b], activate(plain * scale + shift, act), name, opts, q.size)

    def add(self, a, b, name, act=NONE):
        opts = options("AddOptions", fusedActivationFunction=act, potScaleInt16=False)
        return self.emit("ADD", [a.index, b.index], activate(a.real + b.real, act), name, opts)

    def pool(self, x, size, name, largest=False):
        view = windows(x.real, (size, size), (size, size), VALID)
        real = view.max(axis=(3, 4)) if largest else view.mean(axis=(3, 4))
        opts = options("Pool2DOptions", padding=VALID, strideH=size, strideW=size, filterHeight=size, filterWidth=size)
        zero = self.g.graph.tensors[x.index].quantization.zeroPoint[0]
        return self.emit("MAX_POOL_2D" if largest else "AVERAGE_POOL_2D", [x.index], real, name, opts,
                         scale=x.scale, zero=zero)

    def mean(self, x, name):
        axes = self.g.constant([1, 2], name=f"{name}_axes")
        real = x.real.mean(axis=(1, 2))
        return self.emit("MEAN", [x.index, axes], real, name, options("ReducerOptions", keepDims=False))

    def reshape(self, x, shape, name):
        target = self.g.constant(shape, name=f"{name}_shape")
        zero = self.g.graph.tensors[x.index].quantization.zeroPoint[0]
        return self.emit("RESHAPE", [x.index, target], x.real.reshape(-1, *shape[1:]), name, None,
                         scale=x.scale, zero=zero)

    def softmax(self, x, name):
        e = np.exp(x.real - x.real.max(axis=-1, keepdims=True))
        fixed = dict(scale=1 / 256, zero=-128) if self.kind is np.int8 else dict(scale=1 / 32768, zero=0)
        return self.emit("SOFTMAX", [x.index], e / e.sum(axis=-1, keepdims=True), name,
                         options("SoftmaxOptions", beta=1.0), **fixed)

    def lstm(self, x, units, name):
        """Input gate, forget gate, cell, output gate; no peephole, no projection."""
        depth = x.real.shape[-1]
        q_in = [self.weights((units, depth)) for _ in range(4)]
        q_rec = [self.weights((units, units)) for _ in range(4)]
        s_in = [three_digits(float(f) / (x.real.std() * 37 * depth**0.5)) for f in (1.5, 1.2, 1.4, 1.6)]
        s_rec = [three_digits(float(f) / (0.4 * 37 * units**0.5)) for f in (0.8, 0.7, 0.9, 0.6)]
        shift = [self.rng.integers(-40, 41, units) / 100 for _ in range(4)]
        batch, steps = x.real.shape[:2]
        hidden, cell, outputs = np.zeros((batch, units)), np.zeros((batch, units)), []
        for t in range(steps):
            gates = [x.real[:, t] @ (q_in[i].T * float(s_in[i])) + hidden @ (q_rec[i].T * float(s_rec[i])) + shift[i]
                     for i in range(4)]
            cell = sigmoid(gates[1]) * cell + sigmoid(gates[0]) * np.tanh(gates[2])
            hidden = sigmoid(gates[3]) * np.tanh(cell)
            outputs.append(hidden)
        out = self.activation(np.stack(outputs, axis=1), name)
        zero = self.g.graph.tensors[out.index].quantization.zeroPoint[0]
        names = ("input", "forget", "cell", "output")
        w_in = [self.g.tensor(q_in[i].shape, np.int8, s_in[i], 0, data=q_in[i], name=f"{name}_input_to_{names[i]}")
                for i in range(4)]
        w_rec = [self.g.tensor(q_rec[i].shape, np.int8, s_rec[i], 0, data=q_rec[i],
                               name=f"{name}_recurrent_to_{names[i]}") for i in range(4)]
        bias = [self.bias(shift[i], np.float32(s_in[i] * x.scale), f"{name}_bias_{names[i]}") for i in range(4)]
        h = self.g.tensor([1, units], self.kind, out.scale, zero, name=f"{name}_hidden", variable=True)
        c = self.g.tensor([1, units], np.int16, 2.0**-12, 0, name=f"{name}_cell", variable=True)
        between = [self.g.tensor([0], name=f"{name}_between_{i}") for i in range(4)]
        between.append(self.g.tensor([0], self.kind, out.scale, zero, name=f"{name}_hidden_scale"))
        opts = options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=TANH, cellClip=7.0)
        self.g.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x.index, *w_in, *w_rec, -1, -1, -1, *bias, -1, -1, h, c, *[-1] * 4],
                  [out.index], opts, intermediates=between)
        self.macs.append(0)
        return out


# ---- the networks ----


def separable(net):
    """Depthwise and pointwise convolutions in turn, as keyword spotters and phones' classifiers are built. Two channels
    of the first are dead, as training leaves some."""
    x = net.conv(net.input([32, 20, 2], "spectrogram"), 16, kernel=(5, 3), stride=2, act=RELU6, dead=2, name="stem")
    for i, (channels, stride) in enumerate([(24, 1), (40, 2), (40, 1), (56, 2)]):
        x = net.depthwise(x, f"block{i}_depthwise", stride=stride, act=RELU6)
        x = net.conv(x, channels, kernel=1, act=RELU6, name=f"block{i}_pointwise")
    x = net.mean(x, "average")
    return net.softmax(net.dense(x, 12, "classifier"), "scores")


def residual(net):
    """Blocks of two convolutions with a short cut around them; the second halves the image."""
    x = net.conv(net.input([20, 20, 3], "image"), 16, name="stem")
    y = net.conv(net.conv(x, 16, name="block0_a"), 16, act=NONE, name="block0_b")
    x = net.pool(net.add(x, y, "block0_add", RELU), 2, "halve", largest=True)
    y = net.conv(net.conv(x, 32, stride=2, name="block1_a"), 32, act=NONE, name="block1_b")
    x = net.add(net.conv(x, 32, kernel=1, stride=2, act=NONE, name="block1_short"), y, "block1_add", RELU)
    x = net.reshape(net.pool(x, 5, "average"), [1, 32], "flatten")
    return net.softmax(net.dense(x, 10, "classifier"), "scores")


def autoencoder(net):
    """Fully connected layers down to a narrow one and up again."""
    x = net.input([160], "frames")
    for i, count in enumerate([64, 48, 8, 48, 64]):
        x = net.dense(x, count, f"dense{i}", RELU)
    return net.dense(x, 160, "restored")


def lstm(net):
    """A recurrent layer over a sequence, its outputs at all steps classified."""
    x = net.lstm(net.input([16, 12], "sequence"), 18, "lstm")
    x = net.reshape(x, [1, 16 * 18], "flatten")
    return net.softmax(net.dense(x, 10, "classifier"), "scores")


NETWORKS = [(separable, 11), (residual, 12), (autoencoder, 13), (lstm, 14)]


# ---- recorded results ----


def samples_of(net, tensor, real):
    """(what it is, values): like the calibration's, at random, and the corners of the type."""
    kind = KINDS[tensor.type]
    info, shape = np.iinfo(kind), tuple(tensor.shape)
    scale, zero = tensor.quantization.scale[0], tensor.quantization.zeroPoint[0]
    calm = np.clip(np.round(real[:1] / scale) + zero, info.min, info.max).astype(kind)
    anything = net.rng.integers(info.min, info.max + 1, shape).astype(kind)
    corners = net.rng.choice(np.array([info.min, info.max], kind), shape)
    return [("first of the calibration", calm.reshape(shape)), ("random over the full range", anything),
            ("all zero point", np.full(shape, zero, kind)), ("random least and largest values", corners)]


def described(index, tensor):
    made = {"index": index, "name": tensor.name, "dtype": TYPE_NAMES[tensor.type], "shape": list(tensor.shape)}
    made["quantization"] = {"scale": [float(s) for s in tensor.quantization.scale],
                            "zero_point": [int(z) for z in tensor.quantization.zeroPoint]}
    return made


def shape_text(tensor):
    return f"{TYPE_NAMES[tensor.type]}[{','.join(map(str, tensor.shape))}]"


def expect_range_is_used(name, tensor, values):
    info = np.iinfo(values.dtype)
    at_top = max(0, np.count_nonzero(values == info.max) - 1) / values.size
    least = min(12, values.size // 3)
    if tensor.name != "scores" and (at_top > 0.05 or len(np.unique(values)) < least):
        raise SystemExit(f"{name}: '{tensor.name}' has {len(np.unique(values))} values, {at_top:.1%} at the top")


def make_network(folder, make, seed, kind):
    name = f"{make.__name__}_{'s8' if kind is np.int8 else 's16'}"
    net = Net(seed, kind)
    result = make(net)
    net.g.outputs(result.index)
    net.model.model.description = f"{' '.join(make.__doc__.split())}"
    content = net.model.bytes()
    folder = fresh(folder / name)
    (folder / "model.tflite").write_bytes(content)
    graph = net.g.graph
    first = graph.tensors[graph.inputs[0]]
    samples = samples_of(net, first, net.input_real)
    mids = [{"op": i, "out": 0, "tensor": int(op.outputs[0]), "dtype": TYPE_NAMES[graph.tensors[op.outputs[0]].type],
             "offset": 0, "bytes": 0, "crc32": []} for i, op in enumerate(graph.operators)]
    for k, (_, value) in enumerate(samples):
        interpreter = runtime.Interpreter.from_bytes(
            content, arena_size=1 << 20, intrepreter_config=runtime.InterpreterConfig.kPreserveAllTensors)
        interpreter.set_input(value, 0)
        interpreter.invoke()
        (folder / f"in{k}_0.bin").write_bytes(value.tobytes())
        (folder / f"out{k}_0.bin").write_bytes(interpreter.get_output(0).tobytes())
        kept = b""
        for mid in mids:
            tensor = graph.tensors[mid["tensor"]]
            values = interpreter.GetTensor(mid["tensor"], 0)["tensor_data"]
            data = np.ascontiguousarray(values).tobytes()
            if len(data) != np.prod(tensor.shape) * np.dtype(KINDS[tensor.type]).itemsize:
                raise SystemExit(f"{name}: '{tensor.name}' is of another size")
            mid["offset"], mid["bytes"] = len(kept), len(data)
            mid["crc32"].append(zlib.crc32(data))
            kept += data
            if k == 0:
                expect_range_is_used(name, tensor, values)
        if k == 0 and len(kept) < 32768:
            (folder / "mid0.bin").write_bytes(kept)
    codes = {code: name for name, code in vars(runtime.schema_fb.BuiltinOperator).items() if name.isupper()}
    meta = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "samples": [what for what, _ in samples],
        "inputs": [described(i, graph.tensors[i]) for i in graph.inputs],
        "outputs": [described(i, graph.tensors[i]) for i in graph.outputs],
        "macs": sum(net.macs),
        "ops": [{"op": codes[net.model.model.operatorCodes[op.opcodeIndex].builtinCode],
                 "out": [shape_text(graph.tensors[i]) for i in op.outputs], "macs": macs}
                for op, macs in zip(graph.operators, net.macs)],
        "mid": mids,
        "mid_note": "every operator's output, with a CRC-32 for each sample; mid<k>.bin holds the bytes of sample k",
        "source": "make_networks.py; TFLite Micro's reference kernels, a fresh interpreter for each sample",
    }
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")
    print(f"{name}: {len(content)} bytes, {sum(net.macs)} multiply-accumulates")


def make_all(folder):
    for make, seed in NETWORKS:
        for kind in (np.int8, np.int16):
            make_network(folder, make, seed, kind)


if __name__ == "__main__":
    run_script(make_all, HERE, sys.argv[1:])
