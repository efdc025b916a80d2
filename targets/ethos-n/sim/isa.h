// The tables of isa/ as the simulator reads them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace intarsia::simulators::ethos_n {

#define CONSTANT(name, value) inline constexpr uint32_t k##name = value;
#include "intarsia/targets/ethos_n/constants.def"
#undef CONSTANT

struct Variant {
  uint32_t number;  // of the block of kernel numbers
  std::string_view tag, stack_name, kernel_prefix;
  uint32_t ces, igs, ogs, emcs, ple_lanes;  // all but the first: of one CE
  uint32_t emc_bytes;

  uint32_t srams() const { return ces * emcs; }
  uint32_t all_igs() const { return ces * igs; }
  uint32_t all_ogs() const { return ces * ogs; }
};

std::span<const Variant> variants();
const Variant* find_variant(std::string_view tag);  // null: none

enum class Operation : uint8_t {
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
enum class KernelType : uint8_t { Any, Unsigned, Signed };
enum class Direction : uint8_t { None, X, Y };

struct Kernel {
  uint32_t number;
  Operation operation;
  uint32_t block_width, block_height, blocks;
  KernelType type;
  Direction direction;
  std::string_view text;
};

// By the number that streams carry; null when there is none, or when it is another variant's.
const Kernel* find_kernel(const Variant& variant, uint32_t number);

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

enum class Agent : uint32_t {
#define AGENT(name, number) name = number,
#include "intarsia/targets/ethos_n/stream.def"
};

enum class Command : uint32_t {
#define COMMAND(name, number, shape, queue) name = number,
#include "intarsia/targets/ethos_n/stream.def"
};

struct CommandRow {
  std::string_view name;
  uint32_t words;
  Queue queue;
};
std::span<const CommandRow> command_table();  // by number
std::string_view name_of(Counter counter);
std::string_view name_of(Queue queue);

struct AgentFieldRow {
  Agent agent;
  uint32_t byte, bytes;
};

namespace agent_field {  // agent_field::MCE_SCHEDULER_FILTER
#define AGENT_FIELD(agent, name, byte, bytes) \
  inline constexpr AgentFieldRow agent##_##name{Agent::agent, byte, bytes};
#include "intarsia/targets/ethos_n/stream.def"
}  // namespace agent_field

namespace word {  // word::Dma_SRAM_ADDR, an index
#define WORD(shape, name, index, count) inline constexpr uint32_t shape##_##name = index;
#include "intarsia/targets/ethos_n/stream.def"
}  // namespace word

struct FieldRow {
  uint32_t low_bit, bits;
  bool is_signed;
  uint32_t plus, times;

  constexpr int64_t get(uint32_t register_word) const {
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    auto value = static_cast<int64_t>((register_word >> low_bit) & mask);
    if (is_signed && (value >> (bits - 1)) != 0) value -= int64_t{1} << bits;
    return (value + plus) * times;
  }
};

namespace field {  // field::CE_CONTROL_winograd
inline constexpr bool Signed = true, Unsigned = false;
struct Adjust {
  uint32_t plus, times;
};
inline constexpr Adjust Plain{0, 1}, PlusOne{1, 1}, Times16{0, 16};
#define FIELD(register, name, low_bit, bits, sign, adjust) \
  inline constexpr FieldRow register##_##name{low_bit, bits, sign, adjust.plus, adjust.times};
#include "intarsia/targets/ethos_n/registers.def"
#undef FIELD
}  // namespace field

}  // namespace intarsia::simulators::ethos_n
