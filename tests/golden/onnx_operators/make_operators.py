#!/usr/bin/env python3
"""Makes one quantised operator per case, and what onnxruntime computes with it.

    python3 make_operators.py FOLDER        # needs: onnx, onnxruntime, numpy

Inputs are int8 (or uint8 where the name says so) and cover their range. Results are integers too, so that one
step of them is one. Each case is a folder: model.onnx, in<i>.bin, out0.bin.
"""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(5)
TYPES = {np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8, np.int16: TensorProto.INT16}


class Case:
    def __init__(self, kind, shapes, scales, output, zero_points=None, weights=(), bias=None, data=np.int8, relu=False,
                 **attributes):
        """`weights`: (values, axis of the scales or None); `output`: scale and zero point of the result."""
        self.nodes, self.constants, self.inputs = [], [], []
        zero_points = zero_points or [3] * len(shapes)
        offset = 128 if data is np.uint8 else 0
        limits = np.iinfo(data)
        names = []
        for i, (shape, scale) in enumerate(zip(shapes, scales)):
            self.inputs.append(RNG.integers(limits.min, limits.max + 1, shape).astype(data))
            names.append(self.dequantised(f"x{i}", np.float32(scale), data(zero_points[i] + offset)))
        for i, (values, axis) in enumerate(weights):
            if axis is None:
                scale = np.float32(np.abs(values).max() / 127)
                spread = scale
            else:
                others = tuple(a for a in range(values.ndim) if a != axis)
                scale = (np.abs(values).max(axis=others) / 127).astype(np.float32)
                spread = scale.reshape([-1 if a == axis else 1 for a in range(values.ndim)])
            whole = np.clip(np.round(values / spread), -127, 127).astype(np.int8)
            self.constant(f"w{i}", whole)
            names.append(self.dequantised(f"w{i}", scale, np.zeros(scale.shape, np.int8), axis or 0))
            if bias is not None:
                steps = np.float32(scales[0]) * scale
                self.constant("b", np.round(bias / steps).astype(np.int32))
                names.append(self.dequantised("b", steps, np.zeros(np.shape(steps), np.int32), 0))
        for name, values in attributes.pop("constants", {}).items():
            names.append(self.constant(name, values) if name else "")
        self.nodes.append(helper.make_node(kind, names, ["y"], name="operator", **attributes))
        result = "y"
        if relu:
            self.nodes.append(helper.make_node("Relu", ["y"], ["activated"]))
            result = "activated"
        scale, zero = self.constant("y_scale", np.float32(output[0])), self.constant("y_zero", data(output[1] + offset))
        self.nodes.append(helper.make_node("QuantizeLinear", [result, scale, zero], ["q"]))
        self.data = data

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def dequantised(self, name, scale, zero, axis=0):
        inputs = [name, self.constant(name + "_scale", scale), self.constant(name + "_zero", zero)]
        self.nodes.append(helper.make_node("DequantizeLinear", inputs, [name + "_real"], axis=axis))
        return name + "_real"

    def model(self):
        inputs = [helper.make_tensor_value_info(f"x{i}", TYPES[self.data], x.shape) for i, x in enumerate(self.inputs)]
        graph = helper.make_graph(self.nodes, "operator", inputs,
                                  [helper.make_tensor_value_info("q", TYPES[self.data], None)], self.constants)
        wide = self.data is np.int16
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21 if wide else 17)])
        model.ir_version = 10 if wide else 8
        return model


def random(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def cases():
    conv = dict(weights=[(random(5, 4, 3, 3), 0)], bias=random(5))
    yield "conv", Case("Conv", [(1, 4, 7, 6)], [0.02], (0.15, -4), pads=[1, 1, 1, 1], strides=[2, 1], **conv)
    yield "conv_relu", Case("Conv", [(1, 4, 7, 6)], [0.02], (0.06, -128), relu=True, **conv)
    yield "conv_u8", Case("Conv", [(1, 4, 7, 6)], [0.02], (0.15, -4), data=np.uint8, **conv)
    yield "conv_line", Case("Conv", [(1, 4, 16)], [0.02], (0.1, 2), weights=[(random(6, 4, 5), 0)], bias=random(6), strides=[2], pads=[1, 3])
    yield "conv_groups", Case("Conv", [(1, 6, 5, 5)], [0.03], (0.1, 1), weights=[(random(4, 3, 2, 2), 0)], group=2)
    yield "conv_depthwise", Case("Conv", [(1, 6, 5, 5)], [0.03], (0.1, 1), weights=[(random(12, 1, 3, 3), 0)], bias=random(12), group=6)
    yield "gemm", Case("Gemm", [(3, 20)], [0.03], (0.12, 9), weights=[(random(20, 6), 1)], bias=random(6))
    yield "gemm_alpha", Case("Gemm", [(3, 20)], [0.03], (0.06, 9), weights=[(random(6, 20), 0)], bias=random(6), transB=1, alpha=0.5, beta=2.0)
    yield "matmul_weights", Case("MatMul", [(2, 3, 8)], [0.03], (0.08, 0), weights=[(random(8, 5), 1)])
    yield "matmul", Case("MatMul", [(2, 3, 8), (2, 8, 4)], [0.03, 0.02], (0.15, 5))
    yield "add", Case("Add", [(1, 3, 4, 5), (1, 3, 4, 5)], [0.02, 0.05], (0.055, -7))
    yield "add_broadcast", Case("Add", [(1, 3, 4, 5), (3, 1, 1)], [0.02, 0.05], (0.055, -7))
    yield "sub", Case("Sub", [(2, 30), (2, 30)], [0.02, 0.03], (0.05, 7))
    yield "mul", Case("Mul", [(2, 30), (2, 30)], [0.02, 0.03], (0.05, 7))
    yield "maximum", Case("Max", [(2, 30), (2, 30)], [0.02, 0.03], (0.04, 7))
    yield "relu", Case("Relu", [(2, 40)], [0.02], (0.015, -128))
    yield "clip", Case("Clip", [(2, 40)], [0.05], (0.05, 3), constants={"low": np.float32(-1.5), "high": np.float32(4)})
    yield "leaky_relu", Case("LeakyRelu", [(256,)], [0.02], (0.015, -40), alpha=0.2)
    yield "prelu", Case("PRelu", [(1, 3, 5, 4)], [0.02], (0.02, 3), weights=[(random(3, 1, 1), None)])
    yield "hard_swish", Case("HardSwish", [(256,)], [0.05], (0.03, -110))
    yield "sigmoid", Case("Sigmoid", [(256,)], [0.06], (1 / 256, -128))
    yield "sigmoid_fine", Case("Sigmoid", [(256,)], [0.02], (0.0021, -128))
    yield "tanh", Case("Tanh", [(256,)], [0.03], (0.0079, 0))
    yield "softmax", Case("Softmax", [(4, 9)], [0.05], (1 / 256, -128))
    yield "softmax_fine", Case("Softmax", [(4, 9)], [0.01], (0.0015, -128))
    yield "softmax_channels", Case("Softmax", [(1, 4, 3, 3)], [0.05], (1 / 255, -128), axis=1)
    yield "average_pool", Case("AveragePool", [(1, 3, 7, 7)], [0.04], (0.04, 3), kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 0])
    yield "average_pool_coarse", Case("AveragePool", [(1, 3, 7, 7)], [0.04], (0.05, 0), kernel_shape=[3, 3])
    yield "average_pool_fine", Case("AveragePool", [(1, 3, 7, 7)], [0.04], (0.015, 0), kernel_shape=[3, 3])
    yield "average_pool_padded", Case("AveragePool", [(1, 3, 7, 7)], [0.04], (0.04, 3), kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    yield "global_average_pool", Case("GlobalAveragePool", [(1, 9, 7, 5)], [0.04], (0.01, 0))
    yield "reduce_mean", Case("ReduceMean", [(2, 9, 7)], [0.04], (0.02, 0), axes=[1], keepdims=0)
    yield "max_pool", Case("MaxPool", [(1, 3, 7, 7)], [0.04], (0.04, 3), kernel_shape=[2, 3], strides=[2, 2], ceil_mode=1)
    yield "concat", Case("Concat", [(1, 2, 3, 4), (1, 3, 3, 4)], [0.02, 0.03], (0.03, -1), axis=1)
    yield "pad", Case("Pad", [(1, 2, 3, 4)], [0.02], (0.02, 3), constants={"pads": np.array([0, 0, 1, 2, 0, 0, 0, 1])})
    yield "transpose", Case("Transpose", [(2, 3, 4)], [0.02], (0.02, 3), perm=[2, 0, 1])
    yield "slice", Case("Slice", [(4, 9)], [0.02], (0.02, 3), constants={"starts": np.array([-1, 1]), "ends": np.array([-5, 8]), "axes": np.array([0, 1]), "steps": np.array([-1, 2])})
    yield "resize", Case("Resize", [(1, 2, 3, 4)], [0.02], (0.02, 3), constants={"": None, "scales": np.array([1, 1, 2, 2], np.float32)}, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    yield "conv_transpose", Case("ConvTranspose", [(1, 4, 5, 4)], [0.03], (0.12, 4), weights=[(random(4, 3, 3, 2), 1)], bias=random(3), strides=[2, 2], pads=[1, 0, 0, 1])


def build(name, kind, inputs, operands, domain="", **attributes):
    constants, names = [], []
    for i, (tag, values) in enumerate(operands):
        names.append(tag)
        if values is not None:
            constants.append(numpy_helper.from_array(np.asarray(values), tag))
    kind_of = TYPES[inputs[0].dtype.type]
    graph = helper.make_graph(
        [helper.make_node(kind, names, ["q"], domain=domain, name="operator", **attributes)], "operator",
        [helper.make_tensor_value_info(f"x{i}", TYPES[x.dtype.type], x.shape) for i, x in enumerate(inputs)],
        [helper.make_tensor_value_info("q", kind_of, None)], constants)
    sets = [helper.make_opsetid("", 17)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(graph, opset_imports=sets)
    model.ir_version = 8
    return name, model, inputs


def image(kind, *shape):
    limits = np.iinfo(kind)
    return RNG.integers(limits.min, limits.max + 1, shape).astype(kind)


def qlinear_cases():
    f = np.float32
    scales = np.array([0.01, 0.02, 0.015, 0.012], f)
    yield build("qlinear_conv", "QLinearConv", [image(np.int8, 1, 3, 6, 6)],
                [("x0", None), ("xs", f(0.02)), ("xz", np.int8(4)), ("w", image(np.int8, 4, 3, 3, 3)), ("ws", scales),
                 ("wz", np.zeros(4, np.int8)), ("ys", f(0.2)), ("yz", np.int8(-3)), ("b", np.array([100, -900, 70, 5], np.int32))],
                pads=[1, 1, 0, 0])
    yield build("qlinear_conv_u8", "QLinearConv", [image(np.uint8, 1, 3, 6, 6)],
                [("x0", None), ("xs", f(0.02)), ("xz", np.uint8(120)), ("w", image(np.uint8, 4, 3, 3, 3)), ("ws", f(0.01)),
                 ("wz", np.uint8(128)), ("ys", f(0.2)), ("yz", np.uint8(125))])
    yield build("qlinear_matmul", "QLinearMatMul", [image(np.uint8, 3, 12)],
                [("x0", None), ("xs", f(0.02)), ("xz", np.uint8(120)), ("w", image(np.int8, 12, 5)), ("ws", f(0.01)),
                 ("wz", np.int8(0)), ("ys", f(0.1)), ("yz", np.uint8(100))])
    yield build("qgemm", "QGemm", [image(np.int8, 2, 12)],
                [("x0", None), ("xs", f(0.02)), ("xz", np.int8(4)), ("w", image(np.int8, 4, 12)), ("ws", f(0.013)),
                 ("wz", np.int8(0)), ("b", np.array([100, -900, 70, 5], np.int32)), ("ys", f(0.1)), ("yz", np.int8(3))],
                domain="com.microsoft", transB=1)
    yield build("qlinear_add", "QLinearAdd", [image(np.uint8, 3, 12), image(np.uint8, 3, 12)],
                [("x0", None), ("as", f(0.02)), ("az", np.uint8(120)), ("x1", None), ("bs", f(0.01)),
                 ("bz", np.uint8(12)), ("ys", f(0.03)), ("yz", np.uint8(100))], domain="com.microsoft")


def later_cases():
    """Behind the others, whose numbers stay as they are."""
    yield "cumsum", Case("CumSum", [(2, 9)], [0.02], (0.09, 4), constants={"axis": np.int64(1)})
    yield "cumsum_reverse", Case("CumSum", [(3, 7)], [0.03], (0.1, -20), constants={"axis": np.int64(0)}, reverse=1,
                                 exclusive=1)


def wide_weight_cases():
    """Weights of bytes that have nine bits less their zero point. Behind the others as well."""
    f, u = np.float32, np.uint8
    yield build("qlinear_conv_u8_weights", "QLinearConv", [image(u, 1, 3, 6, 6)],
                [("x0", None), ("xs", f(0.02)), ("xz", u(120)), ("w", image(u, 4, 3, 3, 3)), ("ws", f(0.01)),
                 ("wz", u(97)), ("ys", f(0.2)), ("yz", u(125)), ("b", np.array([100, -900, 70, 5], np.int32))], pads=[1, 1, 1, 1])
    yield build("qlinear_conv_u8_weights_depthwise", "QLinearConv", [image(u, 1, 4, 5, 6)],
                [("x0", None), ("xs", f(0.02)), ("xz", u(0)), ("w", image(u, 8, 1, 3, 2)), ("ws", f(0.01)), ("wz", u(200)),
                 ("ys", f(0.1)), ("yz", u(160))], group=4)
    yield build("qlinear_matmul_u8_weights", "QLinearMatMul", [image(u, 3, 12)],
                [("x0", None), ("xs", f(0.02)), ("xz", u(120)), ("w", image(u, 12, 5)), ("ws", f(0.01)), ("wz", u(30)),
                 ("ys", f(0.1)), ("yz", u(100))])
    yield build("qgemm_u8_weights", "QGemm", [image(u, 2, 12)],
                [("x0", None), ("xs", f(0.02)), ("xz", u(4)), ("w", image(u, 4, 12)), ("ws", f(0.013)), ("wz", u(140)),
                 ("b", np.array([100, -900, 70, 5], np.int32)), ("ys", f(0.2)), ("yz", u(3))],
                domain="com.microsoft", transB=1)


def normalisation_cases():
    def by_channel(count):
        return dict(constants={"g": random(count), "b": random(count), "m": random(count), "v": np.abs(random(count)) + np.float32(0.3)})

    yield "batch_norm", Case("BatchNormalization", [(1, 5, 4, 6)], [0.03], (0.06, -7), **by_channel(5))
    yield "batch_norm_relu", Case("BatchNormalization", [(2, 6, 9)], [0.03], (0.04, -128), relu=True, **by_channel(6))


def unequal(case, *, along):
    """Rows of the first input that differ in spread and mean, one of them of one value."""
    values = case.inputs[0].astype(np.float64)
    rows = np.moveaxis(values, along, 0)
    for i, row in enumerate(rows):
        row[...] = row / 2.0**i + RNG.integers(-40, 40)
    rows[-1] = 17
    case.inputs[0] = np.clip(np.round(values), -128, 127).astype(case.inputs[0].dtype)
    return case


def row_normalisation_cases():
    """Behind the others, too."""
    def constants(*shape):
        return dict(constants={"g": 1 + random(*shape) / 3, "b": random(*shape)})

    yield "layer_norm", unequal(Case("LayerNormalization", [(1, 6, 48)], [0.03], (0.05, -9), **constants(48)), along=1)
    yield "layer_norm_u8", Case("LayerNormalization", [(5, 20)], [0.07], (0.03, 4), data=np.uint8, **constants(20))
    yield "layer_norm_image", unequal(Case("LayerNormalization", [(1, 4, 3, 12)], [0.004], (0.04, 12), epsilon=1e-3, **constants(12)), along=1)
    yield "layer_norm_axes", Case("LayerNormalization", [(3, 4, 6)], [0.05], (0.04, 0), axis=1, **constants(4, 6))
    yield "layer_norm_factor", Case("LayerNormalization", [(3, 16)], [0.05], (0.02, 3), constants={"g": np.where(np.arange(16) % 3 == 0, 0, random(16)).astype(np.float32)})
    yield "instance_norm", unequal(Case("InstanceNormalization", [(1, 6, 7, 9)], [0.02], (0.05, 5), **constants(6)), along=1)
    yield "instance_norm_line", unequal(Case("InstanceNormalization", [(2, 4, 30)], [0.02], (0.05, 5), **constants(4)), along=1)
    yield "group_norm", Case("InstanceNormalization", [(1, 2, 500)], [0.02], (0.03, -5), constants={"g": np.ones(2, np.float32), "b": np.zeros(2, np.float32)})


def written_out(nodes, shapes, scales, output, constants, opset=17, zero_points=None, inputs=None):
    """Several operators between the reals of x0, x1, .. and the y that is quantised: ("Sub", ["x0_real", "mean"], "centred", {})."""
    made, kept, given = [], [numpy_helper.from_array(np.asarray(values), name) for name, values in constants.items()], []
    for i, (shape, scale) in enumerate(zip(shapes, scales)):
        given.append(RNG.integers(-128, 128, shape).astype(np.int8) if inputs is None else inputs[i])
        kept += [numpy_helper.from_array(np.float32(scale), f"x{i}_scale"), numpy_helper.from_array(np.int8((zero_points or [3] * len(shapes))[i]), f"x{i}_zero")]
        made.append(helper.make_node("DequantizeLinear", [f"x{i}", f"x{i}_scale", f"x{i}_zero"], [f"x{i}_real"]))
    made += [helper.make_node(kind, operands, result if isinstance(result, list) else [result], **attributes) for kind, operands, result, attributes in nodes]
    kept += [numpy_helper.from_array(np.float32(output[0]), "y_scale"), numpy_helper.from_array(np.int8(output[1]), "y_zero")]
    made.append(helper.make_node("QuantizeLinear", ["y", "y_scale", "y_zero"], ["q"]))
    graph = helper.make_graph(made, "operator", [helper.make_tensor_value_info(f"x{i}", TensorProto.INT8, x.shape) for i, x in enumerate(given)],
                              [helper.make_tensor_value_info("q", TensorProto.INT8, None)], kept)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 10 if opset > 17 else 8
    return model, given


def centred(axes):
    return [("ReduceMean", ["x0_real"], "mean", dict(axes=axes)), ("Sub", ["x0_real", "mean"], "centred", {})]


def written_norm_cases():
    """Behind the others again: norms as exporters write them out, and their parts where a quantiser has put integers between them."""
    f = np.float32
    rows = [RNG.integers(-128, 128, (1, 6, 48)).astype(np.float64)]
    for i in range(6):
        rows[0][:, i] = rows[0][:, i] / 2.0**i + RNG.integers(-40, 40)
    rows[0][:, 5] = 17
    rows = [np.clip(np.round(rows[0]), -128, 127).astype(np.int8)]
    two, epsilon, one = dict(two=f(2)), dict(epsilon=f(1e-5)), dict(one=f(1))
    root = [("Add", ["variance", "epsilon"], "sum", {}), ("Sqrt", ["sum"], "root", {})]
    affine = [("Mul", ["normal", "g"], "scaled", {}), ("Add", ["scaled", "b"], "y", {})]
    yield "written_layer_norm", *written_out(
        [*centred([-1]), ("Pow", ["centred", "two"], "square", {}), ("ReduceMean", ["square"], "variance", dict(axes=[-1])), *root,
         ("Div", ["centred", "root"], "normal", {}), *affine],
        [(1, 6, 48)], [0.03], (0.05, -9), two | epsilon | dict(g=1 + random(48) / 3, b=random(48)), inputs=rows)
    yield "written_norm_of_channels", *written_out(
        [*centred([1]), ("Mul", ["centred", "centred"], "square", {}), ("ReduceMean", ["square"], "variance", dict(axes=[1])), *root,
         ("Reciprocal", ["root"], "inverse", {}), ("Mul", ["inverse", "centred"], "normal", {}), *affine],
        [(1, 12, 5, 4)], [0.02], (0.04, 12), epsilon | dict(g=1 + random(12, 1, 1) / 3, b=random(12, 1, 1)))
    squares = [("Pow", ["x0_real", "two"], "square", {}), ("ReduceMean", ["square"], "variance", dict(axes=[2]))]
    yield "written_rms_norm", *written_out(
        [*squares, *root, ("Div", ["one", "root"], "inverse", {}), ("Mul", ["x0_real", "inverse"], "normal", {}), ("Mul", ["g", "normal"], "y", {})],
        [(1, 6, 48)], [0.03], (0.03, 4), two | epsilon | one | dict(g=1 + random(48) / 3), inputs=rows)
    yield "written_rms_norm_alone", *written_out(
        [*squares, ("Add", ["epsilon", "variance"], "sum", {}), ("Pow", ["sum", "power"], "inverse", {}), ("Mul", ["x0_real", "inverse"], "y", {})],
        [(2, 5, 30)], [0.01], (0.03, 0), two | epsilon | dict(power=f(-0.5)))
    yield "written_centre", *written_out([("ReduceMean", ["x0_real"], "mean", dict(axes=[-1])), ("Sub", ["x0_real", "mean"], "y", {})], [(1, 6, 48)], [0.03], (0.021, -9), {}, inputs=rows)
    yield "written_variance", *written_out(
        [*centred([-1]), ("Pow", ["centred", "two"], "square", {}), ("ReduceMean", ["square"], "y", dict(axes=[-1]))],
        [(1, 6, 48)], [0.03], (0.025, -128), two, inputs=rows)
    yield "written_variance_of_few", *written_out(
        [*centred([1]), ("Mul", ["centred", "centred"], "square", {}), ("ReduceMean", ["square"], "y", dict(axes=[1]))],
        [(3, 5, 7)], [0.1], (0.003, -20), {}, inputs=[RNG.integers(-12, 9, (3, 5, 7)).astype(np.int8)])
    yield "written_mean_square", *written_out([*squares[:1], ("ReduceMean", ["square"], "y", dict(axes=[2]))], [(1, 6, 48)], [0.03], (0.04, -128), two, inputs=rows)
    spread = [RNG.integers(-128, 128, (4, 6, 16)).astype(np.int8), RNG.integers(-127, 128, (4, 6, 1)).astype(np.int8)]
    yield "written_quotient", *written_out(
        [*centred([-1]), ("Sqrt", ["x1_real"], "root", {}), ("Div", ["centred", "root"], "y", {})],
        [(4, 6, 16), (4, 6, 1)], [0.03, 0.02], (0.05, 3), {}, zero_points=[3, -128], inputs=spread)
    yield "rms_norm", *written_out([("RMSNormalization", ["x0_real", "g"], "y", dict(axis=-1))], [(1, 6, 48)], [0.03], (0.03, 4), dict(g=1 + random(48) / 3), opset=23, inputs=rows)
    yield "rms_norm_axes", *written_out([("RMSNormalization", ["x0_real", "g"], "y", dict(axis=1))], [(2, 4, 9)], [0.02], (0.02, -1), dict(g=random(4, 9)), opset=23, zero_points=[-120])
    yield "group_norm_of_channels", *written_out([("GroupNormalization", ["x0_real", "g", "b"], "y", dict(num_groups=3))], [(2, 6, 4, 5)], [0.03], (0.04, 6), dict(g=1 + random(6) / 3, b=random(6)), opset=21)
    yield "group_norm_line", *written_out([("GroupNormalization", ["x0_real", "g", "b"], "y", dict(num_groups=2))], [(1, 4, 20)], [0.03], (0.03, 6), dict(g=np.ones(4, f), b=np.zeros(4, f)), opset=21)


def masked_cases():
    f = np.float32
    mask = np.tril(np.ones((5, 5), bool))
    yield "where_mask", *written_out([("Where", ["mask", "x0_real", "least"], "y", {})], [(1, 2, 5, 5)], [0.03], (0.05, 4), dict(mask=mask, least=f(-1e4)))
    yield "where_mask_first", *written_out([("Where", ["mask", "some", "x0_real"], "y", {})], [(1, 2, 5, 5)], [0.03], (0.03, 3), dict(mask=mask, some=f(0.7)))
    yield "prelu_slopes", *written_out([("PRelu", ["x0_real", "slopes"], "y", {})], [(1, 6, 4, 5)], [0.03], (0.03, -20), dict(slopes=(random(6, 1, 1) / 4).astype(f)))
    yield "prelu_one_slope", *written_out([("PRelu", ["x0_real", "slopes"], "y", {})], [(1, 6, 4, 5)], [0.03], (0.02, -20), dict(slopes=np.full((6, 1, 1), 0.25, f)))


def function_cases():
    """What a quantiser leaves in floats: functions that it does not know, and the averages of them."""
    f = np.float32
    x = RNG.integers(-128, 128, (1, 6, 8, 9)).astype(np.int8)
    yield "elu_average", *written_out(
        [("Elu", ["x0_real"], "elu", {}), ("AveragePool", ["elu"], "y", dict(kernel_shape=[2, 3], strides=[2, 3]))], [(1, 6, 8, 9)], [0.04], (0.02, -40), {}, inputs=[x])
    yield "hard_swish_mean", *written_out(
        [("HardSwish", ["x0_real"], "swish", {}), ("GlobalAveragePool", ["swish"], "y", {})], [(1, 6, 8, 9)], [0.05], (0.015, -100), {}, inputs=[x])
    yield "gelu_written_mean", *written_out(
        [("Div", ["x0_real", "root"], "part", {}), ("Erf", ["part"], "erf", {}), ("Add", ["erf", "one"], "sum", {}), ("Mul", ["x0_real", "sum"], "both", {}),
         ("Mul", ["both", "half"], "gelu", {}), ("ReduceMean", ["gelu"], "y", dict(axes=[2]))],
        [(1, 6, 8, 9)], [0.04], (0.01, -90), dict(root=f(2 ** 0.5), one=f(1), half=f(0.5)), inputs=[x])


def place_cases():
    """Places that only the running model knows."""
    f = np.float32
    yield "max_unpool", *written_out(
        [("MaxPool", ["x0_real"], ["pooled", "places"], dict(kernel_shape=[2, 2], strides=[2, 2])), ("MaxUnpool", ["pooled", "places"], "y", dict(kernel_shape=[2, 2], strides=[2, 2]))],
        [(2, 3, 6, 8)], [0.03], (0.03, 5), {}, zero_points=[5])
    yield "max_pool_places", *written_out(
        [("MaxPool", ["x0_real"], ["pooled", "places"], dict(kernel_shape=[3, 2], strides=[1, 2], pads=[1, 0, 1, 1])), ("Cast", ["places"], "y", dict(to=1))],
        [(2, 2, 5, 6)], [0.03], (1.0, -128), {})
    yield "scatter_many_rows", *written_out(
        [("Floor", ["x0_real"], "floor", {}), ("Cast", ["floor"], "places", dict(to=7)), ("ScatterND", ["table", "places", "x1_real"], "y", {})],
        [(300, 1), (300, 4)], [1.0, 0.02], (0.02, 3), dict(table=np.zeros((128, 4), f)), zero_points=[-128, 3],
        inputs=[RNG.integers(-128, 0, (300, 1)).astype(np.int8), RNG.integers(-128, 128, (300, 4)).astype(np.int8)])
    yield "scatter_adds_rows", *written_out(
        [("Cast", ["x0_real"], "places", dict(to=7)), ("ScatterND", ["table", "places", "x1_real"], "y", dict(reduction="add"))],
        [(300, 1), (300, 2)], [1.0, 0.02], (0.1, 0), dict(table=random(20, 2)), zero_points=[0, 0], opset=18,
        inputs=[RNG.integers(-20, 20, (300, 1)).astype(np.int8), RNG.integers(-20, 20, (300, 2)).astype(np.int8)])


def head_cases():
    f = np.float32
    heads = RNG.integers(-127, 128, (1, 3, 6, 9)).astype(np.int8)
    yield "matmul_scales_of_heads", *written_out(
        [("DequantizeLinear", ["w", "w_scale", "w_zero"], "w_real", dict(axis=1)), ("MatMul", ["x0_real", "w_real"], "y", {})],
        [(1, 3, 5, 6)], [0.03], (0.1, 4), dict(w=heads, w_scale=np.array([0.01, 0.003, 0.02], f), w_zero=np.zeros(3, np.int8)))
    x = RNG.integers(-128, 128, (1, 2, 6, 5)).astype(np.int8)
    yield "equal_to_the_largest", *written_out(
        [("MaxPool", ["x0_real"], "pooled", dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1])), ("QuantizeLinear", ["pooled", "x0_scale", "x0_zero"], "pooled_q", {}),
         ("DequantizeLinear", ["pooled_q", "x0_scale", "x0_zero"], "pooled_real", {}), ("Equal", ["x0_real", "pooled_real"], "here", {}),
         ("Cast", ["here"], "y", dict(to=1))], [(1, 2, 6, 5)], [0.03], (1 / 255, -128), {}, inputs=[x])
    for name, kind, number in (("where_less", "Less", 0.31), ("where_equal", "Equal", 0.3), ("where_greater", "GreaterOrEqual", 0.3)):
        yield name, *written_out(
            [(kind, ["x1_real", "number"], "here", {}), ("Where", ["here", "x0_real", "least"], "y", {})], [(1, 2, 6, 5), (1, 1, 6, 5)], [0.03, 0.1],
            (0.04, 10), dict(number=f(number), least=f(-1e9)))


def average_cases():
    """An average that a quantiser leaves in floats, and what is taken off it."""
    for name, kind, axes in (("average_less_square", "Sub", [2]), ("average_and_more", "Add", [1, 2])):
        yield name, *written_out([("ReduceMean", ["x0_real"], "average", dict(axes=axes)), (kind, ["average", "x1_real"], "y", {})],
                                 [(1, 6, 48), (1, 6 if axes == [2] else 1, 1)], [0.05, 0.02], (0.02, -40), {})


def far_zero_cases():
    """Sums that would show a zero point counted once more."""
    yield "cumsum_far_zero", Case("CumSum", [(3, 11)], [0.02], (0.12, 20), zero_points=[-100], constants={"axis": np.int64(1)})
    yield "cumsum_far_zero_u8", Case("CumSum", [(9, 2)], [0.02], (0.12, -60), zero_points=[110], data=np.uint8,
                                     constants={"axis": np.int64(0)}, exclusive=1)


def grouped_cases():
    """Transposed convolutions whose channels do not meet."""
    for name, shape, strides, more in (("", (1, 6, 5, 4), [2, 2], dict(pads=[1, 1, 1, 1], output_padding=[1, 0])),
                                       ("_by_three", (2, 5, 3, 4), [3, 3], {}), ("_line", (1, 4, 9), [2], dict(pads=[1, 0]))):
        channels, kernel = shape[1], [4, 3][:len(strides)]
        yield f"conv_transpose_depthwise{name}", Case("ConvTranspose", [shape], [0.03], (0.06, 4), weights=[(random(channels, 1, *kernel), 1)],
                                                      bias=random(channels), group=channels, strides=strides, **more)
    yield "conv_transpose_groups", Case("ConvTranspose", [(1, 6, 4, 5)], [0.03], (0.1, 4), weights=[(random(6, 2, 3, 3), None)], bias=random(4),
                                        group=2, strides=[2, 1])
    yield "cumsum_thirds", Case("CumSum", [(30, 12)], [0.02], (0.06, 4), constants={"axis": np.int64(1)})


def word_cases():
    """Functions of 16 bits. Results leave the range of those that are no more than part of the function."""
    def words(kind, scale, step, **attributes):
        return Case(kind, [(600,)], [scale / 32767], (step / 32767, 0), zero_points=[0], data=np.int16, **attributes)

    yield "words_sigmoid", words("Sigmoid", 7, 0.93)
    yield "words_erf", words("Erf", 4, 1)
    yield "words_elu", words("Elu", 3, 2.5)
    yield "words_softplus", words("Softplus", 6, 6)
    yield "words_sin", words("Sin", 5, 1)
    yield "words_hard_sigmoid", words("HardSigmoid", 9, 1, alpha=1 / 6, beta=0.5)
    yield "words_hard_sigmoid_aside", words("HardSigmoid", 9, 1.4, alpha=0.3, beta=0.2)
    yield "words_elu_steep", words("Elu", 300, 300)
    # Of the last inputs the results are beyond 16 bits: the line that gets there goes on.
    yield "words_exp", words("Exp", 4, 54)
    yield "words_gelu", words("Gelu", 3, 2.99)


def write(folder, model, inputs):
    folder.mkdir(parents=True, exist_ok=True)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    result = session.run(None, {f"x{i}": x for i, x in enumerate(inputs)})[0]
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for i, x in enumerate(inputs):
        (folder / f"in{i}.bin").write_bytes(x.tobytes())
    (folder / "out0.bin").write_bytes(result.tobytes())


def average_of_average_cases():
    """Behind all others: averages of averages."""
    # As x.mean(3).mean(2) and with the axes kept.
    yield "mean_of_means", *written_out([("ReduceMean", ["x0_real"], "rows", dict(axes=[3], keepdims=0)), ("ReduceMean", ["rows"], "y", dict(axes=[2], keepdims=0))], [(1, 6, 5, 7)], [0.03], (0.021, -9), {})
    yield "mean_of_means_kept", *written_out([("ReduceMean", ["x0_real"], "columns", dict(axes=[2])), ("ReduceMean", ["columns"], "y", dict(axes=[3]))], [(1, 6, 5, 7)], [0.03], (0.021, -9), {})


def main():
    root = pathlib.Path(sys.argv[1])
    for name, case in cases():
        model = case.model()
        # An operand that is left out has a name of no characters and no values.
        kept = [c for c in model.graph.initializer if c.name]
        del model.graph.initializer[:]
        model.graph.initializer.extend(kept)
        write(root / name, model, case.inputs)
    for name, model, inputs in qlinear_cases():
        write(root / name, model, inputs)
    for name, case in later_cases():
        write(root / name, case.model(), case.inputs)
    for name, model, inputs in wide_weight_cases():
        write(root / name, model, inputs)
    for name, case in [*normalisation_cases(), *row_normalisation_cases()]:
        write(root / name, case.model(), case.inputs)
    for name, model, inputs in [*written_norm_cases(), *masked_cases(), *function_cases(), *place_cases(), *head_cases(), *average_cases()]:
        write(root / name, model, inputs)
    for name, case in [*far_zero_cases(), *grouped_cases(), *word_cases()]:
        write(root / name, case.model(), case.inputs)
    for name, model, inputs in average_of_average_cases():
        write(root / name, model, inputs)


if __name__ == "__main__":
    main()
