// The families of the portable lowering. Each operator has a function that says why it is refused
// (null: it is taken) and one that writes its leaf function: declares operands, returns the body.
#pragma once

#include <optional>
#include <string>

#include "standard_lowering/op_lowering.h"

namespace intarsia::standard_lowering {

using Refusal = std::optional<std::string>;

Refusal refuses_conv2d(const OpView& view);
Refusal refuses_depthwise_conv2d(const OpView& view);
Refusal refuses_fully_connected(const OpView& view);
Refusal refuses_pool(const OpView& view);
Refusal refuses_binary(const OpView& view);
Refusal refuses_relu(const OpView& view);
Refusal refuses_quantize(const OpView& view);
Refusal refuses_dequantize(const OpView& view);
Refusal refuses_softmax(const OpView& view);
Refusal refuses_reduce(const OpView& view);
Refusal refuses_transpose_conv2d(const OpView& view);
Refusal refuses_minimum_maximum(const OpView& view);
Refusal refuses_squared_difference(const OpView& view);
Refusal refuses_comparison(const OpView& view);
Refusal refuses_logical(const OpView& view);
Refusal refuses_select(const OpView& view);
Refusal refuses_prelu(const OpView& view);
Refusal refuses_unary(const OpView& view);
Refusal refuses_cast(const OpView& view);
Refusal refuses_move(const OpView& view);
Refusal refuses_pad_v2(const OpView& view);
Refusal refuses_gather(const OpView& view);
Refusal refuses_resize(const OpView& view);
Refusal refuses_batch_matmul(const OpView& view);
Refusal refuses_arg(const OpView& view);
Refusal refuses_log_softmax(const OpView& view);
Refusal refuses_l2_normalization(const OpView& view);
Refusal refuses_svdf(const OpView& view);
Refusal refuses_lstm(const OpView& view);
Refusal refuses_pad(const OpView& view);
Refusal refuses_l2_pool(const OpView& view);
Refusal refuses_add_n(const OpView& view);
Refusal refuses_cumsum(const OpView& view);
Refusal refuses_float_pair(const OpView& view);
Refusal refuses_dynamic_update_slice(const OpView& view);

Stmt lower_conv2d(OpLowering& op);
Stmt lower_depthwise_conv2d(OpLowering& op);
Stmt lower_fully_connected(OpLowering& op);
Stmt lower_average_pool2d(OpLowering& op);
Stmt lower_max_pool2d(OpLowering& op);
Stmt lower_sum(OpLowering& op);  // add, sub
Stmt lower_div(OpLowering& op);
Stmt lower_mul(OpLowering& op);
Stmt lower_relu(OpLowering& op);
Stmt lower_quantize(OpLowering& op);
Stmt lower_dequantize(OpLowering& op);
Stmt lower_softmax(OpLowering& op);
Stmt lower_reduce(OpLowering& op);
Stmt lower_transpose_conv2d(OpLowering& op);
Stmt lower_minimum_maximum(OpLowering& op);
Stmt lower_squared_difference(OpLowering& op);
Stmt lower_comparison(OpLowering& op);
Stmt lower_logical(OpLowering& op);
Stmt lower_select(OpLowering& op);
Stmt lower_prelu(OpLowering& op);
Stmt lower_unary(OpLowering& op);
Stmt lower_cast(OpLowering& op);
Stmt lower_pad_v2(OpLowering& op);
Stmt lower_mirror_pad(OpLowering& op);
Stmt lower_concat(OpLowering& op);  // and pack
Stmt lower_split(OpLowering& op);   // and unpack
Stmt lower_slice(OpLowering& op);
Stmt lower_transpose(OpLowering& op);
Stmt lower_space_depth(OpLowering& op);
Stmt lower_batch_space(OpLowering& op);
Stmt lower_gather(OpLowering& op);
Stmt lower_resize_nearest(OpLowering& op);
Stmt lower_resize_bilinear(OpLowering& op);
Stmt lower_batch_matmul(OpLowering& op);
Stmt lower_arg(OpLowering& op);
Stmt lower_log_softmax(OpLowering& op);
Stmt lower_l2_normalization(OpLowering& op);
Stmt lower_svdf(OpLowering& op);
Stmt lower_lstm(OpLowering& op);
Stmt lower_pad(OpLowering& op);
Stmt lower_l2_pool2d(OpLowering& op);
Stmt lower_add_n(OpLowering& op);
Stmt lower_cumsum(OpLowering& op);
Stmt lower_float_pair(OpLowering& op);  // pow, floor_div, floor_mod
Stmt lower_broadcast_to(OpLowering& op);
Stmt lower_tile(OpLowering& op);
Stmt lower_gather_nd(OpLowering& op);
Stmt lower_dynamic_update_slice(OpLowering& op);
Stmt lower_copy(OpLowering& op);  // a reshape whose bytes must move

// What the table of int16 sigmoids multiplies its argument by: multiplier / 2^shift.
struct SigmoidScaling {
  int32_t multiplier, shift;
};
SigmoidScaling sigmoid_scaling(double input_scale, bool is_tanh);

// ---- what refusals share ------------------------------------------------------------------------

// The types of the operands that are present must be these, e.g. {Int8, Int8, Int32} -> Int8.
// "operand types i16, i8, i64 -> i16" when none of the allowed combinations fits.
struct TypeCombination {
  std::vector<DataType> inputs;
  DataType output;
};
Refusal refuses_types(const OpView& view, const std::vector<TypeCombination>& allowed);
// Integer tensors of the operator must carry one scale; `per_channel_weights` excepts input 1.
Refusal refuses_quantization(const OpView& view, bool per_channel_weights = false);

}  // namespace intarsia::standard_lowering
