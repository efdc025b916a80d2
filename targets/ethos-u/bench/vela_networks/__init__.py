"""Small networks by their names: NETWORKS[name] is a function of tensors, the shapes of its inputs, and its bits."""
from vela_networks import deployed, faults, operators, regions  # noqa: F401  (they register themselves)
from vela_networks.registered import NETWORKS

# The same in 16 bits for some.
for name in ("cpu_between", "kept_over_cpu", "bilinear_2", "mirror_pad_reflect", "strided_slice", "transpose_conv_3_stride_2_same",
             "concat_two_writers", "fault_softmax", "arithmetic", "unary", "means", "softmaxes", "dilated_1d", "mlp", "pools", "residuals",
             "style_transfer", "decoder", "conv_leaky_relu", "conv_leaky_relu_above_1",
             "conv_leaky_relu_negative", "prelu_layer", "axis_1", "axis_3", "mean_wide", "slices_many", "splits",
             "concats", "pack_unpack", "batch_matmul", "batch_matmul_adj_y", "batch_matmul_heads", "multi_head_attention", "attention",
             "nearest_10_12", "nearest_20_24_half_pixel", "bilinear_to_7_9", "bilinear_to_10_24_half_pixel", "depthwise_kinds",
             "convolutions_1d", "heavy_weights", "heavy_dense", "pools_more", "arithmetic_more", "broadcast_constants", "squeeze_excite",
             "transposes", "depth_to_space", "transpose_conv_2_stride_2_same", "layer_norm", "reshapes", "rsqrt", "exp", "squared_difference", "fault_max"):
    made, shapes, _ = NETWORKS[name]
    NETWORKS[name + "_s16"] = (made, shapes, 16)

# With uint8 at their edges.
for name in ("cascade", "squeeze_excite", "strided_slice", "mirror_pad_alone", "arithmetic", "pools", "softmaxes", "prelu_layer", "concats"):
    made, shapes, _ = NETWORKS[name]
    NETWORKS[name + "_u8"] = (made, shapes, "u8")
