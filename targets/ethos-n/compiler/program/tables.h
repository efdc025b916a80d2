// The tables of isa/ as the compiler writes them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "intarsia/plugin/check.h"
#include "intarsia/target.h"

namespace intarsia::targets::ethos_n {

#define CONSTANT(name, value) [[maybe_unused]] inline constexpr int64_t k##name = value;
#include "intarsia/targets/ethos_n/constants.def"
#undef CONSTANT

struct Variant {
  std::string_view tag;
  std::string_view kernel_prefix;
  int64_t number = 0;                                          // of the block of kernel numbers
  int64_t ces = 0, igs = 0, ogs = 0, emcs = 0, ple_lanes = 0;  // all but the first: of one CE
  int64_t emc_bytes = 0, tops = 0;

  int64_t srams() const { return ces * emcs; }
  int64_t all_igs() const { return ces * igs; }
  int64_t all_ogs() const { return ces * ogs; }
  int64_t sram_bytes() const { return srams() * emc_bytes; }
};
// Those with PLE kernels.
std::span<const Variant> variants();
// Tags of those without.
std::span<const std::string_view> variants_without_kernels();
// What follows "ethos-n78-".
std::string word_of(std::string_view tag);
const Variant& variant_of(const Target& device);

enum class PleOperation : uint8_t {
  ADDITION,
  ADDITION_RESCALE,
  AVGPOOL_3X3_1_1_UDMA,
  DOWNSAMPLE_2X2,
  INTERLEAVE_2X2_2_2,
  LEAKY_RELU,
  MAXPOOL_2X2_2_2,
  MAXPOOL_3X3_2_2_EVEN,
  MAXPOOL_3X3_2_2_ODD,
  MAXPOOL1D,
  MEAN_XY_7X7,
  MEAN_XY_8X8,
  MULTIPLICATION,
  PASSTHROUGH,
  SIGMOID,
  TRANSPOSE_XY,
};
enum class PleType : uint8_t { Any, Unsigned, Signed };
enum class PleDirection : uint8_t { None, X, Y };
struct PleKernel {
  int64_t number;
  PleOperation operation;
  int64_t block_width, block_height, blocks;
  PleType type;
  PleDirection direction;
  std::string_view text;
};
std::span<const PleKernel> ple_kernels();  // of one variant

// ---- the stream ----
enum class Queue : uint8_t {
#define QUEUE(name, number) name = number,
#include "intarsia/targets/ethos_n/stream.def"
  AnyQueue
};
inline constexpr size_t kQueues = static_cast<size_t>(Queue::AnyQueue);
enum class Counter : uint32_t {
#define COUNTER(name, number) name = number,
#include "intarsia/targets/ethos_n/stream.def"
};
inline constexpr size_t kCounters = 6;
enum class AgentType : uint32_t {
#define AGENT(name, number) name = number,
#include "intarsia/targets/ethos_n/stream.def"
};
enum class CommandType : uint32_t {
#define COMMAND(name, number, shape, queue) name = number,
#include "intarsia/targets/ethos_n/stream.def"
};
struct AgentField {
  AgentType agent;
  std::string_view name;
  size_t byte, bytes;
};
struct CommandRow {
  std::string_view name, shape;
  Queue queue;
};
struct WordRow {
  std::string_view shape, name;
  size_t index, count;
};
std::span<const std::string_view> agent_names();
std::span<const std::string_view> queue_names();
std::span<const std::string_view> counter_names();
std::span<const AgentField> agent_fields();
std::span<const CommandRow> command_rows();
std::span<const WordRow> word_rows();
size_t words_of(std::string_view shape);

namespace agent_field {  // agent_field::MCE_SCHEDULER_FILTER
#define AGENT_FIELD(agent, name, byte, bytes) \
  inline constexpr AgentField agent##_##name{AgentType::agent, #name, byte, bytes};
#include "intarsia/targets/ethos_n/stream.def"
}  // namespace agent_field

namespace word {  // word::Dma_SRAM_ADDR, an index
#define WORD(shape, name, index, count) inline constexpr size_t shape##_##name = index;
#include "intarsia/targets/ethos_n/stream.def"
}  // namespace word

// ---- registers ----
struct Field {
  std::string_view register_name, name;
  uint32_t low_bit, bits;
  bool is_signed;
  int64_t plus, times;

  // The word with nothing but this field in it.
  uint32_t put(int64_t value) const {
    const int64_t raw = value / times - plus;
    const int64_t least = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
    const int64_t most = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    INTARSIA_CHECK(
        value % times == 0 && raw >= least && raw <= most,
        std::string(register_name) + "." + std::string(name) + " holds " + std::to_string(value));
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    return static_cast<uint32_t>((static_cast<uint64_t>(raw) & mask) << low_bit);
  }
  int64_t get(uint32_t word) const {
    auto value = static_cast<int64_t>((word >> low_bit) & ((uint64_t{1} << bits) - 1));
    if (is_signed && value >> (bits - 1) != 0) value -= int64_t{1} << bits;
    return (value + plus) * times;
  }
};
std::span<const Field> fields();

namespace reg {  // reg::CE_CONTROL_winograd
struct Adjust {
  int64_t plus, times;
};
inline constexpr Adjust Plain{0, 1}, PlusOne{1, 1}, Times16{0, 16};
inline constexpr bool Signed = true, Unsigned = false;
#define FIELD(register, name, low_bit, bits, sign, adjust)                            \
  inline constexpr Field register##_##name{#register, #name,       low_bit,     bits, \
                                           sign,      adjust.plus, adjust.times};
#include "intarsia/targets/ethos_n/registers.def"
#undef FIELD
}  // namespace reg

}  // namespace intarsia::targets::ethos_n
