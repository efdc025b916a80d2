#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands.h"
#include "npu_kind.h"
#include "scaling.h"

namespace intarsia::targets::example_npu {
namespace {

using graph::OpKind;
using Reason = std::optional<std::string>;

int64_t most(std::string_view command, std::string_view field) {
  const FieldRow* row = find_field(command, field);
  INTARSIA_CHECK(row != nullptr, "fields are those of the table");
  return row->most();
}

Reason check_tensor(const char* role, const graph::Tensor& tensor) {
  if (tensor.type != DataType::Int8)
    return fmt::format("the {} is {}, the device computes i8", role, to_string(tensor.type));
  if (!tensor.quantization.present() || tensor.quantization.per_channel())
    return fmt::format("the {} has {} scales, the device takes one", role,
                       tensor.quantization.scale.size());
  return std::nullopt;
}

Reason check_activation(graph::Activation activation, const graph::Tensor& output) {
  if (!clamp_of(activation, output.quantization))
    return std::string("activation relu_n1_to_1; the device has none, relu and relu6");
  return std::nullopt;
}

Reason refuses_binary(const PatternMatch& match) {
  const graph::Tensor &a = match.input(0), &b = match.input(1), &out = match.output();
  if (Reason reason = check_tensor("first operand", a)) return reason;
  if (Reason reason = check_tensor("second operand", b)) return reason;
  if (Reason reason = check_tensor("output", out)) return reason;
  if (a.shape != b.shape)
    return fmt::format(
        "operands of shapes [{}] and [{}] need broadcasting, which the device does not do",
        fmt::join(a.shape, ","), fmt::join(b.shape, ","));
  if (a.constant.valid() && b.constant.valid()) return std::string("both operands are constants");
  const int64_t elements = element_count(out.shape);
  if (elements % kLanes != 0)
    return fmt::format("{} elements are not a multiple of {}", elements, kLanes);
  if (Reason reason = check_activation(match.node().attrs<graph::BinaryAttrs>().activation, out))
    return reason;
  if (match.node().kind == OpKind::Mul) {
    const int64_t shift = mul_factor(a, b, out).left_shift;
    if (shift > most("mul", "left_shift"))
      return fmt::format("the scales ask for a shift by {} bits, the device shifts by up to {}",
                         shift, most("mul", "left_shift"));
  } else if (add_factors(a, b, out).out.left_shift > 0) {
    return std::string("the output's scale is too small for the operands' scales");
  }
  return std::nullopt;
}

Reason refuses_max_pool(const PatternMatch& match) {
  const graph::Tensor &in = match.input(0), &out = match.output();
  const auto& attrs = match.node().attrs<graph::Pool2dAttrs>();
  if (Reason reason = check_tensor("input", in)) return reason;
  if (Reason reason = check_tensor("output", out)) return reason;
  if (in.constant.valid()) return std::string("the input is a constant");
  if (in.quantization != out.quantization)
    return std::string("input and output differ in quantisation");
  if (in.shape.at(3) % kLanes != 0)
    return fmt::format("{} channels are not a multiple of {}", in.shape.at(3), kLanes);
  const auto check = [](const char* what, int64_t value, const char* field) -> Reason {
    if (value <= most("max_pool", field)) return std::nullopt;
    return fmt::format("{} {} is above {}", what, value, most("max_pool", field));
  };
  if (Reason reason = check("filter height", attrs.filter_h, "filter_height")) return reason;
  if (Reason reason = check("filter width", attrs.filter_w, "filter_width")) return reason;
  if (Reason reason = check("stride", attrs.stride_h, "stride_height")) return reason;
  if (Reason reason = check("stride", attrs.stride_w, "stride_width")) return reason;
  if (Reason reason = check("input height", in.shape.at(1), "in_height")) return reason;
  if (Reason reason = check("input width", in.shape.at(2), "in_width")) return reason;
  if (Reason reason = check("vectors of channels", in.shape.at(3) / kLanes, "channel_vectors"))
    return reason;
  return check_activation(attrs.activation, out);
}

}  // namespace

std::vector<Pattern> patterns() {
  return {{"add", {OpKind::Add}, refuses_binary},
          {"mul", {OpKind::Mul}, refuses_binary},
          {"max_pool2d", {OpKind::MaxPool2d}, refuses_max_pool}};
}

}  // namespace intarsia::targets::example_npu
