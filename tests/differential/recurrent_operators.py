"""Random recurrent layers: one run of some steps from states of zero."""
import numpy as np
from operators import F32, I8, I16, activation, operator
from tflite_writer import options

TANH = 4  # of the activation functions, the only one that TFLite Micro's LSTM has


def gate_weights(d, units, terms, input_scale):
    """Weights of one gate, and their scale: sums over `terms` elements reach some units of a sigmoid's argument."""
    if d.kind is F32:
        return d.g.constant(d.values([units, terms], F32) / np.sqrt(terms), F32), None
    scale = float(np.float32(d.rng.uniform(0.5, 4) / (input_scale * (74 if d.kind is I8 else 18000) * 74 * np.sqrt(terms))))
    return d.g.constant(d.rng.integers(-128 if d.chance(20) else -127, 128, [units, terms]), I8, scale=scale, zero=0), scale


def gate_bias(d, units, scale):
    if d.kind is F32:
        return d.g.constant(d.values([units], F32), F32)
    reach = int(min(1 << 20, 2 / scale))
    values = d.rng.integers(-reach, reach + 1, [units])
    return d.g.constant(values, np.int64 if d.kind is I16 else np.int32, scale=scale, zero=0)


@operator("UNIDIRECTIONAL_SEQUENCE_LSTM")
def lstm(d, name):
    d.kind = d.pick(I8, I8, I16, F32)
    batches, steps, inputs, units = d.whole(1, 3), d.whole(1, 5), d.extent(9), d.extent(9)
    time_major = d.chance(40)
    order = (lambda features: [steps, batches, features]) if time_major else (lambda features: [batches, steps, features])
    of_input = d.quantisation()
    of_output = {} if d.kind is F32 else {"scale": 2.0 ** (-7 if d.kind is I8 else -15), "zero": 0}
    if d.kind is I8 and d.chance(50):
        of_output = {"scale": float(np.float32(d.rng.uniform(0.004, 0.012))), "zero": d.whole(-40, 40)}
    # A cell is a number of 16 bits by a power of two.
    of_cell = {} if d.kind is F32 else {"scale": 2.0 ** -d.whole(9, 13), "zero": 0}
    x, y = d.tensor(order(inputs), **of_input), d.tensor(order(units), **of_output)
    input_weights = [gate_weights(d, units, inputs, of_input.get("scale")) for _ in range(4)]
    state_weights = [gate_weights(d, units, units, of_output.get("scale")) for _ in range(4)]
    biases = [gate_bias(d, units, scale and scale * of_input["scale"]) for _, scale in input_weights]
    hidden = d.g.tensor([batches, units], d.kind, variable=True, **of_output)
    cell = d.g.tensor([batches, units], F32 if d.kind is F32 else I16, variable=True, **of_cell)
    limit = d.pick(0.0, 0.0, 0.0, 2.5)
    d.g.op(name, [x, *(w for w, _ in input_weights), *(w for w, _ in state_weights), -1, -1, -1, *biases, -1, -1, hidden, cell,
                  -1, -1, -1, -1], [y],
           options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=TANH, timeMajor=time_major, cellClip=limit), 3)
    d.model.peers = ("TFLite Micro",)  # LiteRT rounds gates otherwise (docs/operators.md)
    return d.done([x], [y])


def short(scale):
    """Nearly the same number with twelve bits, so that the product of two has those of a float."""
    mantissa, exponent = np.frexp(scale)
    return float(np.ldexp(np.round(mantissa * 4096), exponent - 12))


def power_of_two(scale):
    return float(2.0 ** np.round(np.log2(scale)))


@operator("SVDF")
def svdf(d, name):
    """TFLite Micro's wheel takes products of scales as doubles where its firmware and LiteRT have floats: of these there is one answer."""
    d.kind = d.pick(I8, I8, F32)
    batches, inputs, units, rank, memory = d.whole(1, 3), d.extent(12), d.extent(9), d.whole(1, 3), d.whole(1, 12)
    filters = units * rank
    of_input = d.quantisation()
    if d.kind is I8:
        of_input["scale"] = short(of_input["scale"])
    x = d.tensor([batches, inputs], **of_input)
    if d.kind is F32:
        features = d.g.constant(d.values([filters, inputs], F32), F32)
        time = d.g.constant(d.values([filters, memory], F32), F32)
        offsets = d.g.constant(d.values([units], F32), F32)
        state, y = d.g.tensor([batches, filters * memory], F32, variable=True), d.tensor([batches, units])
    else:
        of_weights, of_time = short(d.scale(0.002, 0.02)), d.scale(2e-5, 1e-4)
        of_state = power_of_two(of_input["scale"] * of_weights * 74 * 74 * np.sqrt(inputs) * d.rng.uniform(1, 4) / 32768)
        features = d.g.constant(d.rng.integers(-127, 128, [filters, inputs]), I8, scale=of_weights, zero=0)
        time = d.g.constant(d.rng.integers(-20000, 20001, [filters, memory]), I16, scale=of_time, zero=0)
        reach = int(20000 * 9000 * np.sqrt(rank))
        offsets = d.g.constant(d.rng.integers(-reach, reach + 1, [units]), np.int32, scale=of_state * of_time, zero=0)
        state = d.g.tensor([batches, filters * memory], I16, of_state, 0, variable=True)
        spread = of_state * of_time * reach * float(d.rng.uniform(0.5, 3))
        y = d.tensor([batches, units], scale=power_of_two(spread / 128), zero=d.whole(-100, 100))
    d.g.op(name, [x, features, time, offsets, state], [y],
           options("SVDFOptions", rank=rank, fusedActivationFunction=activation(d) and 1), 3)
    return d.done([x], [y])
