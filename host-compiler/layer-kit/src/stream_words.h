// What a stream of layers consists of (contract/layers.def).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace intarsia::layers {

#define LAYER_NUMBER(name, value) inline constexpr uint32_t LAYERS_##name = value;
#include "intarsia/contract/layers.def"

inline constexpr size_t kHeaderWords = 0
#define LAYER_HEADER(name) +1
#include "intarsia/contract/layers.def"
    ;
inline constexpr size_t kFieldWords = 0
#define LAYER_FIELD(name) +1
#include "intarsia/contract/layers.def"
    ;
inline constexpr size_t kOperands = 0
#define LAYER_OPERAND(name) +1
#include "intarsia/contract/layers.def"
    ;
inline constexpr size_t kLayerWords = kFieldWords + 3 * kOperands;

// The first four characters of a library's name; drivers have it as a number.
constexpr uint32_t library_word(std::string_view name) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4 && i < name.size(); ++i)
    word |= static_cast<uint32_t>(static_cast<unsigned char>(name[i])) << 8 * i;
  return word;
}

}  // namespace intarsia::layers
