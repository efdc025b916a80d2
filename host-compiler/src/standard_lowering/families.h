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
Refusal refuses_mean(const OpView& view);
Refusal refuses_pad(const OpView& view);

Stmt lower_conv2d(OpLowering& op);
Stmt lower_depthwise_conv2d(OpLowering& op);
Stmt lower_fully_connected(OpLowering& op);
Stmt lower_average_pool2d(OpLowering& op);
Stmt lower_max_pool2d(OpLowering& op);
Stmt lower_add(OpLowering& op);
Stmt lower_mul(OpLowering& op);
Stmt lower_relu(OpLowering& op);
Stmt lower_quantize(OpLowering& op);
Stmt lower_dequantize(OpLowering& op);
Stmt lower_softmax(OpLowering& op);
Stmt lower_mean(OpLowering& op);
Stmt lower_pad(OpLowering& op);
Stmt lower_copy(OpLowering& op);  // a reshape whose bytes must move

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
