#include "intarsia/graph/tensor_values.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/index_ranges.h"
#include "graph/integer_at.h"

namespace intarsia::graph {
namespace {

constexpr float kFloatTolerance = 4e-5f;

void put_integer(DataType type, TensorValue& bytes, int64_t index, int64_t value) {
  if (bits(type) == 4) {
    const auto nibble = static_cast<unsigned>(value & 15);
    uint8_t& byte = bytes[static_cast<size_t>(index / 2)];
    byte = static_cast<uint8_t>(byte | (index % 2 == 0 ? nibble : nibble << 4));
    return;
  }
  const auto width = static_cast<size_t>(bits(type) / 8);
  std::memcpy(&bytes[static_cast<size_t>(index) * width], &value, width);
}

int64_t drawn_from(const IndexRange& range, uint64_t word) {
  return range.low + static_cast<int64_t>(word % static_cast<uint64_t>(range.high - range.low + 1));
}

// `range`: of places, in a tensor of floats as whole numbers.
TensorValue sample_of(const Tensor& tensor, std::optional<IndexRange> range, int index,
                      std::mt19937& random) {
  TensorValue bytes(static_cast<size_t>(tensor.bytes()));
  const int64_t count = element_count(tensor.shape);
  if (tensor.type == DataType::Float32) {
    for (int64_t i = 0; i < count; ++i) {
      const float unit = static_cast<float>(random()) / 4294967296.0f;
      float value = index == 0 ? 0.0f : index == 1 ? -1.0f : index == 2 ? 1.0f : 2 * unit - 1;
      if (range)
        value = static_cast<float>(index == 0   ? std::clamp<int64_t>(0, range->low, range->high)
                                   : index == 1 ? range->low
                                   : index == 2 ? range->high
                                                : drawn_from(*range, random()));
      std::memcpy(&bytes[static_cast<size_t>(i) * sizeof value], &value, sizeof value);
    }
    return bytes;
  }
  const bool is_bool = tensor.type == DataType::Bool;
  const int width = is_bool ? 1 : bits(tensor.type);
  const auto highest =
      static_cast<int64_t>(~uint64_t{0} >> (is_signed(tensor.type) ? 65 - width : 64 - width));
  const int64_t lowest = is_signed(tensor.type) ? -highest - 1 : 0;
  if (range) {
    range->low = std::clamp(range->low, lowest, highest);
    range->high = std::clamp(range->high, lowest, highest);
  }
  const int64_t high = range ? range->high : highest, low = range ? range->low : lowest;
  const int64_t zero = range                           ? std::clamp<int64_t>(0, low, high)
                       : tensor.quantization.present() ? tensor.quantization.zero_point[0]
                                                       : 0;
  for (int64_t i = 0; i < count; ++i) {
    auto any = static_cast<int64_t>(uint64_t{random()} << 32 | random());
    if (is_bool) any &= 1;
    if (range) any = drawn_from(*range, static_cast<uint64_t>(any));
    put_integer(tensor.type, bytes, i,
                index == 0   ? zero
                : index == 1 ? low
                : index == 2 ? high
                             : any);
  }
  return bytes;
}

float float_at(const TensorValue& value, int64_t index) {
  float result;
  std::memcpy(&result, &value[static_cast<size_t>(index) * sizeof result], sizeof result);
  return result;
}

bool floats_agree(float reference, float program) {
  if (std::isnan(reference) || std::isnan(program))
    return std::isnan(reference) && std::isnan(program);
  if (std::isinf(reference) || std::isinf(program)) return reference == program;
  return std::abs(reference - program) <= kFloatTolerance * std::max(1.0f, std::abs(reference));
}

// Quantised numbers; wider ones are sums and indices.
bool counts_steps(DataType type) {
  return type == DataType::Int8 || type == DataType::UInt8 || type == DataType::Int16;
}

}  // namespace

std::vector<TensorValue> make_sample(const Module& module, const Function& function, int index) {
  std::mt19937 random(static_cast<uint32_t>(index));
  const std::vector<std::optional<IndexRange>> ranges = index_ranges(module, function);
  std::vector<TensorValue> sample;
  for (const TensorId id : function.inputs)
    sample.push_back(sample_of(function.tensor(id), ranges[id.at()], index, random));
  return sample;
}

std::vector<TensorValue> make_sample(const Module& module, int index) {
  return make_sample(module, module.entry_function(), index);
}

std::string ValueDifference::text(const Shape& shape) const {
  if (element < 0) return fmt::format("reference of {} bytes, program's of {}", reference, program);
  std::vector<int64_t> place(shape.size());
  int64_t rest = element;
  for (size_t d = shape.size(); d-- > 0; rest /= std::max<int64_t>(1, shape[d]))
    place[d] = rest % std::max<int64_t>(1, shape[d]);
  return fmt::format("element {}{}: reference {}, program {}", element,
                     place.empty() ? "" : fmt::format(" [{}]", fmt::join(place, ",")), reference,
                     program);
}

std::optional<ValueDifference> first_difference(const Tensor& tensor, const TensorValue& reference,
                                                const TensorValue& program, int32_t steps) {
  if (reference.size() != program.size())
    return ValueDifference{-1, fmt::format("{}", reference.size()),
                           fmt::format("{}", program.size())};
  if (reference == program && tensor.type != DataType::Float32) return std::nullopt;
  const int64_t count = element_count(tensor.shape);
  for (int64_t i = 0; i < count; ++i) {
    if (tensor.type == DataType::Float32) {
      const float a = float_at(reference, i), b = float_at(program, i);
      if (!floats_agree(a, b))
        return ValueDifference{i, fmt::format("{:.9g}", a), fmt::format("{:.9g}", b)};
      continue;
    }
    const int64_t a = integer_at(tensor.type, reference, i),
                  b = integer_at(tensor.type, program, i);
    if (a == b || (counts_steps(tensor.type) && std::abs(a - b) <= steps)) continue;
    return ValueDifference{i, fmt::format("{}", a), fmt::format("{}", b)};
  }
  return std::nullopt;
}

int32_t largest_steps(const Tensor& tensor, const TensorValue& a, const TensorValue& b) {
  if (!counts_steps(tensor.type) || a.size() != b.size()) return 0;
  int64_t largest = 0;
  for (int64_t i = 0; i < element_count(tensor.shape); ++i)
    largest =
        std::max(largest, std::abs(integer_at(tensor.type, a, i) - integer_at(tensor.type, b, i)));
  return static_cast<int32_t>(largest);
}

}  // namespace intarsia::graph
