#include "import/onnx/normalised_channels.h"

#include <algorithm>
#include <cmath>

#include "import/onnx/weighted.h"

namespace intarsia::onnx {

using graph::TensorId;

std::optional<NormalisedChannels> normalisation_behind(const Reader& in, int64_t channels) {
  const std::string& value = in.node().outputs.front();
  const Node* node = in.only_reader(value);
  if (node == nullptr || node->full_type() != "BatchNormalization" || node->inputs.size() != 5 ||
      node->inputs.front() != value)
    return std::nullopt;
  const auto attribute = [&](const char* name, auto absent, auto read) {
    const auto given = node->attributes.find(name);
    return given == node->attributes.end() ? absent : read(given->second);
  };
  const auto integer = [&](const char* name, int64_t absent) {
    return attribute(name, absent, [](const format::Attribute& a) { return a.integer(); });
  };
  const bool statistics_are_read = std::any_of(node->outputs.begin() + 1, node->outputs.end(),
                                               [](const std::string& o) { return !o.empty(); });
  // `spatial` is an attribute until operator set 8.
  if (integer("training_mode", 0) != 0 || integer("spatial", 1) != 1 || statistics_are_read)
    return std::nullopt;
  std::vector<std::vector<float>> numbers;
  for (size_t operand = 1; operand < 5; ++operand) {
    const std::optional<Values> values = in.known(node->inputs[operand]);
    if (!values || values->type != kFloat || element_count(values->shape) != channels)
      return std::nullopt;
    numbers.push_back(as_reals(*values));
  }
  const std::vector<float>&scale = numbers[0], &shift = numbers[1], &mean = numbers[2],
        &variance = numbers[3];
  const float epsilon =
      attribute("epsilon", 1e-5f, [](const format::Attribute& a) { return a.real(); });
  NormalisedChannels result{node, {}, {}};
  for (size_t c = 0; c < scale.size(); ++c) {
    const double factor =
        static_cast<double>(scale[c]) /
        std::sqrt(static_cast<double>(variance[c]) + static_cast<double>(epsilon));
    const double offset = static_cast<double>(shift[c]) - static_cast<double>(mean[c]) * factor;
    if (!std::isfinite(factor) || !std::isfinite(offset)) return std::nullopt;
    result.factors.push_back(factor);
    result.offsets.push_back(offset);
  }
  return result;
}

TensorId normalised_weights(Reader& in, TensorId weights, const NormalisedChannels& by) {
  const graph::Tensor source = in.tensor(weights);
  const graph::Quantization& given = source.quantization;
  const size_t channels = by.factors.size();
  if (source.type != DataType::Int8 || source.shape.empty() ||
      source.shape.front() != static_cast<int64_t>(channels) ||
      (given.per_channel() && given.axis != 0))
    return {};
  std::vector<int64_t> numbers = as_integers(in.values_of(weights));
  const size_t of_channel = numbers.size() / channels;
  graph::Quantization q;
  for (size_t c = 0; c < channels; ++c) {
    const float scale = given.scale[given.per_channel() ? c : 0];
    const auto scaled = static_cast<float>(static_cast<double>(scale) * std::abs(by.factors[c]));
    // A channel that is multiplied by nothing is its offset.
    const int64_t sign = by.factors[c] == 0 ? 0 : by.factors[c] < 0 ? -1 : 1;
    if (sign != 0 && !std::isnormal(scaled)) return {};
    for (size_t i = c * of_channel; i < (c + 1) * of_channel; ++i) {
      numbers[i] *= sign;
      if (numbers[i] > 127) return {};
    }
    q.scale.push_back(sign == 0 ? scale : scaled);
    q.zero_point.push_back(0);
  }
  return in.make_constant(integer_values(DataType::Int8, source.shape, numbers), q);
}

std::optional<std::vector<double>> normalised_bias(Reader& in, size_t operand,
                                                   const NormalisedChannels& by) {
  const size_t channels = by.factors.size();
  auto bias = in.has(operand) ? reals_of_bias(in, operand, static_cast<int64_t>(channels))
                              : std::vector<double>(channels, 0);
  for (size_t c = 0; bias && c < channels; ++c)
    (*bias)[c] = (*bias)[c] * by.factors[c] + by.offsets[c];
  return bias;
}

}  // namespace intarsia::onnx
