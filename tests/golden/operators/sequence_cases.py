"""Recurrent layers of TensorFlow 1: plain ones, LSTM with peepholes, projection and normalisation, both in two directions; of floats,
and of floats on integer weights. make_litert_cases.py runs them."""
import numpy as np
from tflite_writer import Cases, Model, options

RELU, RELU6, TANH = 1, 3, 4
CASES = case = Cases()


class Layer:
    """The constants of a layer, integers where it is hybrid, and its states."""

    def __init__(self, seed, hybrid):
        self.model = Model()
        self.g = self.model.subgraph()
        self.rng = np.random.default_rng(seed)
        self.hybrid = hybrid
        self.model.invocations = 3

    def weights(self, *shape):
        if not self.hybrid:
            return self.vector(*shape)
        scale = self.rng.uniform(0.004, 0.008)
        return self.g.constant(self.rng.integers(-127, 128, shape), np.int8, scale=[scale])

    def vector(self, *shape, low=-0.5, high=0.5):
        return self.g.constant(self.rng.uniform(low, high, shape), np.float32)

    def state(self, *shape):
        return self.g.tensor(shape, variable=True)

    def finish(self, code, inputs, outputs, opts, version, fed):
        self.g.op(code, inputs, outputs, opts, version=version)
        self.g.inputs(*fed)
        self.g.outputs(*outputs)
        return self.model


def cell(layer, batches, inputs, units, outputs=None, cifg=False, peepholes=False, norms=False):
    """The operands 1 to 17, the states, and the normalisations of an LSTM."""
    outputs = units if outputs is None else outputs
    skip = (lambda i, made: -1 if cifg and i == 0 else made())
    of_input = [skip(i, lambda: layer.weights(units, inputs)) for i in range(4)]
    of_state = [skip(i, lambda: layer.weights(units, outputs)) for i in range(4)]
    seen = [skip(i, lambda: layer.weights(units)) if peepholes else -1 for i in range(3)]
    biases = [skip(i, lambda: layer.vector(units)) for i in range(4)]
    projection = [layer.weights(outputs, units), layer.vector(outputs)] if outputs != units else [-1, -1]
    states = [layer.state(batches, outputs), layer.state(batches, units)]
    scales = [skip(i, lambda: layer.vector(units, low=0.5, high=1.5)) if norms else -1 for i in range(4)]
    return [*of_input, *of_state, *seen, *biases, *projection], states, scales


def lstm(seed, hybrid, batches=1, steps=5, time_major=False, asymmetric=False, clip=0.0, projection_clip=0.0,
         activation=TANH, **parts):
    layer = Layer(seed, hybrid)
    inputs, units = 5, 6
    outputs = parts.get("outputs", units)
    order = (lambda n: [steps, batches, n]) if time_major else (lambda n: [batches, steps, n])
    x, y = layer.g.tensor(order(inputs)), layer.g.tensor(order(outputs))
    operands, states, norms = cell(layer, batches, inputs, units, **parts)
    return layer.finish("UNIDIRECTIONAL_SEQUENCE_LSTM", [x, *operands, *states, *norms], [y],
                        options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=activation, cellClip=clip,
                                projClip=projection_clip, timeMajor=time_major, asymmetricQuantizeInputs=asymmetric),
                        3, [x])


@case
def lstm_peepholes_projection():
    return lstm(61, False, batches=2, peepholes=True, outputs=4, clip=0.7, projection_clip=0.3)


@case
def lstm_coupled_normalised():
    return lstm(62, False, time_major=True, batches=2, cifg=True, peepholes=True, norms=True)


@case
def hybrid_lstm_peepholes_projection():
    return lstm(63, True, batches=2, steps=4, peepholes=True, outputs=4, clip=0.9)


@case
def hybrid_lstm_coupled_normalised():
    return lstm(64, True, asymmetric=True, cifg=True, norms=True, activation=RELU6)


@case
def hybrid_lstm_of_one_step():
    return lstm(65, True, batches=2, steps=1, outputs=3, peepholes=True)


def step(seed, hybrid):
    layer = Layer(seed, hybrid)
    x, y = layer.g.tensor([2, 5]), layer.g.tensor([2, 4])
    operands, states, norms = cell(layer, 2, 5, 6, outputs=4)
    return layer.finish("LSTM", [x, *operands, *states, *norms], [y],
                        options("LSTMOptions", fusedActivationFunction=TANH, cellClip=0.0, projClip=0.0), 3, [x])


@case
def lstm_step():
    return step(66, False)


@case
def hybrid_lstm_step():
    return step(67, True)


@case
def lstm_basic_step():
    layer = Layer(68, False)
    g = layer.g
    x, before, cell_before = g.tensor([2, 5]), g.tensor([2, 6]), g.tensor([2, 6])
    outputs = [g.tensor([2, 6]), g.tensor([2, 6]), g.tensor([2, 11]), g.tensor([2, 24])]
    made = layer.finish("LSTM", [x, before, layer.weights(24, 11), layer.vector(24), cell_before], outputs,
                        options("LSTMOptions", fusedActivationFunction=TANH, kernelType=1), 2, [x, before, cell_before])
    g.outputs(*outputs[:2])
    return made


def two_ways(seed, hybrid, merges, time_major=False, batches=2, beside=None, asymmetric=False):
    """`beside`: None, "second" (what the second direction reads), "crossed" (what both read as well)."""
    layer = Layer(seed, hybrid)
    g, steps, inputs = layer.g, 4, 5
    units, last = 6, 4 if hybrid else 6  # LiteRT wants both alike
    order = (lambda n: [steps, batches, n]) if time_major else (lambda n: [batches, steps, n])
    x = g.tensor(order(inputs))
    forward, forward_states, _ = cell(layer, batches, inputs, units, last, peepholes=True)
    backward, backward_states, _ = cell(layer, batches, inputs, units, last)
    more = g.tensor(order(inputs)) if beside else -1
    further = [layer.weights(units, inputs) if beside == "crossed" else -1 for _ in range(8)]
    outputs = [g.tensor(order(2 * last))] if merges else [g.tensor(order(last)) for _ in range(2)]
    return layer.finish("BIDIRECTIONAL_SEQUENCE_LSTM",
                        [x, *forward, *backward, *forward_states, *backward_states, more, *further], outputs,
                        options("BidirectionalSequenceLSTMOptions", fusedActivationFunction=TANH, mergeOutputs=merges,
                                timeMajor=time_major, asymmetricQuantizeInputs=asymmetric), 3,
                        [x, more] if beside else [x])


@case
def lstm_two_ways():
    """Of one batch: batches first and outputs merged, LiteRT finds the states of further ones where they are not."""
    return two_ways(71, False, True, batches=1)


@case
def lstm_two_ways_second_input():
    return two_ways(72, False, False, time_major=True, beside="second")


@case
def lstm_two_ways_crossed():
    return two_ways(73, False, True, time_major=True, beside="crossed")


@case
def hybrid_lstm_two_ways():
    return two_ways(74, True, True, batches=1)


@case
def hybrid_lstm_two_ways_crossed():
    return two_ways(75, True, False, time_major=True, beside="crossed", asymmetric=True)


def plain(seed, hybrid, code, steps, activation=TANH, time_major=False, merges=False, beside=None, asymmetric=False,
          batches=2):
    layer = Layer(seed, hybrid)
    g, inputs = layer.g, 5
    units = (6, 3) if code.startswith("BI") else (6,)
    if code == "RNN":
        order = (lambda n: [batches, n])
    else:
        order = (lambda n: [steps, batches, n]) if time_major else (lambda n: [batches, steps, n])
    x = g.tensor(order(inputs))
    operands = [x]
    for n in units:
        operands += [layer.weights(n, inputs), layer.weights(n, n), layer.vector(n), layer.state(batches, n)]
    fed = [x]
    kinds = {"RNN": "RNNOptions", "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
             "BIDIRECTIONAL_SEQUENCE_RNN": "BidirectionalSequenceRNNOptions"}
    fields = {"fusedActivationFunction": activation, "asymmetricQuantizeInputs": asymmetric}
    if code != "RNN":
        fields["timeMajor"] = time_major
    if code.startswith("BI"):
        fields["mergeOutputs"] = merges
        more = g.tensor(order(inputs)) if beside else -1
        operands.append(more)
        operands += [layer.weights(n, inputs) if beside == "crossed" else -1 for n in units]
        if beside:
            fed.append(more)
    outputs = [g.tensor(order(sum(units)))] if merges else [g.tensor(order(n)) for n in units]
    return layer.finish(code, operands, outputs, options(kinds[code], **fields), 3, fed)


@case
def rnn_step():
    return plain(81, False, "RNN", 1)


@case
def hybrid_rnn_step():
    return plain(82, True, "RNN", 1, RELU)


@case
def rnn_sequence():
    return plain(83, False, "UNIDIRECTIONAL_SEQUENCE_RNN", 5, RELU6)


@case
def hybrid_rnn_sequence():
    return plain(84, True, "UNIDIRECTIONAL_SEQUENCE_RNN", 5, time_major=True)


@case
def hybrid_rnn_sequence_asymmetric():
    return plain(85, True, "UNIDIRECTIONAL_SEQUENCE_RNN", 3, asymmetric=True)


@case
def rnn_two_ways():
    return plain(86, False, "BIDIRECTIONAL_SEQUENCE_RNN", 4, merges=True)


@case
def rnn_two_ways_second_input():
    return plain(87, False, "BIDIRECTIONAL_SEQUENCE_RNN", 4, time_major=True, beside="second")


@case
def hybrid_rnn_two_ways_crossed():
    return plain(88, True, "BIDIRECTIONAL_SEQUENCE_RNN", 4, time_major=False, merges=True, beside="crossed", batches=1)
