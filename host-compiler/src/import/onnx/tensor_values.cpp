#include "import/onnx/tensor_values.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "intarsia/graph.h"

namespace intarsia::onnx {

namespace {

// Other floats than f32 are computed as f32: half precision has fewer bits of both parts, double precision is what
// exporters give numbers that need none.
enum class Floats : uint8_t { Single, Half, Brain, Double };

struct Element {
  std::string_view name;
  std::optional<DataType> type;
  Floats floats = Floats::Single;  // as the file stores them

  int stored_bits() const {
    return floats == Floats::Single ? bits(*type) : floats == Floats::Double ? 64 : 16;
  }
};
// By the format's numbers.
constexpr std::array<Element, 23> kElements = {{
    {"undefined", {}},
    {"float", DataType::Float32},
    {"uint8", DataType::UInt8},
    {"int8", DataType::Int8},
    {"uint16", DataType::UInt16},
    {"int16", DataType::Int16},
    {"int32", DataType::Int32},
    {"int64", DataType::Int64},
    {"string", {}},
    {"bool", DataType::Bool},
    {"float16", DataType::Float32, Floats::Half},
    {"double", DataType::Float32, Floats::Double},
    {"uint32", DataType::UInt32},
    {"uint64", {}},
    {"complex64", {}},
    {"complex128", {}},
    {"bfloat16", DataType::Float32, Floats::Brain},
    {"float8e4m3fn", {}},
    {"float8e4m3fnuz", {}},
    {"float8e5m2", {}},
    {"float8e5m2fnuz", {}},
    {"uint4", {}},
    {"int4", DataType::Int4},
}};

template <typename T>
void append(std::vector<uint8_t>& bytes, T value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void append_integer(std::vector<uint8_t>& bytes, int size, int64_t value) {
  for (int byte = 0; byte < size; ++byte)
    bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * byte)));
}

int64_t number_of(std::string_view text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

float from_half(uint16_t raw) {
  const float sign = (raw & 0x8000) != 0 ? -1.0f : 1.0f;
  const int exponent = raw >> 10 & 31, fraction = raw & 1023;
  if (exponent == 31)
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

template <typename T>
T element_at(const std::vector<uint8_t>& bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

// Bytes of f32.
std::vector<uint8_t> as_single(const std::vector<uint8_t>& stored, Floats floats) {
  std::vector<uint8_t> bytes;
  const size_t count = stored.size() / (floats == Floats::Double ? 8 : 2);
  for (size_t i = 0; i < count; ++i) {
    if (floats == Floats::Double)
      append(bytes, static_cast<float>(element_at<double>(stored, i)));
    else if (floats == Floats::Half)
      append(bytes, from_half(element_at<uint16_t>(stored, i)));
    else
      append(bytes, std::bit_cast<float>(uint32_t{element_at<uint16_t>(stored, i)} << 16));
  }
  return bytes;
}

// Keys `location`, `offset`, `length`: a part of a file beside the model.
bool read_elsewhere(const format::Tensor& tensor, const std::filesystem::path& folder, int64_t size,
                    std::vector<uint8_t>& bytes, std::string& problem) {
  std::string location;
  int64_t offset = 0, length = size;
  for (const format::Entry& entry : tensor.elsewhere()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = number_of(entry.value());
    if (entry.key() == "length") length = number_of(entry.value());
  }
  const std::filesystem::path place = std::filesystem::path(location).lexically_normal();
  if (location.empty() || place.is_absolute() || *place.begin() == "..") {
    problem = fmt::format("lies in the file '{}', which is not beside the model", location);
    return false;
  }
  std::error_code error;
  const auto available = static_cast<int64_t>(std::filesystem::file_size(folder / place, error));
  if (error) {
    problem =
        fmt::format("lies in the file '{}', which cannot be read; it has to be beside the model",
                    (folder / place).string());
    return false;
  }
  if (offset < 0 || length != size || offset > available - length) {
    problem = fmt::format("is {} bytes, but bytes {} to {} of '{}' (of {}) are said to hold it",
                          size, offset, offset + length, (folder / place).string(), available);
    return false;
  }
  std::ifstream file(folder / place, std::ios::binary);
  bytes.resize(static_cast<size_t>(size));
  file.seekg(offset);
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  if (!file) problem = fmt::format("cannot be read from '{}'", (folder / place).string());
  return problem.empty();
}

}  // namespace

std::optional<DataType> data_type(int32_t element) {
  const bool known = element >= 0 && static_cast<size_t>(element) < kElements.size();
  return known ? kElements[static_cast<size_t>(element)].type : std::nullopt;
}

bool is_computed_as_single(int32_t element) {
  return data_type(element) && kElements[static_cast<size_t>(element)].floats != Floats::Single;
}

std::string element_name(int32_t element) {
  const bool known = element >= 0 && static_cast<size_t>(element) < kElements.size();
  return known ? std::string(kElements[static_cast<size_t>(element)].name)
               : fmt::format("element type {}", element);
}

std::optional<Values> read_values(const format::Tensor& tensor, const std::filesystem::path& folder,
                                  std::string& problem) {
  const std::optional<DataType> type = data_type(tensor.element());
  Values result;
  if (!type) {
    problem = fmt::format("is of {}, a type that networks on microcontrollers are not run in",
                          element_name(tensor.element()));
    return std::nullopt;
  }
  result.type = *type;
  int64_t count = 1;
  for (const int64_t extent : tensor.extent()) {
    if (extent < 0 || extent > graph::kMaxTensorBytes ||
        count > graph::kMaxTensorBytes / std::max<int64_t>(extent, 1)) {
      problem = fmt::format("has an extent of {}", extent);
      return std::nullopt;
    }
    count *= extent;
    result.shape.push_back(extent);
  }
  const Element& stored = kElements[static_cast<size_t>(tensor.element())];
  const bool is_single = stored.floats == Floats::Single;
  const int64_t size =
      is_single ? byte_size(*type, result.shape) : count * stored.stored_bits() / 8;
  if (tensor.location() == 1) {
    if (!read_elsewhere(tensor, folder, size, result.bytes, problem)) return std::nullopt;
  } else if (tensor.has_raw()) {
    result.bytes.assign(tensor.raw().begin(), tensor.raw().end());
  } else if (stored.floats == Floats::Double) {
    for (const double value : tensor.doubles()) append(result.bytes, value);
  } else if (!is_single) {
    for (const int32_t value : tensor.ints()) append_integer(result.bytes, 2, value);
  } else if (*type == DataType::Float32) {
    for (const float value : tensor.floats()) append(result.bytes, value);
  } else if (*type == DataType::Int64) {
    for (const int64_t value : tensor.longs()) append(result.bytes, value);
  } else if (*type == DataType::UInt32) {
    for (const uint64_t value : tensor.unsigned_longs())
      append_integer(result.bytes, 4, static_cast<int64_t>(value));
  } else {  // Int4: each element of the list is a byte of two already
    for (const int32_t value : tensor.ints())
      append_integer(result.bytes, std::max(bits(*type) / 8, 1), value);
  }
  if (static_cast<int64_t>(result.bytes.size()) != size) {
    problem = fmt::format("needs {} bytes for its shape, but holds {}", size, result.bytes.size());
    return std::nullopt;
  }
  if (!is_single) result.bytes = as_single(result.bytes, stored.floats);
  return result;
}

std::vector<int64_t> as_integers(const Values& values) {
  std::vector<int64_t> numbers;
  const size_t size = static_cast<size_t>(bits(values.type)) / 8;
  if (values.type == DataType::Float32) {
    for (const float value : as_reals(values)) numbers.push_back(static_cast<int64_t>(value));
    return numbers;
  }
  if (size == 0) {  // Int4, low nibble first
    for (int64_t i = 0; i < element_count(values.shape); ++i) {
      const int nibble = (values.bytes[static_cast<size_t>(i / 2)] >> (i % 2 * 4)) & 15;
      numbers.push_back(nibble >= 8 ? nibble - 16 : nibble);
    }
    return numbers;
  }
  for (size_t at = 0; at + size <= values.bytes.size(); at += size) {
    uint64_t raw = 0;
    for (size_t byte = 0; byte < size; ++byte)
      raw |= static_cast<uint64_t>(values.bytes[at + byte]) << (8 * byte);
    const unsigned shift = 64 - 8 * static_cast<unsigned>(size);
    numbers.push_back(is_signed(values.type) ? static_cast<int64_t>(raw << shift) >> shift
                                             : static_cast<int64_t>(raw));
  }
  return numbers;
}

std::vector<float> as_reals(const Values& values) {
  std::vector<float> numbers;
  if (values.type != DataType::Float32) {
    for (const int64_t value : as_integers(values)) numbers.push_back(static_cast<float>(value));
    return numbers;
  }
  numbers.resize(values.bytes.size() / sizeof(float));
  if (!numbers.empty())
    std::memcpy(numbers.data(), values.bytes.data(), numbers.size() * sizeof(float));
  return numbers;
}

Values integer_values(DataType type, Shape shape, const std::vector<int64_t>& numbers) {
  Values result{type, std::move(shape), {}};
  for (const int64_t number : numbers) append_integer(result.bytes, bits(type) / 8, number);
  return result;
}

Values real_values(Shape shape, const std::vector<float>& numbers) {
  Values result{DataType::Float32, std::move(shape), {}};
  for (const float number : numbers) append(result.bytes, number);
  return result;
}

}  // namespace intarsia::onnx
