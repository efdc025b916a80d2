#!/usr/bin/env python3
"""Makes small models of layers of floats, and what onnxruntime computes with them.

    python3 make_layers.py FOLDER           # needs: onnx, onnxruntime, numpy

Each case is a folder: model.onnx, in<i>.bin, out<i>.bin. Results are floats, but for those named `q` (int8) and `i` (int64).
"""
import pathlib
import sys
import zlib

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import control_layers
import fused_layers
import learned_layers
import limit_layers
import streaming_layers

RNG = np.random.default_rng(11)
SETS = {"ai.onnx.ml": 3}  # 1 of others


def random(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


class Case:
    """Arrays of `inputs` are what the model is given, those of `constants` are part of it; None is an absent operand."""

    def __init__(self, kind, operands, outputs, opset=17, given=1, **attributes):
        self.inputs, self.constants, names = [], [], []
        for i, values in enumerate(operands):
            if values is None:
                names.append("")
                continue
            names.append(f"x{i}")
            if i < given:
                self.inputs.append((names[-1], values))
            else:
                self.constants.append((names[-1], values))
        self.nodes = [helper.make_node(kind, names, outputs, name="layer", **attributes)]
        self.outputs, self.opset = [name for name in outputs if name], opset

    def model(self):
        types = {np.dtype(np.float32): 1, np.dtype(np.int8): 3, np.dtype(np.int32): 6, np.dtype(np.int64): 7, np.dtype(bool): 9}
        inputs = [helper.make_tensor_value_info(n, types[v.dtype], v.shape) for n, v in self.inputs]
        graph = helper.make_graph(self.nodes, "layer", inputs,
                                  [helper.make_tensor_value_info(n, {"q": 3, "i": 7}.get(n, 1), None) for n in self.outputs],
                                  [numpy_helper.from_array(v, n) for n, v in self.constants])
        domains = sorted({node.domain for node in self.nodes if node.domain})
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset),
                                                        *(helper.make_opsetid(domain, SETS.get(domain, 1)) for domain in domains)])
        model.ir_version = 9
        return model


def recurrent(kind, steps=5, batches=1, inputs=3, units=4, directions=1, bias=True, lengths=None, hidden=False, cell=False,
              peepholes=False, outputs=("y", "y_h", "y_c"), **attributes):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    operands = [random(steps, batches, inputs), random(directions, gates * units, inputs),
                random(directions, gates * units, units), random(directions, 2 * gates * units) if bias else None,
                np.array(lengths, np.int32) if lengths else None,
                random(directions, batches, units) if hidden else None]
    if kind == "LSTM":
        operands += [random(directions, batches, units) if cell else None,
                     random(directions, 3 * units) if peepholes else None]
    if directions == 2:
        attributes["direction"] = "bidirectional"
    return Case(kind, operands, list(outputs)[:3 if kind == "LSTM" else 2], opset=14, hidden_size=units, **attributes)


def layers_of_bytes():
    """A residual block whose quantiser looked at the inputs of layers alone: their results, and the sum, are floats."""
    case = Case("Add", [], ["y"])
    case.nodes = []
    case.inputs = [("x", RNG.integers(-128, 128, (1, 4, 6, 6)).astype(np.int8))]

    def known(name, values):
        case.constants.append((name, values))
        return name

    def node(kind, operands, result, **attributes):
        case.nodes.append(helper.make_node(kind, operands, [result], name=result, **attributes))
        return result

    def layer(kind, real, name, shape, axis, **attributes):
        weights = known(name + "_w", RNG.integers(-127, 128, shape).astype(np.int8))
        scales = known(name + "_s", RNG.uniform(0.002, 0.02, shape[axis]).astype(np.float32))
        of = node("DequantizeLinear", [weights, scales, known(name + "_z", np.zeros(shape[axis], np.int8))], name + "_r", axis=axis)
        return node(kind, [real, of, known(name + "_b", random(shape[axis]))], name, **attributes)

    def again(real, name, scale):
        one = [known(name + "_s", np.float32(scale)), known(name + "_z", np.int8(-3))]
        return node("DequantizeLinear", [node("QuantizeLinear", [real, *one], name + "_q"), *one], name)

    x = node("DequantizeLinear", ["x", known("x_s", np.float32(0.03)), known("x_z", np.int8(5))], "x_r")
    first = node("Relu", [layer("Conv", x, "first", (4, 4, 3, 3), 0, pads=[1, 1, 1, 1])], "first_relu")
    second = layer("Conv", again(first, "first_again", 0.06), "second", (4, 1, 3, 3), 0, pads=[1, 1, 1, 1], group=4)
    total = node("Relu", [node("Add", [second, x], "sum")], "total")
    flat = node("Flatten", [node("GlobalAveragePool", [total], "average")], "flat")
    node("Identity", [layer("Gemm", again(flat, "flat_again", 0.03), "last", (3, 4), 0, transB=1)], "y")
    return case


def grouped_bytes(groups):
    """As onnxruntime's dynamic quantiser writes it, by weights without a sign, some of which are further than a byte from their zero point."""
    weights = RNG.integers(0, 256, (8, 4 // groups, 3, 3)).astype(np.uint8)
    return nodes([random(1, 4, 7, 6)], {"w": weights, "zero": np.uint8(40), "scale": np.float32(0.013)},
                 [("DynamicQuantizeLinear", ["x0"], ["bytes", "step", "from"], {}),
                  ("ConvInteger", ["bytes", "w", "from", "zero"], ["sum"], {"group": groups, "pads": [1, 1, 1, 1], "strides": [1, 2]}),
                  ("Cast", ["sum"], ["real"], {"to": 1}), ("Mul", ["step", "scale"], ["both"], {}),
                  ("Mul", ["real", "both"], ["y"], {})], ["y"])


def quantised_lstm():
    """Activations and weights between QuantizeLinear and DequantizeLinear, as quantisers write them."""
    case = recurrent("LSTM", steps=6, batches=2, outputs=("y",))
    layer = case.nodes.pop()
    case.inputs = [("x0", RNG.integers(-128, 128, (6, 2, 3)).astype(np.int8))]

    def dequantised(name, scale):
        case.constants += [(name + "_scale", np.float32(scale)), (name + "_zero", np.int8(0))]
        case.nodes.append(helper.make_node("DequantizeLinear", [name, name + "_scale", name + "_zero"], [name + "_real"]))
        return name + "_real"

    layer.input[0] = dequantised("x0", 0.02)
    for name, i in (("x1", 1), ("x2", 2)):
        at = next(k for k, (n, _) in enumerate(case.constants) if n == name)
        values = case.constants[at][1]
        scale = np.abs(values).max() / 127
        case.constants[at] = (name, np.round(values / scale).astype(np.int8))
        layer.input[i] = dequantised(name, scale)
    case.constants += [("y_scale", np.float32(1 / 127)), ("y_zero", np.int8(0))]
    case.nodes += [layer, helper.make_node("QuantizeLinear", ["y", "y_scale", "y_zero"], ["q"])]
    case.outputs = ["q"]
    return case


def einsum(equation, *shapes, given=None):
    return Case("Einsum", [random(*shape) for shape in shapes], ["y"], given=given or len(shapes), equation=equation)


def quantised_einsum():
    case = Case("Einsum", [RNG.integers(-128, 128, (2, 5, 6)).astype(np.int8), RNG.integers(-127, 128, (4, 6)).astype(np.int8)],
                ["y"], equation="btd,ed->bte")
    layer = case.nodes.pop()
    for i, scale in ((0, 0.02), (1, 0.01)):
        case.constants += [(f"s{i}", np.float32(scale)), (f"z{i}", np.int8(0))]
        case.nodes.append(helper.make_node("DequantizeLinear", [f"x{i}", f"s{i}", f"z{i}"], [f"real{i}"]))
        layer.input[i] = f"real{i}"
    case.constants += [("s", np.float32(0.05)), ("z", np.int8(4))]
    case.nodes += [layer, helper.make_node("QuantizeLinear", ["y", "s", "z"], ["q"])]
    case.outputs = ["q"]
    return case


def quantised_to_16_bits(zero):
    """Activations of uint16, whose steps are so large that both ways of rounding give the same."""
    case = Case("Conv", [random(1, 3, 6, 5), random(4, 3, 3, 3), random(4)], ["y"], opset=21, pads=[1, 1, 1, 1])
    layer = case.nodes.pop()
    del case.constants[:]

    def pair(name, scale):
        case.constants.extend([(name + "_scale", np.float32(scale)), (name + "_zero", np.uint16(zero))])
        parameters = [name + "_scale", name + "_zero"]
        case.nodes.append(helper.make_node("QuantizeLinear", [name, *parameters], [name + "_steps"], name=name + "_q"))
        case.nodes.append(helper.make_node("DequantizeLinear", [name + "_steps", *parameters], [name + "_real"], name=name + "_dq"))
        return name + "_real"

    layer.input[0] = pair("x0", 0.03125)
    scales = np.float32([0.01, 0.02, 0.015, 0.0125])
    case.constants += [("w", RNG.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8)), ("w_scale", scales), ("w_zero", np.zeros(4, np.int8)),
                       ("b", RNG.integers(-900, 900, 4).astype(np.int32)), ("b_scale", scales * np.float32(0.03125)), ("b_zero", np.zeros(4, np.int32))]
    for i, name in ((1, "w"), (2, "b")):
        case.nodes.append(helper.make_node("DequantizeLinear", [name, name + "_scale", name + "_zero"], [name + "_real"], axis=0))
        layer.input[i] = name + "_real"
    case.nodes.append(layer)
    case.outputs = [pair("y", 0.4)]
    return case


def resize(shape, sizes, **attributes):
    return Case("Resize", [random(*shape), None, None, np.int64(sizes)], ["y"], opset=19, **attributes)


def reduced_truth(kind, limit):
    case = Case("Greater", [random(4, 5), np.float32([limit])], ["above"], opset=20)
    case.constants.append(("axes", np.int64([1])))
    case.nodes.append(helper.make_node(kind, ["above", "axes"], ["row"], name="reduce", keepdims=0))
    case.nodes.append(helper.make_node("Cast", ["row"], ["y"], name="number", to=1))
    case.outputs = ["y"]
    return case


def dynamic_product():
    """A layer as onnxruntime's dynamic quantisation writes it."""
    case = Case("DynamicQuantizeLinear", [random(2, 6)], ["q", "q_scale", "q_zero"])
    case.constants += [("w", RNG.integers(-127, 128, (6, 3)).astype(np.int8)), ("w_scale", np.float32(0.02))]
    case.nodes += [helper.make_node("MatMulInteger", ["q", "w", "q_zero"], ["sums"]),
                   helper.make_node("Cast", ["sums"], ["real"], to=1),
                   helper.make_node("Mul", ["q_scale", "w_scale"], ["scale"]),
                   helper.make_node("Mul", ["real", "scale"], ["y"])]
    case.outputs = ["y"]
    return case


def dynamic_lstm(steps=5, batches=1, directions=1, by_column=False, states=False, peepholes=False, **attributes):
    """What onnxruntime's dynamic quantisation makes of an LSTM: `w` and `r` are bytes with a column for each gate of each unit."""
    units, features = 4, 3
    scales = (directions, 4 * units) if by_column else (directions,)
    operands = [random(steps, batches, features)]
    operands += [RNG.integers(-100, 101, (directions, depth, 4 * units)).astype(np.int8) for depth in (features, units)]
    operands += [random(directions, 8 * units), None]
    operands += [random(directions, batches, units) if states else None for _ in range(2)]
    operands += [random(directions, 3 * units) if peepholes else None]
    for _ in range(2):
        operands += [RNG.uniform(0.004, 0.012, scales).astype(np.float32), np.zeros(scales, np.int8)]
    if directions == 2:
        attributes["direction"] = "bidirectional"
    return Case("DynamicQuantizeLSTM", operands, ["y", "y_h", "y_c"], domain="com.microsoft", hidden_size=units, **attributes)


def weights_first():
    case = einsum("ij,jk->ik", (3, 4), (4, 5))
    case.constants.append(case.inputs.pop(0))
    return case


def quantised_top_k():
    case = Case("DequantizeLinear", [RNG.integers(-128, 128, (2, 9)).astype(np.int8), np.float32(0.1), np.int8(3)], ["x"])
    case.constants.append(("k", np.int64([3])))
    case.nodes.append(helper.make_node("TopK", ["x", "k"], ["y", "i"], largest=0))
    case.outputs = ["y", "i"]
    return case


def grid_sample(width=5, given=2, **attributes):
    """At places within the image, at its edges and far outside of it."""
    places = (RNG.uniform(-2.5, 2.5, (2, 3, 4, 2))).astype(np.float32)
    places[0, 0] = [[-1, -1], [1, 1], [-1, 1], [0, 0]]
    return Case("GridSample", [random(2, 3, 4, width), places], ["y"], opset=20, given=given, **attributes)


def roi_align(images=1, given=3, opset=16, inside=False, **attributes):
    """Regions in, across and outside of the borders, one of no size; `inside`: none is larger than the image."""
    corners = np.float32([[1, 1, 9, 7], [0.3, 2.2, 14.9, 11.6], [3, 3, 3, 3], [2.5, 0.1, 6, 4.4]])
    if not inside:
        corners = np.concatenate([corners, np.float32([[-9, 2, 5, 30], [25, 25, 40, 40]])])
    numbers = np.int64([i % images for i in range(len(corners))])
    return Case("RoiAlign", [random(images, 3, 6, 8), corners, numbers], ["y"], opset=opset, given=given, output_height=3,
                output_width=4, spatial_scale=0.5, **attributes)


def rotary(shape, table, **attributes):
    """The places of a batch pick the rows of the tables."""
    batch, steps = shape[0], shape[-2]
    places = RNG.integers(0, table[0], (batch, steps)).astype(np.int64)
    return Case("RotaryEmbedding", [random(*shape), random(*table), random(*table), places], ["y"], opset=23, **attributes)


def suppression(boxes, scores, most, *limits, given=2, **attributes):
    """onnxruntime gives as many rows as it finds boxes; the rest of what we give is -1."""
    case = Case("NonMaxSuppression", [boxes, scores, most, *limits], ["i"], given=given, **attributes)
    known = int(np.max(most)) if given == 2 else boxes.shape[1]
    case.rows = scores.shape[0] * scores.shape[1] * min(known, boxes.shape[1])
    return case


def boxes(images, count, centred=False):
    """Of which many overlap; two are the same, one has no area."""
    places, sizes = RNG.uniform(0, 2, (images, count, 2)), RNG.uniform(0.3, 1.2, (images, count, 2))
    made = np.concatenate([places, sizes if centred else places + sizes], -1).astype(np.float32)
    if not centred:
        made[:, 0] = made[:, 0, [2, 3, 0, 1]]
    made[:, 2], made[:, 3, 2:] = made[:, 1], 0 if centred else made[:, 3, :2]
    return made


def chosen_places():
    """A choice between whole numbers of 64 bits."""
    case = Case("ArgMax", [random(3, 4)], ["at"], axis=1, keepdims=0)
    case.constants += [("one", np.int64(1)), ("other", np.int64([9, 1 << 40, -7]))]
    case.nodes += [helper.make_node("Greater", ["at", "one"], ["c"]), helper.make_node("Where", ["c", "at", "other"], ["i"])]
    case.outputs = ["i"]
    return case


def nodes(given, constants, made, outputs, opset=18):
    """A model of these nodes; the inputs are x0, x1 and so on."""
    case = Case("Identity", list(given), list(outputs), opset=opset, given=len(given))
    case.nodes = [helper.make_node(kind, inputs, results, name=f"layer{i}", **attributes)
                  for i, (kind, inputs, results, attributes) in enumerate(made)]
    case.constants = list(constants.items())
    return case


def places_of_queries():
    """Heads of DETR: the best of all pairs of query and class, taken apart again."""
    return nodes([random(1, 150)], {"k": np.int64([140]), "classes": np.int64(6)},
                 [("TopK", ["x0", "k"], ["y", "at"], {}), ("Div", ["at", "classes"], ["query"], {}),
                  ("Mod", ["at", "classes"], ["class"], {}), ("Mul", ["query", "classes"], ["product"], {}),
                  ("Add", ["product", "class"], ["i"], {})], ["y", "i"])


def positions_of_tokens():
    """Positions that leave padding out, as RoBERTa numbers them."""
    return nodes([np.int64([[5, 6, 1, 8, 9, 1, 1]])], {"pad": np.int64(1), "axis": np.int64(1), "table": random(9, 3)},
                 [("Equal", ["x0", "pad"], ["is_pad"], {}), ("Not", ["is_pad"], ["is_token"], {}),
                  ("Cast", ["is_token"], ["number"], {"to": 6}), ("CumSum", ["number", "axis"], ["sums"], {}),
                  ("Mul", ["sums", "number"], ["masked"], {}), ("Cast", ["masked"], ["long"], {"to": 7}),
                  ("Add", ["long", "pad"], ["i"], {}), ("Gather", ["table", "i"], ["y"], {})], ["y", "i"])


def sums_of_whole_numbers(kind):
    return nodes([np.int64(RNG.integers(-1000, 1000, (3, 5, 2)))], {"axes": np.int64([0, 1])},
                 [(kind, ["x0", "axes"], ["i"], {"keepdims": 0})], ["i"])


def running_sums(**attributes):
    return nodes([np.int64(RNG.integers(-1000, 1000, (2, 7)))], {"axis": np.int64(1)},
                 [("CumSum", ["x0", "axis"], ["i"], attributes)], ["i"])


def lists():
    """A tensor taken apart and put together in another order, without one part, and with another one."""
    return nodes([random(2, 5), random(2, 2)], {"two": np.int64(2), "first": np.int64(0), "last": np.int64(-1)},
                 [("SplitToSequence", ["x0", "two"], ["parts"], {"axis": 1}), ("SequenceAt", ["parts", "last"], ["end"], {}),
                  ("SequenceErase", ["parts", "last"], ["fewer"], {}), ("Neg", ["end"], ["negated"], {}),
                  ("SequenceInsert", ["fewer", "negated", "first"], ["more"], {}),
                  ("SequenceInsert", ["more", "x1"], ["all"], {}), ("ConcatFromSequence", ["all"], ["y"], {"axis": 1}),
                  ("SequenceLength", ["all"], ["i"], {})], ["y", "i"])


def stacked_list():
    return nodes([random(3, 2)], {}, [("Exp", ["x0"], ["a"], {}), ("Neg", ["x0"], ["b"], {}),
                                      ("SequenceConstruct", ["a", "x0", "b"], ["list"], {}),
                                      ("ConcatFromSequence", ["list"], ["y"], {"axis": -1, "new_axis": 1})], ["y"])


def weights_in_blocks():
    return nodes([random(2, 6)], {"w": RNG.integers(-128, 128, (6, 3)).astype(np.int8), "scales": np.abs(random(2, 3)),
                                  "zeros": RNG.integers(-9, 9, (2, 3)).astype(np.int8)},
                 [("DequantizeLinear", ["w", "scales", "zeros"], ["real"], {"axis": 0, "block_size": 3}),
                  ("MatMul", ["x0", "real"], ["y"], {})], ["y"], opset=21)


def rows_put_where_asked():
    """Keys of a cache, two rows of a batch; a place is counted from the end."""
    return nodes([random(1, 4, 3), np.int64([[[0, 2]], [[0, -1]]]), random(2, 1, 3)], {},
                 [("ScatterND", ["x0", "x1", "x2"], ["y"], {})], ["y"])


def stft(step, window=None, size=None, length=64, **attributes):
    return Case("STFT", [random(2, length, 1), np.int64(step), window, None if size is None else np.int64(size)], ["y"],
                **attributes)


def affine_grid(**attributes):
    return Case("AffineGrid", [random(2, 2, 3), np.int64([2, 3, 4, 5])], ["y"], opset=20, **attributes)


def windowed(kind, *numbers, **attributes):
    """What is known of the constant numbers alone, times what the model is given."""
    names = [f"n{i}" for i in range(len(numbers))]
    return nodes([random(1)], dict(zip(names, numbers)), [(kind, names, ["window"], attributes), ("Mul", ["window", "x0"], ["y"], {})], ["y"])


CASES = {
    "dft": lambda: Case("DFT", [random(2, 64, 1)], ["y"], onesided=1),
    "dft_of_complex_numbers": lambda: Case("DFT", [random(3, 5, 2), None, np.int64(-3)], ["y"], opset=20),
    "dft_padded_inverse": lambda: Case("DFT", [random(2, 13, 2), np.int64(16)], ["y"], inverse=1),
    "stft": lambda: stft(16, np.hanning(32).astype(np.float32)),
    "stft_of_any_size": lambda: stft(10, np.hanning(40).astype(np.float32), 40, 100),
    "stft_both_sides": lambda: stft(7, None, 21, onesided=0),
    "affine_grid": lambda: affine_grid(),
    "affine_grid_corners": lambda: affine_grid(align_corners=1),
    "top_k_many": lambda: Case("TopK", [random(2, 160, 3), np.int64([150])], ["y", "i"], axis=1),
    "top_k_many_smallest": lambda: Case("TopK", [random(140), np.int64([140])], ["y", "i"], largest=0),
    "places_of_queries": lambda: places_of_queries(),
    "positions_of_tokens": lambda: positions_of_tokens(),
    "sum_of_whole_numbers": lambda: sums_of_whole_numbers("ReduceSum"),
    "largest_whole_number": lambda: sums_of_whole_numbers("ReduceMax"),
    "running_sums_of_whole_numbers": lambda: running_sums(),
    "running_sums_backwards": lambda: running_sums(exclusive=1, reverse=1),
    "remainders_of_whole_numbers": lambda: nodes(
        [np.int64([-7, 7, -7, 7, 0, 9]), np.int64([3, 3, -3, -3, 5, 9])], {},
        [("Mod", ["x0", "x1"], ["a"], {"fmod": 1}), ("Div", ["x0", "x1"], ["b"], {}), ("Neg", ["b"], ["c"], {}),
         ("Concat", ["a", "c"], ["i"], {"axis": 0})], ["i"]),
    "bits_of_whole_numbers": lambda: nodes(
        [np.int64([[12, -7, 1 << 30], [-1, 0, 255]]), np.int64([10, 3, -(1 << 31)])], {"mask": np.int64(15)},
        [("BitwiseAnd", ["x0", "x1"], ["a"], {}), ("BitwiseOr", ["x0", "x1"], ["b"], {}),
         ("BitwiseXor", ["x0", "x1"], ["c"], {}), ("BitwiseNot", ["x0"], ["d"], {}),
         ("BitwiseAnd", ["x0", "mask"], ["e"], {}), ("Concat", ["a", "b", "c", "d", "e"], ["i"], {"axis": 0})], ["i"]),
    "halves_of_bytes": lambda: nodes(
        [np.int64([0, 1, 15, 16, 128, 171, 255])], {"four": np.uint8([4]), "low": np.uint8(15), "far": np.uint8(3)},
        [("Cast", ["x0"], ["byte"], {"to": 2}), ("BitShift", ["byte", "four"], ["high"], {"direction": "RIGHT"}),
         ("BitwiseAnd", ["byte", "low"], ["rest"], {}), ("BitShift", ["byte", "far"], ["up"], {"direction": "LEFT"}),
         ("BitShift", ["byte", "rest"], ["down"], {"direction": "RIGHT"}),
         ("BitwiseXor", ["up", "down"], ["mixed"], {}), ("BitwiseNot", ["byte"], ["not"], {}),
         ("Concat", ["high", "rest", "up", "mixed", "not"], ["all"], {"axis": 0}),
         ("Cast", ["all"], ["i"], {"to": 7})], ["i"]),
    "lists": lambda: lists(), "stacked_list": lambda: stacked_list(),
    "weights_in_blocks": lambda: weights_in_blocks(),
    "rows_put_where_asked": lambda: rows_put_where_asked(),
    "gather_from_the_end": lambda: nodes([random(4, 3), np.int64([-1, 2, -4])], {}, [("Gather", ["x0", "x1"], ["y"], {})],
                                         ["y"]),
    "dropout_mask": lambda: nodes([random(3, 2)], {}, [("Dropout", ["x0"], ["y", "mask"], {}),
                                                       ("Cast", ["mask"], ["i"], {"to": 7})], ["y", "i"]),
    "suppression": lambda: suppression(boxes(1, 9), RNG.random((1, 1, 9), np.float32), np.int64([3]), np.float32([0.3])),
    "suppression_all": lambda: suppression(boxes(1, 9), RNG.random((1, 1, 9), np.float32), np.int64([50]), np.float32([0.4]),
                                           np.float32([0.2])),
    "suppression_classes": lambda: suppression(boxes(2, 7), RNG.random((2, 3, 7), np.float32), np.int64([4]), np.float32([0.5]),
                                               np.float32([0.35])),
    "suppression_centres": lambda: suppression(boxes(1, 8, True), RNG.random((1, 2, 8), np.float32), np.int64([8]),
                                               np.float32([0.2]), center_point_box=1),
    "suppression_given": lambda: suppression(boxes(1, 6), RNG.random((1, 2, 6), np.float32), np.int64([2]), np.float32([0.5]),
                                             np.float32([0.1]), given=5),
    "where_of_long_numbers": lambda: chosen_places(),
    "lstm": lambda: recurrent("LSTM"),
    "lstm_long": lambda: recurrent("LSTM", steps=40, units=3, inputs=2, outputs=("", "y_h")),
    "lstm_reverse_batches": lambda: recurrent("LSTM", batches=3, direction="reverse", hidden=True, cell=True),
    "lstm_both": lambda: recurrent("LSTM", batches=2, directions=2, hidden=True, cell=True),
    "lstm_peepholes": lambda: recurrent("LSTM", directions=2, peepholes=True, cell=True),
    "lstm_coupled_clipped": lambda: recurrent("LSTM", input_forget=1, clip=0.6, bias=False),
    "lstm_lengths": lambda: recurrent("LSTM", batches=3, lengths=[5, 2, 4], directions=2, hidden=True),
    "lstm_one_length": lambda: recurrent("LSTM", batches=2, lengths=[3, 3], direction="reverse"),
    "lstm_functions": lambda: recurrent("LSTM", activations=["HardSigmoid", "Softsign", "ScaledTanh"],
                                        activation_alpha=[0.3, 0.7], activation_beta=[0.4, 1.2]),
    "lstm_qdq": quantised_lstm,
    "gru": lambda: recurrent("GRU", hidden=True),
    "gru_reset_after": lambda: recurrent("GRU", batches=2, directions=2, linear_before_reset=1, hidden=True),
    "gru_reset_after_plain": lambda: recurrent("GRU", linear_before_reset=1, bias=False, outputs=("", "y_h")),
    "gru_lengths_clipped": lambda: recurrent("GRU", batches=2, lengths=[2, 5], direction="reverse", clip=0.8),
    "gru_functions": lambda: recurrent("GRU", activations=["LeakyRelu", "Elu"], activation_alpha=[0.2, 0.8],
                                       clip=0.9),
    "rnn": lambda: recurrent("RNN", outputs=("y",)),
    "rnn_relu_both": lambda: recurrent("RNN", batches=2, directions=2, hidden=True, activations=["Relu", "Affine"],
                                       activation_alpha=[0.5], activation_beta=[0.1], steps=3),
    "einsum_attention": lambda: einsum("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    "einsum_context": lambda: einsum("bhqk,bkhd->bqhd", (1, 2, 3, 5), (1, 5, 2, 4)),
    "einsum_weights": lambda: einsum("btd,dhe->bthe", (2, 3, 4), (4, 2, 3), given=1),
    "einsum_weights_first": lambda: weights_first(),
    "einsum_outer": lambda: einsum("i,j->ij", (3,), (4,)),
    "einsum_sums": lambda: einsum("bij,bjk->b", (2, 3, 4), (2, 4, 2)),
    "einsum_three": lambda: einsum("ab,bc,cd->ad", (2, 3), (3, 4), (4, 2)),
    "einsum_ellipsis": lambda: einsum("...ij,...jk->...ik", (2, 1, 3, 4), (1, 3, 4, 2)),
    "einsum_implicit": lambda: einsum("kj, ji", (2, 3), (3, 4)),
    "einsum_diagonal": lambda: einsum("bii->bi", (2, 3, 3)),
    "einsum_transposition": lambda: einsum("nchw->nhwc", (1, 2, 3, 4)),
    "einsum_qdq": quantised_einsum,
    "conv_qdq_u16": lambda: quantised_to_16_bits(32768),
    "conv_qdq_u16_zero": lambda: quantised_to_16_bits(32000),
    "layer_norm": lambda: Case("LayerNormalization", [random(2, 3, 8), random(8), random(8)], ["y"]),
    "layer_norm_two_axes": lambda: Case("LayerNormalization", [random(2, 3, 4), random(3, 4)], ["y"], axis=-2,
                                        epsilon=1e-3),
    "instance_norm": lambda: Case("InstanceNormalization", [random(2, 3, 4, 5), random(3), random(3)], ["y"]),
    "group_norm": lambda: Case("GroupNormalization", [random(2, 6, 3, 4), random(6), random(6)], ["y"], opset=21,
                               num_groups=2),
    "group_norm_old": lambda: Case("GroupNormalization", [random(1, 6, 5), random(3), random(3)], ["y"], opset=18,
                                   num_groups=3),
    "rms_norm": lambda: Case("RMSNormalization", [random(2, 3, 8), random(8)], ["y"], opset=23),
    "lp_norm": lambda: Case("LpNormalization", [random(2, 5)], ["y"]),
    "lp_norm_first_axis": lambda: Case("LpNormalization", [random(4, 3)], ["y"], axis=0, p=1),
    "conv_transpose_dilated": lambda: Case("ConvTranspose", [random(1, 2, 3, 4), random(2, 3, 2, 3)], ["y"], dilations=[3, 2],
                                           strides=[2, 1], pads=[1, 0, 0, 1]),
    "max_pool_dilated": lambda: Case("MaxPool", [random(1, 2, 9, 8)], ["y"], kernel_shape=[3, 2], dilations=[2, 3],
                                     strides=[2, 1], pads=[1, 0, 1, 1]),
    "average_pool_dilated": lambda: Case("AveragePool", [random(1, 2, 9, 8)], ["y"], opset=19, kernel_shape=[2, 3],
                                         dilations=[3, 2], pads=[1, 2, 1, 2]),
    "conv_volume": lambda: Case("Conv", [random(2, 3, 6, 5, 4), random(4, 3, 3, 2, 3), random(4)], ["y"], strides=[2, 1, 1],
                                dilations=[1, 2, 1], pads=[1, 0, 2, 1, 1, 0]),
    "conv_volume_groups": lambda: Case("Conv", [random(1, 4, 5, 5, 5), random(6, 2, 2, 3, 3)], ["y"], group=2, strides=[3, 1, 2],
                                       auto_pad="SAME_UPPER"),
    "conv_volume_depthwise": lambda: Case("Conv", [random(1, 3, 4, 5, 6), random(6, 1, 3, 3, 1)], ["y"], group=3),
    "max_pool_volume": lambda: Case("MaxPool", [random(2, 3, 6, 5, 7)], ["y"], kernel_shape=[2, 3, 2], strides=[2, 1, 3],
                                    pads=[1, 1, 0, 0, 1, 1]),
    "average_pool_volume": lambda: Case("AveragePool", [random(2, 3, 6, 5, 7)], ["y"], kernel_shape=[3, 3, 2], strides=[2, 1, 1],
                                        pads=[1, 1, 0, 1, 1, 1]),
    "average_pool_volume_padded": lambda: Case("AveragePool", [random(1, 2, 4, 5, 6)], ["y"], kernel_shape=[2, 3, 3],
                                               pads=[1, 1, 1, 0, 1, 1], count_include_pad=1),
    "max_pool_volume_dilated": lambda: Case("MaxPool", [random(1, 2, 6, 7, 8)], ["y"], kernel_shape=[2, 3, 2], dilations=[3, 1, 2],
                                            strides=[1, 2, 3], ceil_mode=1),
    "average_pool_volume_ceil": lambda: Case("AveragePool", [random(1, 2, 6, 7, 8)], ["y"], opset=19, kernel_shape=[3, 2, 3],
                                             dilations=[1, 1, 2], strides=[2, 2, 2], pads=[1, 0, 1, 0, 1, 1], ceil_mode=1),
    "lp_pool": lambda: Case("LpPool", [random(1, 2, 7, 8)], ["y"], opset=18, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]),
    "lp_pool_of_cubes": lambda: Case("LpPool", [random(1, 3, 9)], ["y"], opset=18, p=3, kernel_shape=[4], auto_pad="SAME_UPPER"),
    "max_pool_dilated_ceil": lambda: Case("MaxPool", [random(1, 1, 10)], ["y"], kernel_shape=[3], dilations=[2], strides=[3],
                                          ceil_mode=1),
    "lrn": lambda: Case("LRN", [random(1, 6, 2, 2)], ["y"], size=3, alpha=0.02, beta=0.6, bias=1.5),
    "attention_causal": lambda: Case("Attention", [random(1, 4, 3, 4), random(1, 2, 3, 4), random(1, 2, 3, 5)], ["y"], opset=23,
                                     given=3, is_causal=1),
    "attention_rows_softcap": lambda: Case("Attention", [random(1, 3, 8), random(1, 3, 8), random(1, 3, 8), random(3, 3)],
                                           ["y"], opset=23, given=4, q_num_heads=2, kv_num_heads=2, softcap=2.0),
    "resize_cubic": lambda: resize((1, 2, 5, 4), (1, 2, 8, 3), mode="cubic"),
    "resize_antialias": lambda: resize((1, 2, 8, 6), (1, 2, 3, 4), mode="linear", antialias=1),
    "resize_cubic_outside": lambda: resize((1, 1, 4, 4), (1, 1, 6, 7), mode="cubic", exclude_outside=1,
                                           cubic_coeff_a=-0.5),
    "resize_linear_scales": lambda: Case("Resize", [random(1, 1, 5, 5), None, np.float32([1, 1, 0.7, 1.3])], ["y"], opset=19,
                                         mode="linear"),
    "gather_elements": lambda: Case("GatherElements", [random(3, 4), np.int64([[0, 3, -1], [2, 1, 0]])], ["y"], axis=1),
    "gather_elements_given": lambda: Case("GatherElements", [random(3, 4), np.int64([[0, 2, 1, 2]])], ["y"], given=2, axis=0),
    "scatter_nd": lambda: Case("ScatterND", [random(4, 3), np.int64([[3], [1]]), random(2, 3)], ["y"], opset=16),
    "scatter_elements": lambda: Case("ScatterElements", [random(3, 3), np.int64([[1, -1, 0]]), random(1, 3)], ["y"], opset=16),
    "scatter_nd_sums": lambda: Case("ScatterND", [random(4, 3), np.int64([[3], [1], [3], [-1]]), random(4, 3)], ["y"], opset=16,
                                    reduction="add"),
    "scatter_elements_largest": lambda: Case("ScatterElements", [random(3, 3), np.int64([[1, -1, 0], [1, 0, 0]]), random(2, 3)],
                                             ["y"], opset=18, reduction="max"),
    "scatter_elements_products": lambda: Case("ScatterElements", [random(2, 4), np.int64([[1, -1, 1]]), random(1, 3)], ["y"],
                                              opset=18, axis=1, reduction="mul"),
    "gather_nd_batches": lambda: Case("GatherND", [random(2, 3, 4), np.int64([[[1], [-1]], [[0], [2]]])], ["y"], batch_dims=1),
    "gather_nd_batches_given": lambda: Case("GatherND", [random(2, 3, 4), np.int64([[2, 3], [0, 1]])], ["y"], given=2,
                                            batch_dims=1),
    "reduce_max_of_truth": lambda: reduced_truth("ReduceMax", 1),
    "reduce_min_of_truth": lambda: reduced_truth("ReduceMin", -1),
    "mod_of_dividend": lambda: Case("Mod", [5 * random(9), np.float32([2, -2, 0.7, -0.3, 5, 9, -9, 1, -1])], ["y"], fmod=1),
    "trilu": lambda: Case("Trilu", [random(2, 3, 4), np.int64(1)], ["y"], upper=0),
    "one_hot": lambda: Case("OneHot", [np.int64([[0, -1], [2, 7]]), np.int64(4), np.float32([0.5, 2])], ["y"], axis=1),
    "hardmax": lambda: Case("Hardmax", [random(2, 5)], ["y"]),
    "reverse_sequence": lambda: Case("ReverseSequence", [random(4, 3), np.int64([1, 4, 3])], ["y"]),
    "pad_wrap": lambda: Case("Pad", [random(2, 3), np.int64([1, 2, 0, 1])], ["y"], opset=19, mode="wrap"),
    "pad_edge_cut": lambda: Case("Pad", [random(4, 3), np.int64([-1, 3, 2, 2])], ["y"], opset=19, mode="edge"),
    "dynamic_quantised_product": lambda: dynamic_product(),
    "layers_of_bytes": lambda: layers_of_bytes(), "grouped_bytes": lambda: grouped_bytes(2), "grouped_bytes_by_channel": lambda: grouped_bytes(4),
    "dynamic_lstm": lambda: dynamic_lstm(),
    "dynamic_lstm_by_column": lambda: dynamic_lstm(by_column=True, direction="reverse"),
    "dynamic_lstm_two_ways": lambda: dynamic_lstm(steps=4, directions=2, states=True, peepholes=True),
    "dynamic_lstm_of_one_step": lambda: dynamic_lstm(steps=1, states=True),
    "dynamic_lstm_of_two_sequences": lambda: dynamic_lstm(batches=2),
    "top_k": lambda: Case("TopK", [random(2, 7, 3), np.int64([4])], ["y", "i"], axis=1),
    "top_k_smallest_qdq": lambda: quantised_top_k(),
    "grid_sample": lambda: grid_sample(),
    "grid_sample_known_places": lambda: grid_sample(given=1, mode="linear", padding_mode="reflection"),
    "grid_sample_nearest_border": lambda: grid_sample(mode="nearest", padding_mode="border", align_corners=1),
    "grid_sample_cubic_reflection": lambda: grid_sample(mode="cubic", padding_mode="reflection"),
    "grid_sample_cubic_zeros": lambda: grid_sample(mode="cubic", align_corners=1),
    "grid_sample_one_column": lambda: grid_sample(width=1, padding_mode="reflection", align_corners=1),
    "roi_align": lambda: roi_align(sampling_ratio=2),
    "roi_align_two_images": lambda: roi_align(images=2, sampling_ratio=3, coordinate_transformation_mode="output_half_pixel"),
    "roi_align_old": lambda: roi_align(opset=10, given=2, sampling_ratio=1),
    "roi_align_by_size": lambda: roi_align(inside=True),
    "roi_align_largest": lambda: roi_align(images=2, mode="max", sampling_ratio=2),
    "rotary_embedding": lambda: rotary((1, 2, 3, 8), (3, 4)),
    "rotary_embedding_part": lambda: rotary((2, 3, 12), (3, 2), num_heads=2, rotary_embedding_dim=4, interleaved=1),
    "asin": lambda: Case("Asin", [np.float32([-1, -0.999, -0.5, -1e-4, 0, 0.3, 0.9, 0.99999, 1])], ["y"]),
    "acos": lambda: Case("Acos", [np.float32([-1, -0.999, -0.5, -1e-4, 0, 0.3, 0.9, 0.99999, 1])], ["y"]),
    "atan": lambda: Case("Atan", [np.float32([-1e30, -40, -1, -0.3, 0, 1e-5, 0.7, 1.1, 9, np.inf])], ["y"]),
    "tan": lambda: Case("Tan", [random(7)], ["y"]),
    "asinh": lambda: Case("Asinh", [random(7)], ["y"]),
    "shrink": lambda: Case("Shrink", [random(9)], ["y"], lambd=0.4, bias=0.3),
    "swish": lambda: Case("Swish", [random(7)], ["y"], opset=24, alpha=1.3),
    "global_lp_pool": lambda: Case("GlobalLpPool", [random(2, 3, 4, 5)], ["y"]),
    "global_lp_pool_of_three": lambda: Case("GlobalLpPool", [random(1, 4, 7)], ["y"], p=3),
    "hann_window": lambda: windowed("HannWindow", np.int64(11)),
    "hamming_window": lambda: windowed("HammingWindow", np.int64(10), periodic=0),
    "blackman_window": lambda: windowed("BlackmanWindow", np.int64(12)),
    "mel_weights": lambda: windowed("MelWeightMatrix", np.int64(8), np.int64(64), np.int64(16000), np.float32(125), np.float32(7500)),
    "mel_weights_of_narrow_bands": lambda: windowed("MelWeightMatrix", np.int64(12), np.int64(32), np.int64(8000), np.float32(0), np.float32(4000)),
    "mean_variance_norm": lambda: Case("MeanVarianceNormalization", [random(2, 3, 4, 4)], ["y"]),
}


def write(name, case, folder):
    model = case.model()
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1  # with more, a dynamically quantised LSTM has a range for each thread's sequences
    if hasattr(case, "by_reference"):
        session = ReferenceEvaluator(model)
    else:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    results = session.run(case.outputs, dict(case.inputs))
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for i, (_, values) in enumerate(case.inputs):
        (folder / f"in{i}.bin").write_bytes(values.tobytes())
    if hasattr(case, "rows"):
        missing = case.rows - len(results[0])
        results[0] = np.pad(results[0], ((0, missing), (0, 0)), constant_values=-1)
    for i, values in enumerate(results):
        assert np.all(np.isfinite(values)), name
        (folder / f"out{i}.bin").write_bytes(np.ascontiguousarray(values).tobytes())
    print(name, [r.shape for r in results])


def main():
    for name, make in (CASES | control_layers.cases(sys.modules[__name__]) | fused_layers.cases(sys.modules[__name__])
                       | learned_layers.cases(sys.modules[__name__])
                       | limit_layers.cases(sys.modules[__name__]) | streaming_layers.cases(sys.modules[__name__])).items():
        global RNG
        RNG = np.random.default_rng(zlib.crc32(name.encode()))  # a new case changes no other
        write(name, make(), pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    main()
