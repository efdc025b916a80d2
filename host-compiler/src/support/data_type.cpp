#include "intarsia/graph/data_type.h"

namespace intarsia {
namespace {

// Shapes come from files: what is beyond all numbers stays the largest one, which no tensor may have.
int64_t product(int64_t a, int64_t b) {
  int64_t result = 0;
  if (!__builtin_mul_overflow(a, b, &result)) return result;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

}  // namespace

std::string_view to_string(DataType type) {
  switch (type) {
#define X(name, text, c, bits) \
  case DataType::name:         \
    return text;
    INTARSIA_DATA_TYPES(X)
#undef X
  }
  return "?";
}

std::string_view c_name(DataType type) {
  switch (type) {
#define X(name, text, c, bits) \
  case DataType::name:         \
    return c;
    INTARSIA_DATA_TYPES(X)
#undef X
  }
  return "?";
}

std::optional<DataType> data_type_from_string(std::string_view word) {
#define X(name, text, c, bits) \
  if (word == text) return DataType::name;
  INTARSIA_DATA_TYPES(X)
#undef X
  return std::nullopt;
}

int bits(DataType type) {
  switch (type) {
#define X(name, text, c, bits) \
  case DataType::name:         \
    return bits;
    INTARSIA_DATA_TYPES(X)
#undef X
  }
  return 0;
}

bool is_integer(DataType type) {
  return type != DataType::Float32 && type != DataType::Bool;
}

bool is_signed(DataType type) {
  switch (type) {
    case DataType::Bool:
    case DataType::UInt8:
    case DataType::UInt16:
    case DataType::UInt32:
      return false;
    default:
      return true;
  }
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count = product(count, extent);
  return count;
}

int64_t byte_size(DataType type, const Shape& shape) {
  const int64_t bits_in_all = product(element_count(shape), bits(type));
  return bits_in_all / 8 + (bits_in_all % 8 > 0 ? 1 : 0);
}

}  // namespace intarsia
