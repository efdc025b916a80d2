"""Writes .tflite files operator by operator, and runs them with TFLite Micro's reference kernels. What the scripts of
this folder share. Needs the packages of requirements.txt.
"""
import pathlib
import shutil
import sys
import tempfile

import flatbuffers
import numpy as np
from flatbuffers import flexbuffers
from tflite_micro.python.tflite_micro import runtime

fb = runtime.schema_fb
TYPES = {np.float32: 0, np.float16: 1, np.int32: 2, np.uint8: 3, np.int64: 4, np.bool_: 6, np.int16: 7, np.int8: 9,
         np.uint64: 12, np.uint32: 15}
TYPE_NAMES = {0: "FLOAT32", 1: "FLOAT16", 2: "INT32", 3: "UINT8", 4: "INT64", 6: "BOOL", 7: "INT16", 9: "INT8", 12: "UINT64",
              15: "UINT32", 17: "INT4"}
RESOURCE, INT4 = 13, 17
KINDS = {number: kind for kind, number in TYPES.items()}


class AlignedBuilder(flatbuffers.Builder):
    """Python's builder knows no force_align, which the format asks for on the bytes of constants."""

    def StartVector(self, elem_size, num_elems, alignment):
        return super().StartVector(elem_size, num_elems, 16 if elem_size == 1 else alignment)


def pack_int4(values):
    """Two elements a byte, the first in the low half."""
    flat = np.asarray(values, dtype=np.int8).reshape(-1)
    flat = np.append(flat, np.zeros(len(flat) % 2, np.int8)).astype(np.uint8) & 15
    return (flat[0::2] | (flat[1::2] << 4)).astype(np.uint8)


def options(name, union=fb.BuiltinOptions, **fields):
    made = getattr(fb, name + "T")()
    for key, value in fields.items():
        setattr(made, key, value)
    return getattr(union, name), made


def later_options(name, **fields):
    return options(name, fb.BuiltinOptions2, **fields)


def flexible(**fields):
    """The options of a custom operator: numbers and lists of them by name, as FlexBuffers."""
    builder = flexbuffers.Builder()
    with builder.Map():
        for key, value in fields.items():
            builder.Key(key)
            {bool: builder.Bool, float: builder.Float, list: builder.TypedVectorFromElements}.get(type(value), builder.Int)(value)
    return bytes(builder.Finish())


class Subgraph:
    def __init__(self, model, name):
        self.model, self.graph = model, fb.SubGraphT()
        self.graph.name = name
        self.graph.tensors, self.graph.operators = [], []
        self.graph.inputs, self.graph.outputs = [], []

    def tensor(self, shape, kind=np.float32, scale=None, zero=0, data=None, name=None, signature=None,
               axis=0, variable=False):
        made = fb.TensorT()
        made.shape = list(shape)
        if signature is not None:
            made.shapeSignature = list(signature)
        made.type = kind if isinstance(kind, int) else TYPES[kind]
        made.name = name or f"t{len(self.graph.tensors)}"
        made.buffer, made.isVariable = 0, variable
        if data is not None:
            values = pack_int4(data) if kind == INT4 else np.asarray(data, dtype=kind).reshape(shape)
            made.buffer = self.model.buffer(values.tobytes())
        if scale is not None:
            made.quantization = fb.QuantizationParametersT()
            scales = np.atleast_1d(scale).astype(np.float32)
            made.quantization.scale = list(scales)
            made.quantization.zeroPoint = [zero] * len(scales)
            made.quantization.quantizedDimension = axis
        self.graph.tensors.append(made)
        return len(self.graph.tensors) - 1

    def constant(self, values, kind=np.int32, **more):
        values = np.asarray(values, dtype=kind)
        return self.tensor(values.shape, kind, data=values, **more)

    def op(self, code, inputs, outputs, opts=None, version=1, intermediates=None, custom=None, later=None):
        """`custom`: the options' bytes of a custom operator, whose name is `code`; `later`: of later_options."""
        made = fb.OperatorT()
        made.opcodeIndex = self.model.code(code, version, custom is not None)
        if custom is not None:
            made.customOptions = np.frombuffer(custom, np.uint8)
        made.inputs, made.outputs = list(inputs), list(outputs)
        if opts is not None:
            made.builtinOptionsType, made.builtinOptions = opts
        if later is not None:
            made.builtinOptions2Type, made.builtinOptions2 = later
        if intermediates is not None:
            made.intermediates = list(intermediates)
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

    def code(self, name, version, is_custom=False):
        if (name, version) not in self.codes:
            made = fb.OperatorCodeT()
            code = fb.BuiltinOperator.CUSTOM if is_custom else getattr(fb.BuiltinOperator, name)
            made.customCode = name if is_custom else None
            made.builtinCode, made.deprecatedBuiltinCode, made.version = code, min(code, 127), version
            self.codes[name, version] = len(self.model.operatorCodes)
            self.model.operatorCodes.append(made)
        return self.codes[name, version]

    def bytes(self):
        builder = AlignedBuilder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


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


def of_values(code, values, out, kind=np.float32, quant=(), opts=None, constants=(), **more):
    """One operator on given values; `quant`: (scale, zero) of each operand, then of the result; `constants` follow, and `more` is of the
    operator."""
    model = Model()
    g = model.subgraph()
    values = [np.asarray(value) for value in values]
    ids = [g.tensor(value.shape, value.dtype.type, *(quant[i] if quant else (None, 0)))
           for i, value in enumerate(values)]
    result = g.tensor(out, kind, *(quant[-1] if quant else (None, 0)))
    g.op(code, ids + [g.constant(value) for value in constants], [result], opts, **more)
    g.inputs(*ids)
    g.outputs(result)
    model.values = values
    return model


def random_values(rng, tensor):
    shape, kind = tuple(tensor.shape), KINDS[tensor.type]
    if kind is np.float32:
        return rng.uniform(-3, 3, shape).astype(np.float32)
    if kind is np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if kind in (np.int32, np.int64):
        return rng.integers(-20, 20, shape).astype(kind)
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max + 1, shape).astype(kind)


class Cases(dict):
    """What makes each model, by its name; as a decorator it takes a function by the function's."""

    def __call__(self, function):
        self[function.__name__] = function
        return function


def rng_of(name):
    return np.random.default_rng(sum(map(ord, name)))


def run_script(make, folder, arguments):
    """`make(folder)` writes a script's files. Without arguments: into `folder`; with `--check`: into a temporary folder,
    and the exit status says whether the same files with the same bytes are in `folder`."""
    if arguments not in ([], ["--check"]):
        raise SystemExit(f"{sys.argv[0]}: no argument, or --check")
    if not arguments:
        make(folder)
        return
    with tempfile.TemporaryDirectory() as temporary:
        again = pathlib.Path(temporary)
        make(again)
        made = {file.relative_to(again) for file in again.rglob("*") if file.is_file()}
        kept = {file.relative_to(folder) for file in folder.rglob("*")
                if file.is_file() and file.relative_to(folder).parts[0] in {path.parts[0] for path in made}}
        wrong = sorted(made ^ kept)
        wrong += sorted(path for path in made & kept
                        if (again / path).read_bytes() != (folder / path).read_bytes())
        for path in wrong:
            print(f"{path}: is not as this script makes it")
        print(f"{len(made)} files made again, {len(wrong)} of them are not the same")
        raise SystemExit(1 if wrong else 0)


def fresh(folder):
    """An empty folder in place of what is there."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder
