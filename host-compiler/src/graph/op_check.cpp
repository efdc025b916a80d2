#include "graph/op_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace intarsia::graph {
namespace {

struct OperandCounts {
  size_t least, most, outputs;
};

OperandCounts operand_counts(OpKind kind) {
  switch (kind) {
#define OP(name, text, attrs, least, most, outputs) \
  case OpKind::name:                                \
    return {least, most, outputs};
#include "intarsia/graph/op_kinds.def"
#undef OP
  }
  return {0, 0, 0};
}

// Operands of the kinds that take one more than they need, the biases of recurrent layers, and the constants of
// what is compiled already.
bool may_be_absent(OpKind kind, size_t operand) {
  if (kind == OpKind::Svdf) return operand == 3;
  const bool is_hybrid = kind == OpKind::HybridConv2d || kind == OpKind::HybridDepthwiseConv2d ||
                         kind == OpKind::HybridFullyConnected;
  if (is_hybrid) return operand == 2;
  if (kind == OpKind::Compiled) return operand == 1;
  if (kind == OpKind::Recurrent) return operand >= 3;
  const OperandCounts counts = operand_counts(kind);
  return kind != OpKind::Call && operand >= counts.least && counts.most == counts.least + 1;
}

std::string rule_text(const TypeRule& rule) {
  std::vector<std::string_view> inputs;
  for (size_t i = 0; i < rule.inputs(); ++i) inputs.push_back(to_string(rule.input(i)));
  return fmt::format("{} -> {}", fmt::join(inputs, ", "), to_string(rule.output()));
}

}  // namespace

std::string place_of(const Function& function, const Node& node) {
  return fmt::format("function '{}': operator '{}' ({})", function.name, node.name,
                     to_string(node.kind));
}

std::string shape_problem(DataType type, const Shape& shape) {
  if (shape.size() > kMaxRank)
    return fmt::format("rank {} is more than {}", shape.size(), kMaxRank);
  int64_t most_elements = kMaxTensorBytes * 8 / bits(type);
  for (const int64_t extent : shape) {
    if (extent < 1) return fmt::format("extent {} is less than 1", extent);
    most_elements /= extent;
    if (most_elements == 0)
      return fmt::format("shape [{}] is more than {} bytes", fmt::join(shape, ","),
                         kMaxTensorBytes);
  }
  return {};
}

void OpCheck::fail(std::string what, std::string hint) {
  problems_.add(place_of(function, node), std::move(what), std::move(hint));
}

bool OpCheck::require(bool condition, std::string what, std::string hint) {
  if (!condition) fail(std::move(what), std::move(hint));
  return condition;
}

bool OpCheck::well_formed() {
  const OperandCounts counts = operand_counts(node.kind);
  const bool is_call = node.kind == OpKind::Call;
  if (node.inputs.size() < counts.least || node.inputs.size() > counts.most)
    fail(counts.least == counts.most
             ? fmt::format("has {} operands, needs {}", node.inputs.size(), counts.least)
             : fmt::format("has {} operands, needs {} to {}", node.inputs.size(), counts.least,
                           counts.most));
  constexpr size_t kAnyNumber = 1000;
  if (!is_call && counts.outputs != kAnyNumber && node.outputs.size() != counts.outputs)
    fail(fmt::format("has {} outputs, needs {}", node.outputs.size(), counts.outputs));
  if (!is_call && node.outputs.empty()) fail("has no outputs");
  require(node.attributes.index() == default_attributes(node.kind).index(),
          "carries the attributes of another operator");

  const auto operand = [&](TensorId id, const std::string& name) {
    if (id.index < 0 || id.at() >= function.tensors.size()) {
      fail(fmt::format("{} is tensor %{}, which does not exist", name, id.index));
      return;
    }
    const Tensor& tensor = function.tensor(id);
    const std::string problem = shape_problem(tensor.type, tensor.shape);
    if (!problem.empty()) fail(fmt::format("{} (tensor %{}): {}", name, id.index, problem));
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid() && may_be_absent(node.kind, i)) continue;
    if (node.inputs[i] == TensorId{}) {
      fail(fmt::format("operand {} is absent", i));
    } else {
      operand(node.inputs[i], fmt::format("operand {}", i));
    }
  }
  // The shape of an output may still be unknown: it is what inference is asked for.
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i].index < 0 || node.outputs[i].at() >= function.tensors.size())
      fail(fmt::format("output {} is tensor %{}, which does not exist", i, node.outputs[i].index));
  return ok();
}

bool OpCheck::rank(size_t operand, size_t expected, std::string_view name) {
  const size_t actual = in(operand).shape.size();
  return require(actual == expected,
                 fmt::format("the {} has rank {}, needs {}", name, actual, expected));
}

bool OpCheck::in_range(std::string_view attribute, int64_t value, int64_t least) {
  return require(value >= least && value <= kMostWindow,
                 fmt::format("{} {} is outside {} .. {}", attribute, value, least, kMostWindow));
}

std::string OpCheck::types_text() const {
  std::vector<std::string_view> inputs, outputs;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    inputs.push_back(has(i) ? to_string(in(i).type) : "_");
  for (size_t i = 0; i < node.outputs.size(); ++i) outputs.push_back(to_string(out(i).type));
  return fmt::format("{} -> {}", fmt::join(inputs, ", "), fmt::join(outputs, ", "));
}

bool OpCheck::types(std::span<const TypeRule> allowed) {
  const auto fits = [&](const TypeRule& rule) { return rule.fits(function, node); };
  if (std::any_of(allowed.begin(), allowed.end(), fits)) return true;
  std::vector<std::string> texts;
  for (const TypeRule& rule : allowed) texts.push_back(rule_text(rule));
  fail(fmt::format("has no arithmetic for the types {}", types_text()),
       fmt::format("it takes {}", fmt::join(texts, " | ")));
  return false;
}

bool OpCheck::per_tensor(const Tensor& tensor, std::string_view name, bool symmetric) {
  const Quantization& q = tensor.quantization;
  if (q.scale.size() != 1 || q.zero_point.size() != 1) {
    fail(q.present() ? fmt::format("the {} has a scale per channel, needs one scale", name)
                     : fmt::format("the {} is not quantised", name));
    return false;
  }
  return require(
      !symmetric || q.zero_point[0] == 0,
      fmt::format("the zero point of the {} is {}, needs to be 0", name, q.zero_point[0]));
}

bool OpCheck::factor(double value, int most_exponent) {
  constexpr double kFarApart = 1 << 16;
  if (value > 0 && value < std::ldexp(1.0, most_exponent)) return true;
  fail(fmt::format("the scales of its operands give the factor {:.3g}, which is outside 0 .. 2^{}",
                   value, most_exponent),
       value > 0 && value < kFarApart
           ? ""
           : "a scale that is far from the others stands where the converter has seen hardly "
             "anything but zeros: give it samples that the network will meet");
  return false;
}

}  // namespace intarsia::graph
