"""Limits of quantised values, powers of whole numbers, and corners that stay where they are."""
import numpy as np
from onnx import helper


def cases(layers):
    def clip_between_bytes():
        """What limits lie between is on coarse steps, the result on fine ones."""
        made = layers.Case("Clip", [4 * layers.random(3, 40)], ["q"])
        for name, value in (("s", np.float32(0.11)), ("z", np.int8(-3)), ("least", np.float32(-0.6)), ("most", np.float32(0.93)),
                            ("t", np.float32(0.0061)), ("w", np.int8(-20))):
            made.constants.append((name, value))
        made.nodes = [helper.make_node("QuantizeLinear", ["x0", "s", "z"], ["b"]), helper.make_node("DequantizeLinear", ["b", "s", "z"], ["r"]),
                      helper.make_node("Clip", ["r", "least", "most"], ["c"], name="layer"),
                      helper.make_node("QuantizeLinear", ["c", "t", "w"], ["q"])]
        return made

    def column_beside_bytes():
        """As many rows as columns, and a number for each row."""
        made = layers.Case("Gemm", [layers.random(5, 7)], ["q"])
        made.constants += [("s", np.float32(0.02)), ("z", np.int8(0)), ("w", layers.RNG.integers(-127, 128, (5, 7)).astype(np.int8)),
                           ("c", 2 * layers.random(5, 1)), ("t", np.float32(0.08)), ("n", np.int8(-5))]
        made.nodes = [helper.make_node("QuantizeLinear", ["x0", "s", "z"], ["b"]), helper.make_node("DequantizeLinear", ["b", "s", "z"], ["r"]),
                      helper.make_node("DequantizeLinear", ["w", "s", "z"], ["v"]),
                      helper.make_node("Gemm", ["r", "v", "c"], ["y"], name="layer", transB=1),
                      helper.make_node("QuantizeLinear", ["y", "t", "n"], ["q"])]
        return made

    def corners(scales, mode):
        return layers.Case("Resize", [layers.random(1, 2, 5, 4), None, np.float32([1, 1, *scales])], ["y"], opset=19, mode=mode,
                           coordinate_transformation_mode="align_corners")

    def nearest_of_tf(size):
        # As tf2onnx writes TensorFlow's resizing to the nearest pixel.
        return layers.Case("Resize", [layers.random(1, 2, 5, 6), np.float32([]), np.float32([]), np.int64([1, 2, *size])], ["y"], opset=11,
                           mode="nearest", coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor")

    return {
        "clip_between_bytes": clip_between_bytes,
        "column_beside_bytes": column_beside_bytes,
        "pow_of_whole_numbers": lambda: layers.Case("Pow", [np.int64([[-3, 0, 2], [1, 5, -2]]), np.int64(11)], ["i"]),
        "resize_nearest_of_tf": lambda: nearest_of_tf((3, 9)),
        "resize_nearest_of_tf_doubled": lambda: nearest_of_tf((10, 12)),
        "einsum_masks": lambda: layers.Case("Einsum", [layers.RNG.integers(0, 2, (2, 3, 4)), layers.RNG.integers(-5, 9, (2, 3, 5))], ["i"],
                                            given=2, equation="blq,blk->blqk"),
        "resize_corners_of_fractions": lambda: corners([1.7, 0.6], "linear"),
        "resize_cubic_corners_of_fractions": lambda: corners([1.7, 1.3], "cubic"),
    }
