"""Variables, which keep their values between invocations, branches and loops. make_cases.py runs them."""
import numpy as np
from tflite_writer import RESOURCE, Cases, Model, flexible, options

VALID = 1
CASES = case = Cases()


def handle(g, name):
    made = g.tensor([], RESOURCE)
    g.op("VAR_HANDLE", [], [made], options("VarHandleOptions", container="", sharedName=name))
    return made


@case
def variable_counts():
    """Three invocations on one state: y = state + x; state = y. The state begins as 7."""
    model = Model()
    g, begin = model.subgraph(), model.subgraph("begin")
    g.op("CALL_ONCE", [], [], options("CallOnceOptions", initSubgraphIndex=1))
    x, old, y = g.tensor([3]), g.tensor([3]), g.tensor([3])
    state = handle(g, "state")
    g.op("READ_VARIABLE", [state], [old], options("ReadVariableOptions"))
    g.op("ADD", [old, x], [y], options("AddOptions"))
    g.op("ASSIGN_VARIABLE", [state, y], [], options("AssignVariableOptions"))
    g.inputs(x)
    g.outputs(y)
    g2_state = handle(begin, "state")
    begin.op("ASSIGN_VARIABLE", [g2_state, begin.constant([7, 7, 7], np.float32)], [],
             options("AssignVariableOptions"))
    model.invocations = 3
    return model


@case
def variable_delays_s8():
    """A streaming frame buffer: the last two frames, and the new one, of int8."""
    model = Model()
    g = model.subgraph()
    q = dict(scale=0.1, zero=4)
    x, old, all_three = g.tensor([1, 2], np.int8, **q), g.tensor([2, 2], np.int8, **q), g.tensor([3, 2], np.int8, **q)
    kept = g.tensor([2, 2], np.int8, **q)
    state = handle(g, "frames")
    g.op("READ_VARIABLE", [state], [old], options("ReadVariableOptions"))
    g.op("CONCATENATION", [old, x], [all_three], options("ConcatenationOptions", axis=0))
    g.op("SLICE", [all_three, g.constant([1, 0]), g.constant([2, 2])], [kept], options("SliceOptions"))
    g.op("ASSIGN_VARIABLE", [state, kept], [], options("AssignVariableOptions"))
    g.inputs(x)
    g.outputs(all_three)
    model.invocations = 4
    return model


def strided_stream(invocations):
    """Two strided convolutions of a stream: the first one runs in every second invocation, the second one in every sixth."""
    model = Model()
    g = model.subgraph()
    rng = np.random.default_rng(17)

    def layer(x, slots, cycles, depth):
        q = dict(scale=0.1, zero=5 - depth)
        made = int(g.graph.tensors[x].shape[3])
        held = g.tensor([1, slots, 1, made], np.int8, **dict(scale=0.1, zero=5 - made), variable=True)
        y = g.tensor([1, 1, 1, depth], np.int8, **q)
        weights = g.tensor([depth, slots, 1, made], np.int8, 0.004, 0, data=rng.integers(-127, 128, (depth, slots, 1, made)))
        bias = g.constant(rng.integers(-900, 900, depth), np.int32, scale=0.1 * 0.004)
        g.op("CIRCULAR_BUFFER", [x], [held], custom=flexible(cycles_max=cycles))
        g.op("CONV_2D", [held, weights, bias], [y], options("Conv2DOptions", padding=VALID, strideH=1, strideW=1))
        return y

    x = g.tensor([1, 1, 1, 3], np.int8, 0.1, 2)
    g.inputs(x)
    g.outputs(layer(layer(x, 4, 2, 4), 3, 3, 2))
    model.invocations = invocations
    return model


@case
def stream_goes_on_s8():
    return strided_stream(12)


@case
def stream_keeps_state_s8():
    """A layer that keeps state of its own runs in every second invocation."""
    model = Model()
    g = model.subgraph()
    rng = np.random.default_rng(3)
    x = g.tensor([1, 1, 1, 3], np.int8, 0.1, 2)
    held, rows = g.tensor([1, 4, 1, 3], np.int8, 0.1, 2, variable=True), g.tensor([1, 12], np.int8, 0.1, 2)
    feature = g.tensor([4, 12], np.int8, 0.01, 0, data=rng.integers(-127, 128, (4, 12)))
    time = g.tensor([4, 5], np.int16, 2.0**-15, 0, data=rng.integers(-20000, 20000, (4, 5)))
    bias = g.constant(rng.integers(-9000, 9000, 4), np.int32, scale=2.0**-24)
    state = g.tensor([1, 20], np.int16, 2.0**-9, 0, variable=True)
    y = g.tensor([1, 4], np.int8, 0.25, -3)
    g.op("CIRCULAR_BUFFER", [x], [held], custom=flexible(cycles_max=2))
    g.op("RESHAPE", [held, g.constant([1, 12])], [rows], options("ReshapeOptions", newShape=[1, 12]))
    g.op("SVDF", [rows, feature, time, bias, state], [y], options("SVDFOptions", rank=1))
    g.inputs(x)
    g.outputs(y)
    model.invocations = 8
    return model


@case
def if_chooses():
    model = Model()
    g, plus, minus = model.subgraph(), model.subgraph("plus"), model.subgraph("minus")
    flag, a, b, y = g.tensor([1], np.bool_), g.tensor([2, 3]), g.tensor([2, 3]), g.tensor([2, 3])
    g.op("IF", [flag, a, b], [y], options("IfOptions", thenSubgraphIndex=1, elseSubgraphIndex=2))
    g.inputs(flag, a, b)
    g.outputs(y)
    for branch, code in ((plus, "ADD"), (minus, "MUL")):
        p, q, r = branch.tensor([2, 3]), branch.tensor([2, 3]), branch.tensor([2, 3])
        branch.op(code, [p, q], [r], options("AddOptions" if code == "ADD" else "MulOptions"))
        branch.inputs(p, q)
        branch.outputs(r)
    return model


def counting_loop(more_condition):
    """i = 0; while i < 5 (and more): x = x + x, i = i + 1."""
    model = Model()
    g, condition, body = model.subgraph(), model.subgraph("condition"), model.subgraph("body")
    x, last, y = g.tensor([2]), g.tensor([1], np.int32), g.tensor([2])
    first = g.constant([0])
    g.op("WHILE", [first, x], [last, y], options("WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2))
    g.inputs(x)
    g.outputs(y, last)
    i, v, goes_on = condition.tensor([1], np.int32), condition.tensor([2]), condition.tensor([1], np.bool_)
    condition.inputs(i, v)
    if more_condition:
        few, small, top, head = (condition.tensor([1], np.bool_), condition.tensor([1], np.bool_),
                                 condition.constant([20.0], np.float32), condition.tensor([1]))
        condition.op("LESS", [i, condition.constant([5])], [few], options("LessOptions"))
        condition.op("SLICE", [v, condition.constant([0]), condition.constant([1])], [head], options("SliceOptions"))
        condition.op("LESS", [head, top], [small], options("LessOptions"))
        condition.op("LOGICAL_AND", [few, small], [goes_on], options("LogicalAndOptions"))
    else:
        condition.op("LESS", [i, condition.constant([5])], [goes_on], options("LessOptions"))
    condition.outputs(goes_on)
    i, v, ni, nv = body.tensor([1], np.int32), body.tensor([2]), body.tensor([1], np.int32), body.tensor([2])
    body.inputs(i, v)
    body.op("ADD", [i, body.constant([1])], [ni], options("AddOptions"))
    body.op("ADD", [v, v], [nv], options("AddOptions"))
    body.outputs(ni, nv)
    return model


@case
def while_counts():
    return counting_loop(False)


@case
def while_stops_early():
    model = counting_loop(True)
    model.values = [np.array([3.0, 1.0], dtype=np.float32)]
    return model


@case
def while_assigns_variable():
    """A loop whose body adds to a variable, which keeps its value between invocations."""
    model = Model()
    g, condition, body = model.subgraph(), model.subgraph("condition"), model.subgraph("body")
    x, last, carried, y = g.tensor([2]), g.tensor([1], np.int32), g.tensor([2]), g.tensor([2])
    state = handle(g, "total")
    first = g.constant([0])
    g.op("WHILE", [first, x], [last, carried], options("WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2))
    g.op("READ_VARIABLE", [state], [y], options("ReadVariableOptions"))
    g.inputs(x)
    g.outputs(y, last)
    i, v, goes_on = condition.tensor([1], np.int32), condition.tensor([2]), condition.tensor([1], np.bool_)
    condition.inputs(i, v)
    condition.op("LESS", [i, condition.constant([3])], [goes_on], options("LessOptions"))
    condition.outputs(goes_on)
    i, v, ni = body.tensor([1], np.int32), body.tensor([2]), body.tensor([1], np.int32)
    old, new = body.tensor([2]), body.tensor([2])
    body.inputs(i, v)
    inner = handle(body, "total")
    body.op("READ_VARIABLE", [inner], [old], options("ReadVariableOptions"))
    body.op("ADD", [old, v], [new], options("AddOptions"))
    body.op("ASSIGN_VARIABLE", [inner, new], [], options("AssignVariableOptions"))
    body.op("ADD", [i, body.constant([1])], [ni], options("AddOptions"))
    body.outputs(ni, v)
    model.invocations = 2
    return model
