"""Cases of make_layers.py: loops, scans and branches. `layers` is that script, whose random numbers are each case's own."""
import numpy as np
from onnx import helper, numpy_helper


def subgraph(nodes, inputs, outputs, constants=()):
    """Inputs and outputs are (name, type, shape)."""
    values = [[helper.make_tensor_value_info(*value) for value in values] for values in (inputs, outputs)]
    return helper.make_graph(nodes, "body", *values, [numpy_helper.from_array(v, n) for n, v in constants])


def loop(layers, last, steps=None, outputs=("y", "all"), trip=np.int64(4)):
    """state = tanh(state @ w + step); each step's state is a row of a result. `last`: what says whether there is another step."""
    body = subgraph([helper.make_node("MatMul", ["state", "x0"], ["product"]),
                     helper.make_node("Cast", ["step"], ["number"], to=1),
                     helper.make_node("Add", ["product", "number"], ["sum"]),
                     helper.make_node("Tanh", ["sum"], ["next"]), *last],
                    [("step", 7, []), ("goes_on", 9, []), ("state", 1, [2, 3])],
                    [("again", 9, []), ("next", 1, [2, 3])] + ([("next_row", 1, [2, 3])] if len(outputs) > 1 else []),
                    [("limit", np.int64(steps or 0)), ("largest", np.float32(0.9))])
    if len(outputs) > 1:
        body.node.append(helper.make_node("Identity", ["next"], ["next_row"]))
    case = layers.Case("Loop", [layers.random(3, 3)], list(outputs))
    case.nodes = [helper.make_node("Loop", ["trip" if trip is not None else "", "goes", "first"], list(outputs), name="layer",
                                   body=body)]
    case.constants += [("goes", np.bool_(True)), ("first", layers.random(2, 3))] + ([("trip", trip)] if trip is not None else [])
    return case


ALWAYS = (helper.make_node("Identity", ["goes_on"], ["again"]),)
UNTIL_STEP = (helper.make_node("Less", ["step", "limit"], ["again"]),)
UNTIL_LARGE = (helper.make_node("ReduceMax", ["next"], ["most"], keepdims=0),
               helper.make_node("Less", ["most", "largest"], ["again"]))


def scan(layers, **attributes):
    """A recurrence over rows, with a result for each."""
    body = subgraph([helper.make_node("Mul", ["state", "row"], ["product"]), helper.make_node("Tanh", ["product"], ["next"]),
                     helper.make_node("Sub", ["next", "row"], ["result"])],
                    [("state", 1, [3]), ("row", 1, [3])], [("next", 1, [3]), ("result", 1, [3])])
    sideways = bool(attributes)
    case = layers.Case("Scan", [layers.random(3), layers.random(3, 5) if sideways else layers.random(5, 3)], ["y", "all"], given=2,
                       body=body, num_scan_inputs=1, **attributes)
    return case


def branch(layers):
    """By the sign of a sum, which only the running model knows."""
    result = [("r", 1, [2, 3])]
    case = layers.Case("If", [layers.random(2, 3)], ["y"])
    case.nodes = [helper.make_node("ReduceSum", ["x0"], ["sum"], keepdims=0), helper.make_node("Greater", ["sum", "zero"], ["c"]),
                  helper.make_node("If", ["c"], ["y"], name="layer",
                                   then_branch=subgraph([helper.make_node("Exp", ["x0"], ["r"])], [], result),
                                   else_branch=subgraph([helper.make_node("Neg", ["x0"], ["r"])], [], result))]
    case.constants.append(("zero", np.float32(0)))
    return case


def cases(layers):
    return {
        "loop": lambda: loop(layers, ALWAYS),
        "loop_ends_early": lambda: loop(layers, UNTIL_STEP, steps=2, trip=np.int64(6)),
        "loop_without_number": lambda: loop(layers, UNTIL_STEP, steps=3, trip=None),
        "loop_ends_by_data": lambda: loop(layers, UNTIL_LARGE, outputs=("y",), trip=np.int64(7)),
        "scan": lambda: scan(layers),
        "scan_backwards": lambda: scan(layers, scan_input_axes=[1], scan_input_directions=[1], scan_output_axes=[1],
                                       scan_output_directions=[1]),
        "if_of_data": lambda: branch(layers),
    }
