#include "graph/integer_at.h"

#include <cstring>

namespace intarsia::graph {

int64_t integer_at(DataType type, std::span<const uint8_t> value, int64_t index) {
  if (bits(type) == 4) {
    const int nibble = value[static_cast<size_t>(index / 2)] >> (index % 2 == 0 ? 0 : 4) & 15;
    return is_signed(type) && nibble > 7 ? nibble - 16 : nibble;
  }
  const auto width = static_cast<size_t>(bits(type) / 8);
  uint64_t word = 0;
  std::memcpy(&word, &value[static_cast<size_t>(index) * width], width);
  if (is_signed(type) && width < 8 && (word >> (8 * width - 1) & 1) != 0)
    word |= ~uint64_t{0} << (8 * width);
  return static_cast<int64_t>(word);
}

}  // namespace intarsia::graph
