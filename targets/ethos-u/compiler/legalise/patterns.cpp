#include "legalise/patterns.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "hardware/limits.h"
#include "legalise/confirmed.h"
#include "legalise/hard_swish_int16.h"
#include "legalise/operators.h"
#include "legalise/rsqrt_int16.h"

namespace intarsia::targets::ethos_u {
namespace {

using enum graph::OpKind;

// Operators, and the element types of the values they take.
constexpr unsigned kInt8 = 1, kInt16 = 2, kBoth = 3, kInt32In = 4;  // 32 bits: inputs only
constexpr unsigned kOwn = 8;        // the types are the rule's affair
constexpr unsigned kIndexOut = 16;  // the output has no scale; its type is the rule's affair
constexpr unsigned kUInt8 = 32;     // bytes without a sign, as models of images have at their edges
constexpr unsigned kVariable = 64;  // one of the values is the variable
struct Row {
  OperatorRule rule;
  unsigned types;
};
constexpr Row kRows[] = {
    {{Conv2d, refuses_conv2d, legalise_conv2d}, kBoth},
    {{DepthwiseConv2d, refuses_depthwise_conv2d, legalise_depthwise_conv2d}, kBoth},
    {{FullyConnected, refuses_fully_connected, legalise_fully_connected}, kBoth},
    {{MaxPool2d, refuses_max_pool2d, legalise_max_pool2d}, kBoth},
    {{AveragePool2d, refuses_average_pool2d, legalise_average_pool2d}, kBoth},
    {{Mean, refuses_sum, legalise_sum}, kBoth},
    {{Sum, refuses_sum, legalise_sum}, kBoth},
    {{Add, refuses_add, legalise_add}, kBoth},
    {{Mul, refuses_mul, legalise_mul}, kBoth},
    {{Relu, refuses_rescale, legalise_relu}, kBoth},
    {{Quantize, refuses_quantize, legalise_quantize}, kBoth | kInt32In | kUInt8},
    {{Softmax, refuses_softmax, legalise_softmax}, kBoth},
    {{LogSoftmax, refuses_log_softmax, legalise_log_softmax}, kInt8},
    {{L2Normalization, refuses_l2_normalization, legalise_l2_normalization}, kInt8},
    {{Reshape, refuses_reshape, legalise_reshape}, kBoth},
    {{Pad, refuses_pad, legalise_pad}, kBoth},
    {{PadV2, refuses_pad, legalise_pad}, kBoth},
    {{Transpose, refuses_transpose, legalise_transpose}, kBoth},
    {{ReduceMax, refuses_extreme, legalise_extreme}, kBoth},
    {{ReduceMin, refuses_extreme, legalise_extreme}, kBoth},
    {{TransposeConv2d, refuses_transpose_conv2d, legalise_transpose_conv2d}, kBoth},
    {{Sub, refuses_sub, legalise_sub}, kBoth},
    {{Minimum, refuses_extremum, legalise_minimum}, kBoth},
    {{Maximum, refuses_extremum, legalise_maximum}, kBoth},
    {{LeakyRelu, refuses_leaky_relu, legalise_leaky_relu}, kBoth},
    {{Prelu, refuses_prelu, legalise_prelu}, kBoth},
    {{Logistic, refuses_sigmoid, legalise_sigmoid}, kBoth},
    {{Tanh, refuses_sigmoid, legalise_sigmoid}, kBoth},
    {{HardSwish, refuses_hard_swish, legalise_hard_swish}, kBoth},
    {{Elu, refuses_table, legalise_table}, kInt8},
    {{Gelu, refuses_table, legalise_table}, kBoth},
    {{Lookup, refuses_lookup, legalise_lookup}, kBoth | kUInt8},
    {{Exp, refuses_table, legalise_table}, kBoth},
    {{Log, refuses_table, legalise_table}, kBoth},
    {{Abs, refuses_abs, legalise_abs}, kBoth},
    {{Sqrt, refuses_table, legalise_table}, kInt8},
    {{Rsqrt, refuses_rsqrt, legalise_rsqrt}, kBoth},
    {{Concat, refuses_parts, legalise_parts}, kBoth},
    {{Pack, refuses_parts, legalise_parts}, kBoth},
    {{Split, refuses_parts, legalise_parts}, kBoth},
    {{Unpack, refuses_parts, legalise_parts}, kBoth},
    {{Slice, refuses_parts, legalise_parts}, kBoth},
    {{ResizeNearest, refuses_resize, legalise_resize}, kBoth},
    {{ResizeBilinear, refuses_resize, legalise_resize}, kBoth},
    {{SpaceToDepth, refuses_blocks, legalise_blocks}, kBoth},
    {{DepthToSpace, refuses_blocks, legalise_blocks}, kBoth},
    {{MirrorPad, refuses_mirror_pad, legalise_mirror_pad}, kBoth},
    {{Gather, refuses_pick, legalise_pick}, kBoth},
    {{Tile, refuses_repeat, legalise_repeat}, kBoth},
    {{BroadcastTo, refuses_repeat, legalise_repeat}, kBoth},
    {{BatchMatmul, refuses_batch_matmul, legalise_batch_matmul}, kBoth},
    {{SquaredDifference, refuses_squared_difference, legalise_squared_difference}, kBoth},
    {{Div, refuses_div, legalise_div}, kBoth},
    {{ReadVariable, refuses_variable, legalise_reshape}, kBoth | kVariable},
    {{AssignVariable, refuses_variable, legalise_assign}, kBoth | kVariable},
    {{Svdf, refuses_state, never}, kOwn},
    {{Lstm, refuses_lstm, legalise_lstm}, kOwn},
    {{ArgMax, refuses_arg_extreme, legalise_arg_extreme}, kInt8 | kIndexOut},
    {{ArgMin, refuses_arg_extreme, legalise_arg_extreme}, kInt8 | kIndexOut},
};

const Row* find_row(graph::OpKind kind) {
  const auto found = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const Row& row) { return row.rule.kind == kind; });
  return found == std::end(kRows) ? nullptr : found;
}

// What the operator computes with and computes; weights and bias are its rule's affair.
Reason check_value(const char* role, const graph::Tensor& tensor, unsigned types) {
  const bool known = (tensor.type == DataType::Int8 && (types & kInt8) != 0) ||
                     (tensor.type == DataType::Int16 && (types & kInt16) != 0) ||
                     (tensor.type == DataType::UInt8 && (types & kUInt8) != 0) ||
                     (tensor.type == DataType::Int32 && (types & kInt32In) != 0);
  if (!known)
    return fmt::format("the {} is {}, the NPU takes {} here", role, to_string(tensor.type),
                       (types & kBoth) == kBoth ? "i8 and i16"
                       : (types & kInt8) != 0   ? "i8"
                                                : "i16");
  if (!tensor.quantization.present())
    return fmt::format("the {} is plain numbers without a scale, the NPU takes quantised ones",
                       role);
  if (tensor.quantization.per_channel())
    return fmt::format("the {} has {} scales, the NPU takes one", role,
                       tensor.quantization.scale.size());
  if (tensor.variable && (types & kVariable) == 0)
    return fmt::format("the {} is state, which the host keeps between invocations", role);
  const Shape& shape = tensor.shape;
  int64_t height = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t extent = i + 2 < shape.size() ? height *= shape[i] : shape[i];
    if (extent > kMostExtent)
      return fmt::format("the {} has an extent of {}, above {}", role, extent, kMostExtent);
  }
  return std::nullopt;
}

bool is_weighted(graph::OpKind kind) {
  return kind == Conv2d || kind == DepthwiseConv2d || kind == FullyConnected ||
         kind == TransposeConv2d;
}

}  // namespace

const OperatorRule* find_rule(graph::OpKind kind) {
  const Row* row = find_row(kind);
  return row == nullptr ? nullptr : &row->rule;
}

Reason refuses(const Site& site) {
  const Row* row = find_row(site.node.kind);
  INTARSIA_CHECK(row != nullptr, "only operators with a rule are asked about");
  if (row->types == kOwn) return row->rule.refuses(site);
  const bool is_one = is_weighted(site.node.kind) || site.node.kind == graph::OpKind::Gather;
  const size_t values = is_one ? 1 : site.node.inputs.size();
  for (size_t i = 0; i < values; ++i) {
    if (!site.has(i)) continue;
    const char* role = site.node.inputs.size() == 1 || is_one
                           ? "input"
                           : std::array{"first operand", "second operand"}[std::min<size_t>(i, 1)];
    if (Reason reason = check_value(role, site.in(i), row->types & ~kIndexOut)) return reason;
  }
  for (const graph::TensorId id : site.node.outputs) {
    if ((row->types & kIndexOut) != 0) continue;
    if (Reason reason = check_value("output", site.function.tensor(id),
                                    row->types & (kBoth | kUInt8 | kVariable)))
      return reason;
  }
  if (values == 1 && site.in(0).constant.valid()) return std::string("the input is constant");
  return row->rule.refuses(site);
}

std::vector<Pattern> patterns(bool confirmed_only) {
  std::vector<Pattern> result;
  for (const Row& row : kRows)
    result.push_back({std::string(to_string(row.rule.kind)),
                      {row.rule.kind},
                      [confirmed_only](const PatternMatch& match) {
                        const Site site{match.module, match.function, match.node()};
                        Reason reason = refuses(site);
                        return reason || !confirmed_only ? reason : refuses_unconfirmed(site);
                      }});
  return result;
}

}  // namespace intarsia::targets::ethos_u
