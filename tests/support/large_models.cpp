#include "large_models.h"

#include <fmt/format.h>

namespace intarsia::test {
namespace {

OptionsMaker fully_connected_options() {
  return options_of(&format::CreateFullyConnectedOptions, format::Activation::None, int8_t{0},
                    false, false, int8_t{0});
}

OptionsMaker add_options() {
  return options_of(&format::CreateAddOptions, format::Activation::None);
}

std::vector<uint8_t> bytes_like_weights(size_t count, uint32_t seed) {
  std::vector<uint8_t> bytes(count);
  uint32_t state = seed * 2654435761u + 1;
  for (uint8_t& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

}  // namespace

ModelSpec chain_of(int operators, int width) {
  ModelSpec m;
  int32_t value = m.add({"in", {1, width}});
  m.inputs = {value};
  for (int i = 0; i < operators; ++i) {
    const int32_t weights =
        m.add({fmt::format("weights{}", i),
               {width, width},
               kInt8,
               {0.25f},
               {0},
               bytes_like_weights(static_cast<size_t>(width * width), static_cast<uint32_t>(i))});
    const int32_t next = m.add({fmt::format("layer{}", i), {1, width}});
    m.operators.push_back(
        {kFullyConnected, {value, weights, -1}, {next}, fully_connected_options(), 4});
    value = next;
  }
  m.outputs = {value};
  return m;
}

ModelSpec sums_of(int operators) {
  ModelSpec m;
  const auto map = [&](const std::string& name) { return m.add({name, {1, 16, 16, 16}}); };
  int32_t before = map("before"), value = map("in");
  m.inputs = {before, value};
  for (int i = 0; i < operators; ++i) {
    const int32_t next = map(fmt::format("sum{}", i));
    m.operators.push_back({kAdd, {before, value}, {next}, add_options()});
    before = value;
    value = next;
  }
  m.outputs = {value};
  return m;
}

ModelSpec fan_out_to(int branches) {
  ModelSpec m;
  const int32_t value = m.add({"in", {1, 8}});
  m.inputs = {value};
  OperatorSpec joined{kConcatenation, {}, {}};
  for (int i = 0; i < branches; ++i) {
    const int32_t result = m.add({fmt::format("branch{}", i), {1, 8}});
    m.operators.push_back({kRelu, {value}, {result}, {}, 2});
    joined.inputs.push_back(result);
  }
  joined.outputs = {m.add({"joined", {1, 8 * branches}})};
  joined.options = options_of(&format::CreateConcatenationOptions, 1, format::Activation::None);
  joined.version = 2;
  m.operators.push_back(joined);
  m.outputs = joined.outputs;
  return m;
}

ModelSpec branches_within(int depth) {
  // Subgraphs 2 i + 1 and 2 i + 2 are ways "a" and "b" of level i.
  const auto level = [&](int i, bool a, bool is_model) {
    ModelSpec m;
    int32_t x = m.add({"x", {1}, kFloat32, {}, {}});
    const int32_t flag = m.add({"flag", {1}, kBool, {}, {}});
    m.inputs = {x, flag};
    const auto sum = [&](const std::string& name, int32_t left, int32_t right) {
      const int32_t result = m.add({name, {1}, kFloat32, {}, {}});
      m.operators.push_back({kAdd, {left, right}, {result}, add_options()});
      return result;
    };
    if (!is_model && a) {
      const int32_t one = m.add({"one", {1}, kFloat32, {}, {}, bytes_of(std::vector<float>{1})});
      x = sum("more", x, one);
    }
    if (i < depth) {
      const int32_t result = m.add({"inner", {1}, kFloat32, {}, {}});
      m.operators.push_back({kIf,
                             {flag, x, flag},
                             {result},
                             options_of(&format::CreateIfOptions, 2 * i + 1, 2 * i + 2)});
      x = result;
    }
    if (!is_model && !a) x = sum("twice", x, x);
    m.outputs = {x};
    return m;
  };
  ModelSpec m = level(0, true, true);
  for (int i = 1; i <= depth; ++i)
    for (const bool a : {true, false}) m.subgraphs.push_back(level(i, a, false));
  return m;
}

ModelSpec weights_of(int64_t weight_bytes, ElementType weights, ElementType activations) {
  constexpr int32_t kWidth = 1024;
  constexpr int64_t kElements = int64_t{kWidth} * kWidth;
  const int64_t layer_bytes = weights == kInt4      ? kElements / 2
                              : weights == kFloat32 ? kElements * 4
                                                    : kElements;
  const bool is_float = activations == kFloat32;
  ModelSpec m;
  const auto activation = [&](const std::string& name) {
    TensorSpec tensor{name, {1, kWidth}, activations};
    if (is_float) tensor.scale = {}, tensor.zero_point = {};
    return m.add(tensor);
  };
  int32_t value = activation("in");
  m.inputs = {value};
  for (int64_t i = 0; i * layer_bytes < weight_bytes; ++i) {
    TensorSpec kernel{fmt::format("weights{}", i), {kWidth, kWidth}, weights, {0.25f}, {0}};
    if (weights == kFloat32) {
      kernel.scale = {}, kernel.zero_point = {};
      std::vector<float> values;
      for (const uint8_t byte : bytes_like_weights(kElements, static_cast<uint32_t>(i)))
        values.push_back(static_cast<float>(byte) / 977.0f - 0.125f);
      kernel.data = bytes_of(values);
    } else {
      kernel.data = bytes_like_weights(static_cast<size_t>(layer_bytes), static_cast<uint32_t>(i));
    }
    const int32_t weights_id = m.add(std::move(kernel));
    const int32_t next = activation(fmt::format("layer{}", i));
    m.operators.push_back(
        {kFullyConnected, {value, weights_id, -1}, {next}, fully_connected_options(), 4});
    value = next;
  }
  m.outputs = {value};
  return m;
}

}  // namespace intarsia::test
