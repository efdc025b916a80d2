// The functions that read one operator each, by families: what convert_*.cpp define.
#pragma once

namespace intarsia::onnx {

class Reader;

void read_arg(Reader& in);
void read_attention(Reader& in);
void read_batch_normalization(Reader& in);
void read_binary(Reader& in);
void read_cast(Reader& in);
void read_cast_like(Reader& in);
void read_center_crop_pad(Reader& in);
void read_clip(Reader& in);
void read_composed(Reader& in);
void read_compress(Reader& in);
void read_concat(Reader& in);
void read_constant_of_shape(Reader& in);
void read_conv(Reader& in);
void read_conv_integer(Reader& in);
void read_conv_transpose(Reader& in);
void read_cumsum(Reader& in);
void read_depth_to_space(Reader& in);
void read_dequantize(Reader& in);
void read_dynamic_quantize(Reader& in);
void read_einsum(Reader& in);
void read_expand(Reader& in);
void read_eye_like(Reader& in);
void read_flatten(Reader& in);
void read_gather(Reader& in);
void read_gather_elements(Reader& in);
void read_gather_nd(Reader& in);
void read_gemm(Reader& in);
void read_global_pool(Reader& in);
void read_group_normalization(Reader& in);
void read_grid_sample(Reader& in);
void read_hardmax(Reader& in);
void read_identity(Reader& in);
void read_if(Reader& in);
void read_instance_normalization(Reader& in);
void read_inverse_trigonometric(Reader& in);
void read_is_inf(Reader& in);
void read_is_nan(Reader& in);
void read_layer_normalization(Reader& in);
void read_leaky_relu(Reader& in);
void read_gelu(Reader& in);
void read_lp_normalization(Reader& in);
void read_lrn(Reader& in);
void read_matmul(Reader& in);
void read_matmul_integer(Reader& in);
void read_mean_variance_normalization(Reader& in);
void read_one_hot(Reader& in);
void read_pad(Reader& in);
void read_pool(Reader& in);
void read_prelu(Reader& in);
void read_quantize(Reader& in);
void read_range(Reader& in);
void read_recurrent(Reader& in);
void read_reduce(Reader& in);
void read_relu(Reader& in);
void read_reshape(Reader& in);
void read_resize(Reader& in);
void read_reverse_sequence(Reader& in);
void read_rms_normalization(Reader& in);
void read_rotary_embedding(Reader& in);
void read_scatter_elements(Reader& in);
void read_scatter_nd(Reader& in);
void read_shape(Reader& in);
void read_size(Reader& in);
void read_slice(Reader& in);
void read_softmax(Reader& in);
void read_space_to_depth(Reader& in);
void read_split(Reader& in);
void read_squeeze(Reader& in);
void read_tile(Reader& in);
void read_top_k(Reader& in);
void read_transpose(Reader& in);
void read_trigonometric(Reader& in);
void read_trilu(Reader& in);
void read_unary(Reader& in);
void read_unsqueeze(Reader& in);
void read_variadic(Reader& in);
void read_where(Reader& in);

}  // namespace intarsia::onnx
