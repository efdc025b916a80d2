// The text form of a module:
//
//   intarsia.graph kws
//   const @0 bias = i32[12, -7]
//   const @1 weights = x"0a0b..."
//   func @main(%0) -> (%3) [target=npu, pin=npu] {
//     %0 input: i8[1,8,8,1] q(0.5:-3)
//     %1 w: i8[2,3,3,1] q(axis=0; 0.01, 0.02) = @1
//     %2 b: i32[2] = @0
//     %3 output: i8[1,6,6,2] q(0.25:4)
//     conv2d conv_1(%0, %1, %2) -> (%3) {activation=relu} [pin=npu]
//   }
//   entry @main
//
// A zero point of 0 and attributes that have their default value are left out; `_` is an absent
// operand; a tensor may be followed by `variable`, and that by `initial @0`. Small constants are printed as elements of the
// type they are first used with, all others as bytes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

#include "intarsia/graph.h"
#include "support/text_reader.h"

namespace intarsia::graph {
namespace {

std::string value_text(int64_t value) {
  return fmt::format("{}", value);
}
std::string value_text(bool value) {
  return value ? "true" : "false";
}
std::string value_text(float value) {
  return text_real(value);
}
std::string value_text(const std::string& value) {
  return text_quoted(value);
}
std::string value_text(Activation value) {
  return std::string(to_string(value));
}
std::string value_text(const std::vector<int64_t>& value) {
  return fmt::format("[{}]", fmt::join(value, ", "));
}
template <typename Struct>
std::string value_text(const Struct& value);

using FieldTexts = std::vector<std::pair<const char*, std::string>>;

template <typename Struct>
FieldTexts field_texts(const Struct& value) {
  FieldTexts texts;
  Struct::fields(value, [&](const char* name, const auto& field) {
    texts.emplace_back(name, value_text(field));
  });
  return texts;
}

// {name=value, ...} of the fields that differ from the default; empty when none does.
template <typename Struct>
std::string fields_text(const Struct& value) {
  const FieldTexts texts = field_texts(value), defaults = field_texts(Struct{});
  std::vector<std::string> shown;
  for (size_t i = 0; i < texts.size(); ++i)
    if (texts[i].second != defaults[i].second)
      shown.push_back(fmt::format("{}={}", texts[i].first, texts[i].second));
  return shown.empty() ? "" : fmt::format("{{{}}}", fmt::join(shown, ", "));
}

template <typename Struct>
std::string value_text(const Struct& value) {
  const std::string text = fields_text(value);
  return text.empty() ? "{}" : text;
}

std::string operands_text(const std::vector<TensorId>& ids) {
  std::vector<std::string> texts;
  for (const TensorId id : ids)
    texts.push_back(id.valid() ? fmt::format("%{}", id.index) : std::string("_"));
  return fmt::format("({})", fmt::join(texts, ", "));
}

std::string quantization_text(const Quantization& quantization) {
  if (quantization == Quantization{}) return "";
  std::vector<std::string> channels;
  for (size_t i = 0; i < quantization.scale.size(); ++i) {
    std::string channel = text_real(quantization.scale[i]);
    if (i < quantization.zero_point.size() && quantization.zero_point[i] != 0)
      channel += fmt::format(":{}", quantization.zero_point[i]);
    channels.push_back(std::move(channel));
  }
  std::string axis;
  if (quantization.in_single_precision) axis = "single; ";
  if (quantization.axis != 0 || quantization.per_channel())
    axis += fmt::format("axis={}{}", quantization.axis, channels.empty() ? "" : "; ");
  return fmt::format(" q({}{})", axis, fmt::join(channels, ", "));
}

std::string placement_text(const std::string& target, const std::string& pin) {
  std::vector<std::string> texts;
  if (!target.empty()) texts.push_back("target=" + text_name(target));
  if (!pin.empty()) texts.push_back("pin=" + text_name(pin));
  return texts.empty() ? "" : fmt::format(" [{}]", fmt::join(texts, ", "));
}

template <typename T>
std::string elements_text(const Constant& constant) {
  std::vector<std::string> texts;
  for (size_t at = 0; at < constant.bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, constant.bytes.data() + at, sizeof value);
    if constexpr (std::is_same_v<T, float>) {
      if (!std::isfinite(value)) return text_hex(constant.bytes);  // a NaN is more than its name
      texts.push_back(text_real(value));
    } else {
      texts.push_back(fmt::format("{}", static_cast<int64_t>(value)));
    }
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string constant_text(const Constant& constant, std::optional<DataType> type) {
  constexpr size_t kMostElements = 16;
  std::string text;
  const auto elements = [&](auto zero) {
    using T = decltype(zero);
    if (constant.bytes.size() % sizeof(T) == 0 &&
        constant.bytes.size() / sizeof(T) <= kMostElements)
      text = elements_text<T>(constant);
  };
  if (type == DataType::Int8) elements(int8_t{});
  if (type == DataType::UInt8) elements(uint8_t{});
  if (type == DataType::Int16) elements(int16_t{});
  if (type == DataType::Int32) elements(int32_t{});
  if (type == DataType::Int64) elements(int64_t{});
  if (type == DataType::Float32) elements(float{});
  if (text.empty() || text.front() != '[') return text_hex(constant.bytes);
  return std::string(to_string(*type)) + text;
}

std::vector<std::optional<DataType>> types_of_constants(const Module& module) {
  std::vector<std::optional<DataType>> types(module.constants.size());
  for (const Function& function : module.functions)
    for (const Tensor& tensor : function.tensors)
      for (const ConstantId id : {tensor.constant, tensor.initial})
        if (id.valid() && id.at() < types.size() && !types[id.at()]) types[id.at()] = tensor.type;
  return types;
}

void print_function(std::string& out, const Function& function) {
  const auto write = std::back_inserter(out);
  fmt::format_to(write, "func @{}{} -> {}{} {{\n", text_name(function.name),
                 operands_text(function.inputs), operands_text(function.outputs),
                 placement_text(function.target, function.pin));
  for (size_t i = 0; i < function.tensors.size(); ++i) {
    const Tensor& tensor = function.tensors[i];
    fmt::format_to(write, "  %{} {}: {}[{}]{}{}", i, text_name(tensor.name), to_string(tensor.type),
                   fmt::join(tensor.shape, ","), quantization_text(tensor.quantization),
                   tensor.variable ? " variable" : "");
    if (tensor.constant.valid()) fmt::format_to(write, " = @{}", tensor.constant.index);
    if (tensor.initial.valid()) fmt::format_to(write, " initial @{}", tensor.initial.index);
    out += '\n';
  }
  for (const Node& node : function.nodes) {
    const std::string attributes =
        std::visit([](const auto& a) { return fields_text(a); }, node.attributes);
    fmt::format_to(write, "  {} {}{} -> {}{}{}{}\n", to_string(node.kind), text_name(node.name),
                   operands_text(node.inputs), operands_text(node.outputs),
                   attributes.empty() ? "" : " ", attributes, placement_text("", node.pin));
  }
  out += "}\n";
}

}  // namespace

std::string print(const Module& module) {
  std::string out = fmt::format("intarsia.graph {}\n", text_name(module.name));
  const std::vector<std::optional<DataType>> types = types_of_constants(module);
  for (size_t i = 0; i < module.constants.size(); ++i)
    out += fmt::format("const @{} {} = {}\n", i, text_name(module.constants[i].name),
                       constant_text(module.constants[i], types[i]));
  for (const Function& function : module.functions) print_function(out, function);
  out += fmt::format("entry @{}\n", text_name(module.entry));
  return out;
}

}  // namespace intarsia::graph
