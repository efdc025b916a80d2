#include "import/onnx/weighted.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace intarsia::onnx {

using graph::TensorId;

TensorId symmetric_weights(Reader& in, TensorId weights) {
  const graph::Tensor source = in.tensor(weights);
  graph::Quantization q = source.quantization;
  const bool is_symmetric =
      std::ranges::all_of(q.zero_point, [](int64_t zero) { return zero == 0; });
  if (is_symmetric && source.type != DataType::Int4) return weights;
  std::vector<int64_t> numbers = as_integers(in.values_of(weights));
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(q.axis) + 1; i < source.shape.size(); ++i)
    inner *= source.shape[i];
  DataType type = DataType::Int8;
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] -=
        q.zero_point[static_cast<size_t>(static_cast<int64_t>(i) / inner) % q.zero_point.size()];
    if (numbers[i] < -128 || numbers[i] > 127) type = DataType::Int16;
    if (numbers[i] < -255 || numbers[i] > 255) return {};
  }
  std::ranges::fill(q.zero_point, 0);
  return in.make_constant(integer_values(type, source.shape, numbers), q);
}

static DataType type_of_bias(const Reader& in, TensorId input) {
  return in.tensor(input).type == DataType::Int16 ? DataType::Int64 : DataType::Int32;
}

// Whether the operand counts steps of its operator's sums, as the bias of a QLinear operator does.
static bool counts_steps(Reader& in, size_t operand) {
  const Value& given = in.value(operand);
  return given.form == Form::Plain && in.tensor(given.tensor).type == DataType::Int32;
}

// As many rows of one element each, which a product may add, are no number for each channel.
static bool is_of_channels(const graph::Tensor& bias, int64_t channels) {
  const int64_t count = element_count(bias.shape);
  return count == 1 || (count == channels && bias.shape.back() == channels);
}

std::optional<std::vector<double>> reals_of_bias(Reader& in, size_t operand, int64_t channels) {
  const graph::Tensor bias = in.tensor(in.value(operand).tensor);
  if (!bias.constant.valid() || !is_of_channels(bias, channels) || counts_steps(in, operand))
    return std::nullopt;
  const bool is_float = bias.type == kFloat;
  const graph::Quantization& b = bias.quantization;
  if (!is_float && !b.present()) return std::nullopt;
  const Values values = in.values_of(in.value(operand).tensor);
  const std::vector<int64_t> integers = is_float ? std::vector<int64_t>{} : as_integers(values);
  const std::vector<float> floats = is_float ? as_reals(values) : std::vector<float>{};
  std::vector<double> reals;
  for (size_t i = 0; i < static_cast<size_t>(channels); ++i) {
    const size_t at = element_count(bias.shape) == 1 ? 0 : i, own = b.per_channel() ? at : 0;
    reals.push_back(is_float ? static_cast<double>(floats[at])
                             : static_cast<double>(integers[at] - b.zero_point[own]) *
                                   static_cast<double>(b.scale[own]));
  }
  return reals;
}

TensorId integer_bias(Reader& in, size_t operand, TensorId input, TensorId weights,
                      int64_t channels, float factor) {
  if (counts_steps(in, operand)) {
    const TensorId given = in.value(operand).tensor;
    const graph::Tensor& bias = in.tensor(given);
    if (!bias.constant.valid() || !is_of_channels(bias, channels)) return {};
    std::vector<int64_t> steps = as_integers(in.values_of(given));
    if (steps.size() == 1) steps.resize(static_cast<size_t>(channels), steps.front());
    return in.make_constant(integer_values(type_of_bias(in, input), {channels}, steps));
  }
  std::optional<std::vector<double>> reals = reals_of_bias(in, operand, channels);
  if (!reals) return {};
  for (double& real : *reals) real *= static_cast<double>(factor);
  return bias_in_steps(in, *reals, input, weights);
}

TensorId bias_in_steps(Reader& in, const std::vector<double>& reals, TensorId input,
                       TensorId weights) {
  const graph::Quantization &x = in.tensor(input).quantization,
                            &w = in.tensor(weights).quantization;
  std::vector<int64_t> steps;
  for (size_t i = 0; i < reals.size(); ++i) {
    const double step =
        static_cast<double>(x.scale[0]) * static_cast<double>(w.scale[w.per_channel() ? i : 0]);
    const double whole = std::round(reals[i] / step);
    if (!(std::abs(whole) <= static_cast<double>(std::numeric_limits<int32_t>::max()))) return {};
    steps.push_back(static_cast<int64_t>(whole));
  }
  return in.make_constant(integer_values(type_of_bias(in, input), {std::ssize(steps)}, steps));
}

TensorId real_bias(Reader& in, size_t operand, TensorId input, TensorId weights) {
  const Value& given = in.value(operand);
  const graph::Tensor bias = in.tensor(given.tensor);
  const graph::Quantization x = in.tensor(input).quantization, w = in.tensor(weights).quantization;
  const bool counts_steps = given.form == Form::Plain && bias.type == DataType::Int32 &&
                            bias.constant.valid() && x.present() && w.present();
  if (!counts_steps) return in.operand(operand);
  std::vector<float> reals;
  for (const int64_t steps : as_integers(in.values_of(given.tensor))) {
    const float scale = w.scale[w.per_channel() ? std::min(reals.size(), w.scale.size() - 1) : 0];
    reals.push_back(static_cast<float>(steps) * x.scale[0] * scale);
  }
  return in.make_constant(real_values(bias.shape, reals));
}

bool in_integers(Reader& in, size_t input, size_t weights) {
  if (!in.is_real(input) || !in.is_real(weights)) return false;
  const graph::Tensor &x = in.tensor(in.value(input).tensor),
                      &w = in.tensor(in.value(weights).tensor);
  return !x.quantization.per_channel() && !x.constant.valid() && w.constant.valid();
}

std::optional<RowsOfBytes> bytes_for_floats(Reader& in, int64_t rows, int64_t terms) {
  constexpr int64_t kMostTerms = std::numeric_limits<int32_t>::max() / (255 * 128);
  if (!in_integers(in, 0, 1) || terms > kMostTerms || in.options().widen_weights)
    return std::nullopt;
  const TensorId x = in.value(0).tensor;
  if (in.tensor(x).type != DataType::Int8) return std::nullopt;
  const TensorId weights = symmetric_weights(in, in.value(1).tensor);
  if (!weights.valid() || in.tensor(weights).type != DataType::Int8) return std::nullopt;
  const graph::Quantization q = in.tensor(x).quantization;
  const auto count = static_cast<size_t>(rows);
  return RowsOfBytes{x, weights,
                     in.make_constant(real_values({rows}, std::vector<float>(count, q.scale[0]))),
                     in.make_constant(integer_values(
                         DataType::Int32, {rows}, std::vector<int64_t>(count, q.zero_point[0])))};
}

bool within_a_step(float natural, const QuantizedAs& wanted) {
  return natural <= wanted.quantization.scale[0] * 1.0001f;
}

}  // namespace intarsia::onnx
