#include "intarsia/data_type.h"

namespace intarsia {

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
  for (const int64_t extent : shape) count *= extent;
  return count;
}

int64_t byte_size(DataType type, const Shape& shape) {
  return (element_count(shape) * bits(type) + 7) / 8;
}

}  // namespace intarsia
