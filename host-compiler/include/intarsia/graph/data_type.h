// Element types shared by both IRs, and the typed integer handles they use instead of pointers.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace intarsia {

// name in text, name in C, bits
#define INTARSIA_DATA_TYPES(X)     \
  X(Bool, "bool", "bool", 8)       \
  X(Int4, "i4", "int8_t", 4)       \
  X(Int8, "i8", "int8_t", 8)       \
  X(UInt8, "u8", "uint8_t", 8)     \
  X(Int16, "i16", "int16_t", 16)   \
  X(UInt16, "u16", "uint16_t", 16) \
  X(Int32, "i32", "int32_t", 32)   \
  X(UInt32, "u32", "uint32_t", 32) \
  X(Int64, "i64", "int64_t", 64)   \
  X(Float32, "f32", "float", 32)

// The type of a tensor's or a buffer's elements.
enum class DataType : uint8_t {
#define X(name, text, c, bits) name,
  INTARSIA_DATA_TYPES(X)
#undef X
};

std::string_view to_string(DataType type);                             // "i8"
std::string_view c_name(DataType type);                                // "int8_t"
std::optional<DataType> data_type_from_string(std::string_view text);  // exact inverse of to_string
// Of an element in a tensor; Int4 takes half a byte there.
int bits(DataType type);
bool is_integer(DataType type);  // Bool is not
bool is_signed(DataType type);   // Float32 is

// Extents of a tensor or buffer, outermost first. Rank 0 is a scalar. Every extent is >= 1.
using Shape = std::vector<int64_t>;

// Of extents that nobody has verified: INT64_MAX where the product is beyond all numbers.
int64_t element_count(const Shape& shape);
// Bytes of a densely packed tensor; Int4 packs two elements a byte, low nibble first (TFLite).
int64_t byte_size(DataType type, const Shape& shape);

// Handle<Tag>: an index that cannot be mistaken for another kind of index. -1 is "none".
template <typename Tag>
struct Handle {
  int32_t index = -1;

  // Whether it is an index at all.
  constexpr bool valid() const { return index >= 0; }
  // For the container that it is an index into; only of a valid one.
  constexpr size_t at() const { return static_cast<size_t>(index); }
  constexpr auto operator<=>(const Handle&) const = default;
};

// An index into the constants of a module.
using ConstantId = Handle<struct ConstantTag>;

}  // namespace intarsia
