#!/usr/bin/env python3
"""Makes the cases of this folder: models of one or a few operators, and what TFLite Micro's reference
kernels compute for them. Needs the Python packages tflite-micro, numpy and flatbuffers.

    python3 make_cases.py            # writes every case beside this file
"""
import json
import pathlib
import sys

import flatbuffers
import numpy as np
from tflite_micro.python.tflite_micro import runtime

fb = runtime.schema_fb
HERE = pathlib.Path(__file__).parent
TYPES = {np.float32: 0, np.int32: 2, np.uint8: 3, np.int64: 4, np.bool_: 6, np.int16: 7, np.int8: 9}
TYPE_NAMES = {0: "FLOAT32", 2: "INT32", 6: "BOOL", 7: "INT16", 9: "INT8"}
RESOURCE = 13


def options(name, **fields):
    made = getattr(fb, name + "T")()
    for key, value in fields.items():
        setattr(made, key, value)
    return getattr(fb.BuiltinOptions, name), made


class Subgraph:
    def __init__(self, model, name):
        self.model, self.graph = model, fb.SubGraphT()
        self.graph.name = name
        self.graph.tensors, self.graph.operators = [], []
        self.graph.inputs, self.graph.outputs = [], []

    def tensor(self, shape, kind=np.float32, scale=None, zero=0, data=None, name=None, signature=None):
        made = fb.TensorT()
        made.shape = list(shape)
        if signature is not None:
            made.shapeSignature = list(signature)
        made.type = kind if isinstance(kind, int) else TYPES[kind]
        made.name = name or f"t{len(self.graph.tensors)}"
        made.buffer = 0
        if data is not None:
            made.buffer = self.model.buffer(np.asarray(data, dtype=kind).reshape(shape).tobytes())
        if scale is not None:
            made.quantization = fb.QuantizationParametersT()
            made.quantization.scale, made.quantization.zeroPoint = [scale], [zero]
        self.graph.tensors.append(made)
        return len(self.graph.tensors) - 1

    def constant(self, values, kind=np.int32, **more):
        values = np.asarray(values, dtype=kind)
        return self.tensor(values.shape, kind, data=values, **more)

    def op(self, code, inputs, outputs, opts=None, version=1):
        made = fb.OperatorT()
        made.opcodeIndex = self.model.code(code, version)
        made.inputs, made.outputs = list(inputs), list(outputs)
        if opts is not None:
            made.builtinOptionsType, made.builtinOptions = opts
        self.graph.operators.append(made)

    def inputs(self, *ids):
        self.graph.inputs = list(ids)

    def outputs(self, *ids):
        self.graph.outputs = list(ids)


class Model:
    def __init__(self):
        self.model = fb.ModelT()
        self.model.version = 3
        self.model.operatorCodes, self.model.subgraphs, self.model.buffers = [], [], [fb.BufferT()]
        self.codes = {}

    def subgraph(self, name="main"):
        made = Subgraph(self, name)
        self.model.subgraphs.append(made.graph)
        return made

    def buffer(self, data):
        made = fb.BufferT()
        made.data = np.frombuffer(data, dtype=np.uint8)
        self.model.buffers.append(made)
        return len(self.model.buffers) - 1

    def code(self, name, version):
        if (name, version) not in self.codes:
            made = fb.OperatorCodeT()
            code = getattr(fb.BuiltinOperator, name)
            made.builtinCode, made.deprecatedBuiltinCode, made.version = code, min(code, 127), version
            self.codes[name, version] = len(self.model.operatorCodes)
            self.model.operatorCodes.append(made)
        return self.codes[name, version]

    def bytes(self):
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def random_values(rng, tensor):
    shape = tuple(tensor.shape)
    kind = {number: kind for kind, number in TYPES.items()}[tensor.type]
    if kind is np.float32:
        return rng.uniform(-3, 3, shape).astype(np.float32)
    if kind is np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if kind is np.int32:
        return rng.integers(-20, 20, shape).astype(np.int32)
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max + 1, shape).astype(kind)


def one(code, shapes, out, kind=np.float32, quant=None, opts=None, constants=(), out_kind=None):
    """A model of one operator; `quant`: (scale, zero) of each operand, then of the result."""
    model = Model()
    g = model.subgraph()
    ids = []
    for i, shape in enumerate(shapes):
        scale, zero = quant[i] if quant else (None, 0)
        ids.append(g.tensor(shape, kind, scale, zero))
    given = list(ids)
    for values, position in constants:
        given.insert(position, g.constant(values))
    scale, zero = quant[-1] if quant else (None, 0)
    result = g.tensor(out, out_kind or kind, scale, zero)
    g.op(code, given, [result], opts)
    g.inputs(*ids)
    g.outputs(result)
    return model


@case
def sin_f32():
    return one("SIN", [[2, 9]], [2, 9])


@case
def cos_f32():
    return one("COS", [[2, 9]], [2, 9])


@case
def floor_div_f32():
    return one("FLOOR_DIV", [[2, 3, 4], [2, 3, 4]], [2, 3, 4])


@case
def floor_mod_f32():
    return one("FLOOR_MOD", [[2, 3, 4], [4]], [2, 3, 4])


@case
def add_n_f32():
    return one("ADD_N", [[3, 4]] * 3, [3, 4])


@case
def add_n_s8():
    return one("ADD_N", [[3, 7]] * 3, [3, 7], np.int8, [(0.05, 3)] * 3 + [(0.13, -9)])


@case
def cumsum_f32():
    return one("CUMSUM", [[2, 5, 3]], [2, 5, 3], opts=options("CumsumOptions"), constants=[([1], 1)])


@case
def cumsum_s8():
    return one("CUMSUM", [[2, 5, 3]], [2, 5, 3], np.int8, [(0.04, 5), (0.11, -3)],
               options("CumsumOptions"), [([1], 1)])


@case
def cumsum_exclusive_reverse_s8():
    return one("CUMSUM", [[2, 5, 3]], [2, 5, 3], np.int8, [(0.04, 5), (0.11, -3)],
               options("CumsumOptions", exclusive=True, reverse=True), [([-3], 1)])


@case
def broadcast_to_s8():
    return one("BROADCAST_TO", [[3, 1, 2]], [2, 3, 4, 2], np.int8, [(0.1, 1)] * 2, constants=[([2, 3, 4, 2], 1)])


@case
def zeros_like_s8():
    model = Model()
    g = model.subgraph()
    x, zeros, y = (g.tensor([2, 3], np.int8, 0.1, 0) for _ in range(3))
    g.op("ZEROS_LIKE", [x], [zeros])
    g.op("MAXIMUM", [x, zeros], [y], options("MaximumMinimumOptions"))
    g.inputs(x)
    g.outputs(y)
    return model


@case
def fill_s8():
    model = Model()
    g = model.subgraph()
    x, filled = g.tensor([], np.int8, 0.1, 0), g.tensor([2, 3], np.int8, 0.1, 0)
    g.op("FILL", [g.constant([2, 3]), x], [filled])
    g.inputs(x)
    g.outputs(filled)
    return model


@case
def reverse_v2_s8():
    return one("REVERSE_V2", [[2, 3, 4]], [2, 3, 4], np.int8, [(0.1, 1)] * 2, constants=[([1], 1)])


@case
def l2_pool_f32():
    return one("L2_POOL_2D", [[1, 5, 5, 3]], [1, 3, 3, 3],
               opts=options("Pool2DOptions", padding=0, strideH=2, strideW=2, filterHeight=3, filterWidth=3))


@case
def gather_nd_s8():
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([3, 4, 2], np.int8, 0.1, 0), g.tensor([3, 2], np.int8, 0.1, 0)
    g.op("GATHER_ND", [x, g.constant([[0, 3], [2, 1], [1, 0]])], [y])
    g.inputs(x)
    g.outputs(y)
    return model


@case
def embedding_lookup_f32():
    model = Model()
    g = model.subgraph()
    table = g.constant(np.arange(12).reshape(4, 3) / 4, np.float32)
    ids, y = g.tensor([2], np.int32), g.tensor([2, 3])
    g.op("EMBEDDING_LOOKUP", [ids, table], [y])
    g.inputs(ids)
    g.outputs(y)
    model.values = [np.array([3, 1], dtype=np.int32)]
    return model


@case
def dynamic_update_slice_s8():
    model = Model()
    g = model.subgraph()
    x, update = g.tensor([4, 5], np.int8, 0.1, 0), g.tensor([2, 3], np.int8, 0.1, 0)
    start, y = g.tensor([2], np.int32), g.tensor([4, 5], np.int8, 0.1, 0)
    g.op("DYNAMIC_UPDATE_SLICE", [x, update, start], [y])
    g.inputs(x, update, start)
    g.outputs(y)
    rng = np.random.default_rng(5)
    model.values = [rng.integers(-128, 128, (4, 5)).astype(np.int8), rng.integers(-128, 128, (2, 3)).astype(np.int8),
                    np.array([3, -1], dtype=np.int32)]  # both are moved inwards
    return model


@case
def shape_of_batch():
    """What exporters write for x.reshape(batch, -1): SHAPE, STRIDED_SLICE, PACK, RESHAPE."""
    model = Model()
    g = model.subgraph()
    x = g.tensor([1, 2, 6], np.int8, 0.1, 2, signature=[-1, 2, 6])
    shape, batch, packed = g.tensor([3], np.int32), g.tensor([], np.int32), g.tensor([3], np.int32)
    y = g.tensor([1, 4, 3], np.int8, 0.1, 2, signature=[-1, 4, 3])
    g.op("SHAPE", [x], [shape], options("ShapeOptions", outType=2))
    g.op("STRIDED_SLICE", [shape, g.constant([0]), g.constant([1]), g.constant([1])], [batch],
         options("StridedSliceOptions", shrinkAxisMask=1))
    four, three = g.constant(4), g.constant(3)
    g.op("PACK", [batch, four, three], [packed], options("PackOptions", valuesCount=3, axis=0))
    g.op("RESHAPE", [x, packed], [y], options("ReshapeOptions", newShape=[]))
    g.inputs(x)
    g.outputs(y)
    return model


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


def main():
    wanted = sys.argv[1:] or list(CASES)
    for name in wanted:
        model = CASES[name]()
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        content = model.bytes()
        (folder / "model.tflite").write_bytes(content)
        rng = np.random.default_rng(sum(map(ord, name)))
        main_graph = model.model.subgraphs[0]
        invocations = getattr(model, "invocations", 1)
        fixed = getattr(model, "values", None)
        interpreter = runtime.Interpreter.from_bytes(content)
        sequences = [[] for _ in main_graph.inputs]
        for _ in range(invocations):
            for i, index in enumerate(main_graph.inputs):
                value = fixed[i] if fixed else random_values(rng, main_graph.tensors[index])
                sequences[i].append(value.tobytes())
                interpreter.set_input(value, i)
            interpreter.invoke()
        meta = {"invocations": invocations, "inputs": [], "outputs": []}
        for i, parts in enumerate(sequences):
            (folder / f"in{i}.bin").write_bytes(b"".join(parts))
            meta["inputs"].append({"file": f"in{i}.bin"})
        for i in range(len(main_graph.outputs)):
            (folder / f"out{i}.bin").write_bytes(interpreter.get_output(i).tobytes())
            kind = main_graph.tensors[main_graph.outputs[i]].type
            meta["outputs"].append({"file": f"out{i}.bin", "type": TYPE_NAMES[kind]})
        (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")
        print(name)


if __name__ == "__main__":
    main()
