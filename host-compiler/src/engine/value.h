// Scalars of executed loops, and a chunk of loop iterations side by side.
#pragma once

#include <cstdint>

#include "intarsia/graph/data_type.h"
#include "intarsia/plugin/host_kernels.h"

namespace intarsia::engine {

inline Value of_int(int64_t value) {
  Value made;
  made.i = value;
  return made;
}
inline Value of_float(float value) {
  Value made;
  made.i = 0;
  made.f = value;
  return made;
}

// How lanes hold the values of a type.
enum class Held : uint8_t { Int32, Int64, Float };
inline Held held(DataType type) {
  if (type == DataType::Float32) return Held::Float;
  return type == DataType::Int64 || type == DataType::UInt32 ? Held::Int64 : Held::Int32;
}

// The low bits of an integer type, extended as the type says.
inline int64_t narrowed(DataType type, int64_t value) {
  switch (type) {
    case DataType::Bool:
      return value != 0;
    case DataType::Int8:
      return static_cast<int8_t>(value);
    case DataType::UInt8:
      return static_cast<uint8_t>(value);
    case DataType::Int16:
      return static_cast<int16_t>(value);
    case DataType::UInt16:
      return static_cast<uint16_t>(value);
    case DataType::Int32:
      return static_cast<int32_t>(value);
    case DataType::UInt32:
      return static_cast<uint32_t>(value);
    default:
      return value;
  }
}

}  // namespace intarsia::engine
