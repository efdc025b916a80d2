#include "import/input_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace intarsia {

namespace {

struct Range {
  double least, end;  // end is the first number that is too large
};

// The whole numbers of a type that an input has.
Range whole_numbers_of(DataType type) {
  if (type == DataType::Bool) return {0, 2};
  const int width = bits(type);
  if (!is_signed(type)) return {0, std::ldexp(1.0, width)};
  return {-std::ldexp(1.0, width - 1), std::ldexp(1.0, width - 1)};
}

bool holds(DataType type, double value) {
  if (type == DataType::Float32)
    return !std::isfinite(value) || std::abs(value) <= std::numeric_limits<float>::max();
  const Range range = whole_numbers_of(type);
  return std::floor(value) == value && value >= range.least && value < range.end;
}

void append(std::vector<uint8_t>& bytes, DataType type, double value) {
  uint64_t raw = 0;
  if (type == DataType::Float32) {
    const auto single = static_cast<float>(value);
    uint32_t word = 0;
    std::memcpy(&word, &single, sizeof word);
    raw = word;
  } else {
    raw = static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  for (int b = 0; b < bits(type) / 8; ++b) bytes.push_back(static_cast<uint8_t>(raw >> (8 * b)));
}

}  // namespace

const std::vector<double>* InputValues::find(std::string_view input) {
  const auto found = given_.find(std::string(input));
  if (found == given_.end()) return nullptr;
  used_.insert(found->first);
  return &found->second;
}

std::optional<std::vector<uint8_t>> InputValues::bytes(std::string_view input,
                                                       const std::string& where, DataType type,
                                                       const Shape& shape, Diagnostics& problems) {
  const std::vector<double>* given = find(input);
  if (given == nullptr) return std::nullopt;
  const int64_t count = element_count(shape);
  if (given->size() != 1 && std::ssize(*given) != count) {
    problems.add(
        where, fmt::format("has {} elements, but --input-value gives it {}", count, given->size()),
        "give one number for all of them, or one for each with commas between");
    return std::nullopt;
  }
  const auto wrong =
      std::ranges::find_if(*given, [&](double value) { return !holds(type, value); });
  if (wrong != given->end()) {
    problems.add(where,
                 fmt::format("is of {}, which --input-value's {} is not", to_string(type), *wrong),
                 "a quantised input takes the integers that the file stores");
    return std::nullopt;
  }
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < count; ++i)
    append(bytes, type, (*given)[given->size() == 1 ? 0 : static_cast<size_t>(i)]);
  return bytes;
}

void InputValues::report_unused(const std::string& file, const std::vector<std::string>& inputs,
                                Diagnostics& problems) const {
  // An input that could not be read for another reason has been told of.
  for (const auto& [name, value] : given_)
    if (!used_.contains(name) && std::ranges::find(inputs, name) == inputs.end())
      problems.add(file, fmt::format("has no input '{}' to give a value to", name),
                   fmt::format("its inputs are {}", fmt::join(inputs, ", ")));
}

}  // namespace intarsia
