#!/usr/bin/env python3
"""Makes the cases of this folder that TFLite Micro does not run: models of one or a few operators, and what the reference
kernels of LiteRT compute for them. Needs the packages of ../requirements.txt.

    python3 make_litert_cases.py            # writes every case beside this file
    python3 make_litert_cases.py --check    # makes them again elsewhere: are the bytes the same?
"""
import json
import pathlib
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tflite_writer import TYPE_NAMES, Cases, Model, fresh, later_options, options, random_values, rng_of, run_script  # noqa: E402

import converter_cases  # noqa: E402
import hybrid_cases  # noqa: E402
import hybrid_state_cases  # noqa: E402
import placing_cases  # noqa: E402
import sequence_cases  # noqa: E402
import sparse_cases  # noqa: E402
import spectrum_cases  # noqa: E402
import suppression_cases  # noqa: E402
import unsigned_cases  # noqa: E402
import whole_cases  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SAME, VALID = 0, 1
CASES = case = Cases()


# ---- float16 constants, as the converter writes them ----


def halves(g, values, shape):
    """A float16 constant behind a DEQUANTIZE."""
    half = g.constant(np.asarray(values).reshape(shape), np.float16)
    real = g.tensor(shape)
    g.op("DEQUANTIZE", [half], [real], version=3)
    return real


@case
def float16_network():
    model = Model()
    g = model.subgraph()
    rng = rng_of("float16_network")
    x, y, flat, z = g.tensor([1, 5, 4, 2]), g.tensor([1, 3, 2, 3]), g.tensor([1, 18]), g.tensor([1, 4])
    weights = halves(g, rng.uniform(-1, 1, 54), [3, 3, 3, 2])
    # Subnormal halves among them.
    bias = halves(g, [0.5, 3e-7, -6e-5], [3])
    dense = halves(g, rng.uniform(-1, 1, 72), [4, 18])
    g.op("CONV_2D", [x, weights, bias], [y], options("Conv2DOptions", padding=SAME, strideH=2, strideW=2,
                                                     fusedActivationFunction=1))
    g.op("RESHAPE", [y, g.constant([1, 18])], [flat], options("ReshapeOptions", newShape=[1, 18]))
    g.op("FULLY_CONNECTED", [flat, dense, -1], [z], options("FullyConnectedOptions"))
    g.inputs(x)
    g.outputs(z)
    return model


# ---- others ----


def unary(code, shape, out, opts=None, kind=np.float32, quant=((None, 0), (None, 0)), constants=(), out_kind=None):
    model = Model()
    g = model.subgraph()
    x = g.tensor(shape, kind, *quant[0])
    y = g.tensor(out, out_kind or kind, *quant[1])
    g.op(code, [x, *(g.constant(values, of) for values, of in constants)], [y], opts)
    g.inputs(x)
    g.outputs(y)
    return model


@case
def relu_0_to_1_f32():
    return unary("RELU_0_TO_1", [3, 9], [3, 9])


@case
def relu_0_to_1_s8():
    return unary("RELU_0_TO_1", [3, 40], [3, 40], kind=np.int8, quant=((0.02, 7), (0.01, -30)))


@case
def one_hot_f32():
    return unary("ONE_HOT", [2, 3], [2, 5, 3], options("OneHotOptions", axis=1), np.int32,
                 constants=[(5, np.int32), (0.75, np.float32), (-2, np.float32)], out_kind=np.float32)


@case
def one_hot_of_i64():
    model = unary("ONE_HOT", [4], [4, 6], options("OneHotOptions", axis=-1), np.int64,
                  constants=[(6, np.int32), (1, np.int32), (0, np.int32)], out_kind=np.int32)
    model.values = [np.array([5, 0, 6, -1])]  # two of them outside
    return model


@case
def local_response_normalization():
    model = unary("LOCAL_RESPONSE_NORMALIZATION", [1, 3, 2, 7], [1, 3, 2, 7],
                  options("LocalResponseNormalizationOptions", radius=2, bias=0.5, alpha=0.3, beta=0.75))
    # The reference kernel leaves out the last channel that TensorFlow's definition takes.
    model.kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return model


@case
def matrix_diag_s8():
    return unary("MATRIX_DIAG", [2, 4], [2, 4, 4], options("MatrixDiagOptions"), np.int8, ((0.1, 5), (0.1, 5)))


def set_diag(rows, columns):
    model = Model()
    g = model.subgraph()
    x, values, y = g.tensor([2, rows, columns]), g.tensor([2, min(rows, columns)]), g.tensor([2, rows, columns])
    g.op("MATRIX_SET_DIAG", [x, values], [y], options("MatrixSetDiagOptions"))
    g.inputs(x, values)
    g.outputs(y)
    return model


@case
def matrix_set_diag_wide():
    return set_diag(3, 5)


@case
def matrix_set_diag_high():
    return set_diag(4, 2)


def reversed_along(time, batch, shape, lengths):
    model = Model()
    g = model.subgraph()
    x, n, y = g.tensor(shape), g.tensor(lengths.shape, lengths.dtype.type), g.tensor(shape)
    g.op("REVERSE_SEQUENCE", [x, n], [y], options("ReverseSequenceOptions", seqDim=time, batchDim=batch))
    g.inputs(x, n)
    g.outputs(y)
    model.values = [np.arange(np.prod(shape), dtype=np.float32).reshape(shape), lengths]
    return model


@case
def reverse_sequence():
    return reversed_along(1, 0, [3, 5, 2], np.array([3, 5, 1], dtype=np.int32))


@case
def reverse_sequence_inner_axes():
    return reversed_along(2, 1, [2, 3, 5], np.array([2, 5, 1], dtype=np.int64))


def chosen(code, condition, kind, shape, **quantisation):
    model = Model()
    g = model.subgraph()
    which = g.tensor(condition, np.bool_)
    a, b, y = (g.tensor(shape, kind, **quantisation) for _ in range(3))
    g.op(code, [which, a, b], [y], options(code.title().replace("_", "") + "Options"))
    g.inputs(which, a, b)
    g.outputs(y)
    return model


@case
def select_parts_f32():
    """A condition as long as the first axis and as the last: SELECT chooses along the first."""
    return chosen("SELECT", [4], np.float32, [4, 3, 4])


@case
def select_v2_u8():
    return chosen("SELECT_V2", [3, 1], np.uint8, [2, 3, 4], scale=0.1, zero=7)


@case
def dilate_s8():
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([2, 3, 4], np.int8, 0.1, 5), g.tensor([3, 3, 10], np.int8, 0.1, 5)
    g.op("DILATE", [x, g.constant([2, 1, 3]), g.constant(-9, np.int8)], [y])
    g.inputs(x)
    g.outputs(y)
    return model


def padded_with_gaps(kind, fill, scale):
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([2, 3, 4], kind, scale, 5), g.tensor([3, 5, 9], kind, scale, 5)
    g.op("STABLEHLO_PAD", [x, g.constant(fill, kind)], [y],
         later=later_options("StablehloPadOptions", edgePaddingLow=[1, 2, -1], edgePaddingHigh=[0, -2, 0], interiorPadding=[0, 1, 2]))
    g.inputs(x)
    g.outputs(y)
    return model


@case
def pad_with_gaps_f32():
    return padded_with_gaps(np.float32, -1.5, None)


@case
def pad_with_gaps_s8():
    return padded_with_gaps(np.int8, -9, 0.1)


@case
def fake_quant_f32():
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([2, 3, 4]), g.tensor([2, 3, 4])
    g.op("FAKE_QUANT", [x], [y], options("FakeQuantOptions", min=-1.7, max=2.1, numBits=8), 2)
    g.inputs(x)
    g.outputs(y)
    return model


def top_k(shape, k, kind, quant, values, index=np.int32):
    model = Model()
    g = model.subgraph()
    x = g.tensor(shape, kind, *quant)
    y, at = g.tensor([*shape[:-1], k], kind, *quant), g.tensor([*shape[:-1], k], index)
    g.op("TOPK_V2", [x, g.constant(k)], [y, at], options("TopKV2Options"))
    g.inputs(x)
    g.outputs(y, at)
    model.values = [values.astype(kind).reshape(shape)]
    return model


@case
def top_k_f32():
    return top_k([2, 3, 11], 4, np.float32, (None, 0), rng_of("top_k_f32").uniform(-3, 3, 66))


@case
def top_k_s8():
    """Many are equal, and some the least that there is."""
    return top_k([3, 9], 7, np.int8, (0.1, 4), rng_of("top_k_s8").choice([-128, -128, 5, 7], 27))


@case
def top_k_u8():
    """Bytes without a sign, and places of 16 bits."""
    return top_k([2, 12], 5, np.uint8, (0.1, 128), rng_of("top_k_u8").integers(0, 256, 24), np.int16)


@case
def div_s8():
    """All pairs of some values, but those that divide by zero, which have no result."""
    model = Model()
    g = model.subgraph()
    a, b = g.tensor([60, 1], np.int8, 0.05, 7), g.tensor([1, 61], np.int8, 0.02, -11)
    y = g.tensor([60, 61], np.int8, 0.04, -3)
    g.op("DIV", [a, b], [y], options("DivOptions"), version=2)
    g.inputs(a, b)
    g.outputs(y)
    divisors = np.arange(-128, 128, 4)[:61]
    model.values = [np.linspace(-128, 127, 60).astype(np.int8).reshape(60, 1),
                    np.where(divisors == -11, -10, divisors).astype(np.int8).reshape(1, 61)]
    return model


@case
def div_relu_s8():
    model = Model()
    g = model.subgraph()
    a, b = g.tensor([4, 50], np.int8, 0.03, -5), g.tensor([4, 50], np.int8, 0.4, -128)
    y = g.tensor([4, 50], np.int8, 0.002, -128)
    g.op("DIV", [a, b], [y], options("DivOptions", fusedActivationFunction=1), version=2)
    g.inputs(a, b)
    g.outputs(y)
    rng = rng_of("div_relu_s8")
    model.values = [rng.integers(-128, 128, (4, 50)).astype(np.int8), rng.integers(-127, 128, (4, 50)).astype(np.int8)]
    return model


@case
def div_s16():
    """All signs, and numerators and denominators of one bit as of fifteen; of quotients of zero and near it LiteRT makes other numbers, by shifts of more than 31 bits."""
    model = Model()
    g = model.subgraph()
    a, b, y = g.tensor([8, 50], np.int16, 0.001, 0), g.tensor([8, 50], np.int16, 0.002, 0), g.tensor([8, 50], np.int16, 0.0005, 0)
    g.op("DIV", [a, b], [y], options("DivOptions"), version=2)
    g.inputs(a, b)
    g.outputs(y)
    rng = rng_of("div_s16")
    signs, bits = rng.choice([-1, 1], (2, 8, 50)), rng.integers(0, 15, (2, 8, 50))
    values = signs * (2**bits + rng.integers(0, 2**15, (2, 8, 50)) % 2**bits)
    values[0, 0, :3], values[1, 0, :3] = [5, -32768, 32767], [7, -32768, -1]
    values[0] = np.where(np.abs(values[0] / values[1]) < 0.0005, values[1], values[0])
    model.values = list(values.astype(np.int16))
    return model


@case
def sqrt_s8():
    """All inputs that have a root; LiteRT cuts off what lies between two steps."""
    model = unary("SQRT", [1, 226], [1, 226], kind=np.int8, quant=((0.009, -98), (0.0085, -70)))
    model.values = [np.arange(-98, 128, dtype=np.int8).reshape(1, -1)]
    return model


def gelu(kind, approximate, quant=({}, {})):
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([2, 70], kind, **quant[0]), g.tensor([2, 70], kind, **quant[1])
    g.op("GELU", [x], [y], options("GeluOptions", approximate=approximate))
    g.inputs(x)
    g.outputs(y)
    return model


@case
def gelu_s8():
    return gelu(np.int8, False, (dict(scale=0.04, zero=11), dict(scale=0.03, zero=-90)))


@case
def gelu_tanh_s8():
    return gelu(np.int8, True, (dict(scale=0.03, zero=-7), dict(scale=0.025, zero=-100)))


@case
def gelu_f32():
    return gelu(np.float32, False)


@case
def gelu_tanh_f32():
    return gelu(np.float32, True)


def unary_s16(op, in_scale, out_scale, opts=None):
    """Every 23rd value of an int16."""
    model = Model()
    g = model.subgraph()
    values = np.arange(-32768, 32768, 23).astype(np.int16)
    values = values[:len(values) // 2 * 2].reshape(2, -1)
    x, y = (g.tensor(values.shape, np.int16, scale=scale) for scale in (in_scale, out_scale))
    g.op(op, [x], [y], opts)
    g.inputs(x)
    g.outputs(y)
    model.values = [values]
    return model


@case
def gelu_s16():
    return unary_s16("GELU", 9.5e-5, 9.4e-5, options("GeluOptions", approximate=False))


@case
def gelu_tanh_s16():
    return unary_s16("GELU", 3e-4, 1.5e-4, options("GeluOptions", approximate=True))


@case
def exp_s16():
    return unary_s16("EXP", 6e-5, 2e-4)


@case
def log_s16():
    return unary_s16("LOG", 3e-4, 2e-4)


@case
def neg_i32():
    model = Model()
    g = model.subgraph()
    values = np.int32([[0, 1, -1, 7, -20, 2**31 - 1, -2**31, 123456789]])
    x, y = g.tensor(values.shape, np.int32), g.tensor(values.shape, np.int32)
    g.op("NEG", [x], [y], options("NegOptions"))
    g.inputs(x)
    g.outputs(y)
    model.values = [values]
    return model


def bilinear_s16(extent, **opts):
    model = Model()
    g = model.subgraph()
    x, y = g.tensor([2, 5, 7, 3], np.int16, scale=1e-3), g.tensor([2, *extent, 3], np.int16, scale=1e-3)
    g.op("RESIZE_BILINEAR", [x, g.constant(extent)], [y], options("ResizeBilinearOptions", **opts))
    g.inputs(x)
    g.outputs(y)
    return model


@case
def resize_bilinear_s16():
    return bilinear_s16([10, 14], halfPixelCenters=True)


@case
def resize_bilinear_odd_s16():
    return bilinear_s16([8, 5])


@case
def resize_bilinear_corners_s16():
    return bilinear_s16([9, 13], alignCorners=True)


@case
def list_of_a_loop():
    """What each step of a loop finds out is an element of a list: what was before it, it, and what was behind it, joined."""
    model = Model()
    g, condition, body = model.subgraph(), model.subgraph("condition"), model.subgraph("body")
    shape = [5, 2, 3]
    x, last, after, y = g.tensor(shape), g.tensor([], np.int32), g.tensor(shape), g.tensor(shape)
    empty = g.constant(np.zeros(shape), np.float32)
    g.op("WHILE", [g.constant(0), x, empty], [last, after, y], options("WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2))
    g.inputs(x)
    g.outputs(y)
    i, v, kept, goes_on = condition.tensor([], np.int32), condition.tensor(shape), condition.tensor(shape), condition.tensor([], np.bool_)
    condition.inputs(i, v, kept)
    condition.op("LESS", [i, condition.constant(5)], [goes_on], options("LessOptions"))
    condition.outputs(goes_on)
    i, v, kept = body.tensor([], np.int32), body.tensor(shape), body.tensor(shape)
    body.inputs(i, v, kept)
    now, result, item, joined = body.tensor([2, 3]), body.tensor([2, 3]), body.tensor([1, 2, 3]), body.tensor(shape)
    ni, here, there = body.tensor([], np.int32), body.tensor([1], np.int32), body.tensor([1], np.int32)
    size, begin = body.tensor([3], np.int32), body.tensor([3], np.int32)
    before, behind = (body.tensor([1, 1, 1], signature=[-1, -1, -1]) for _ in range(2))
    body.op("GATHER", [v, i], [now], options("GatherOptions", axis=0))
    body.op("TANH", [now], [result])
    body.op("RESHAPE", [result, body.constant([1, 2, 3])], [item], options("ReshapeOptions", newShape=[1, 2, 3]))
    body.op("ADD", [i, body.constant(1)], [ni], options("AddOptions"))
    for number, joint, vector, rest in ((i, here, size, -1), (ni, there, begin, 0)):
        body.op("RESHAPE", [number, body.constant([1])], [joint], options("ReshapeOptions", newShape=[1]))
        body.op("CONCATENATION", [joint, body.constant([rest, rest])], [vector], options("ConcatenationOptions", axis=0))
    body.op("SLICE", [kept, body.constant([0, 0, 0]), size], [before], options("SliceOptions"))
    body.op("SLICE", [kept, begin, body.constant([-1, -1, -1])], [behind], options("SliceOptions"))
    body.op("CONCATENATION", [before, item, behind], [joined], options("ConcatenationOptions", axis=0))
    body.outputs(ni, v, joined)
    return model


for module in (converter_cases, hybrid_cases, hybrid_state_cases, placing_cases, sequence_cases, sparse_cases, spectrum_cases,
               suppression_cases, unsigned_cases, whole_cases):
    CASES.update(module.CASES)


def make_case(folder, name):
    model = CASES[name]()
    folder = fresh(folder / name)
    content = model.bytes()
    (folder / "model.tflite").write_bytes(content)
    graph = model.model.subgraphs[0]
    kernels = getattr(model, "kernels", OpResolverType.BUILTIN_REF)
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    rng = rng_of(name)
    fixed = getattr(model, "values", None)
    meta = {"reference": "LiteRT", "inputs": [], "outputs": []}
    invocations = getattr(model, "invocations", 1)  # one after another, on what the model keeps
    if invocations != 1:
        meta["invocations"] = invocations
    sequences = [b""] * len(graph.inputs)
    for _ in range(invocations):
        for i, (index, there) in enumerate(zip(graph.inputs, interpreter.get_input_details())):
            value = fixed[i] if fixed else random_values(rng, graph.tensors[index])
            interpreter.set_tensor(there["index"], value)
            sequences[i] += value.tobytes()
        interpreter.invoke()
    for i, index in enumerate(graph.inputs):
        (folder / f"in{i}.bin").write_bytes(sequences[i])
        meta["inputs"].append({"file": f"in{i}.bin", "type": TYPE_NAMES[graph.tensors[index].type]})
    for i, (index, there) in enumerate(zip(graph.outputs, interpreter.get_output_details())):
        values = interpreter.get_tensor(there["index"])
        (folder / f"out{i}.bin").write_bytes(values.tobytes())
        meta["outputs"].append({"file": f"out{i}.bin", "type": TYPE_NAMES[graph.tensors[index].type]})
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")


def make_all(folder):
    for name in CASES:
        make_case(folder, name)
    print(f"{len(CASES)} cases")


if __name__ == "__main__":
    run_script(make_all, HERE, sys.argv[1:])
