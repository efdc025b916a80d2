// The tables of isa/ as the driver uses them.
#pragma once

#include <cstdint>

namespace intarsia::targets::ethos_u {

namespace reg {
enum Register : uint32_t {
#define REGISTER(name, offset, access, reset) name = offset,
#define REGISTER_FIELD(...)
#define PMU_EVENT(...)
#include "intarsia/targets/ethos_u/registers.def"
#undef REGISTER
#undef REGISTER_FIELD
#undef PMU_EVENT
};
}  // namespace reg

constexpr uint32_t bit_mask(uint32_t low_bit, uint32_t bits) {
  return (bits == 32 ? ~0u : (1u << bits) - 1) << low_bit;
}

// A field of a register, or of a word of a driver action.
namespace mask {
#define REGISTER(...)
#define REGISTER_FIELD(register, field, low_bit, bits) \
  inline constexpr uint32_t register##_##field = bit_mask(low_bit, bits);
#define PMU_EVENT(...)
#include "intarsia/targets/ethos_u/registers.def"
#undef REGISTER
#undef REGISTER_FIELD
#undef PMU_EVENT
#define MAGIC(...)
#define ACTION(...)
#define ACTION_FIELD(action, field, word, low_bit, bits) \
  inline constexpr uint32_t action##_##field = bit_mask(low_bit, bits);
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
}  // namespace mask

namespace action {
inline constexpr uint32_t Counted = 0;  // the stream itself is not skipped by its length
#define MAGIC(value) inline constexpr uint32_t kMagic = value;
#define ACTION(name, id, words) inline constexpr uint32_t name = id, name##_words = words;
#define ACTION_FIELD(...)
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
}  // namespace action

#define CONSTANT(name, value) [[maybe_unused]] inline constexpr uint32_t k##name = value;
#include "intarsia/targets/ethos_u/constants.def"
#undef CONSTANT

// The products' numbers in CONFIG and their ID words.
struct ProductRow {
  uint32_t number, id_word, outstanding_reads, outstanding_writes;
};
// Transactions that the ports of each product can have under way (Technical Reference Manuals).
namespace outstanding {
struct Transactions {
  uint32_t reads, writes;
};
inline constexpr Transactions U55 = {32, 16}, U65 = {64, 32};
}  // namespace outstanding
inline constexpr ProductRow kProducts[] = {
#define PRODUCT(name, number, text, address_bits, axi_bits, dma, kernels, id_word) \
  {number, id_word, outstanding::name.reads, outstanding::name.writes},
#define CONFIGURATION(...)
#define GRANULES(...)
#include "intarsia/targets/ethos_u/configurations.def"
#undef PRODUCT
#undef CONFIGURATION
#undef GRANULES
};

constexpr uint32_t field(uint32_t word, uint32_t mask) {
  return (word & mask) / (mask & (~mask + 1));
}
constexpr uint32_t field_of(uint32_t mask, uint32_t value) {
  return value * (mask & (~mask + 1)) & mask;
}

}  // namespace intarsia::targets::ethos_u
