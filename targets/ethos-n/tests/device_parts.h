// Agents and commands written by hand, field by field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "intarsia/targets/ethos_n/memory.h"
#include "intarsia/targets/ethos_n/stream.h"

namespace intarsia::test::ethos_n {

namespace sim = simulators::ethos_n;

inline const sim::Variant& variant(const char* tag = "ethos-n78-4tops-2ple") {
  return *sim::find_variant(tag);
}

struct AgentValue {
  sim::AgentFieldRow field;
  uint32_t value;
};
inline sim::AgentRecord make_agent(sim::Agent type, std::initializer_list<AgentValue> values) {
  sim::AgentRecord agent{type, {}};
  for (const AgentValue& value : values)
    for (uint32_t i = 0; i < value.field.bytes; ++i)
      agent.bytes[value.field.byte + i] = static_cast<uint8_t>(value.value >> (8 * i));
  return agent;
}

struct WordValue {
  uint32_t word, value;
};
inline sim::CommandRecord make_command(sim::Command command,
                                       std::initializer_list<WordValue> values) {
  const auto number = static_cast<uint32_t>(command);
  sim::CommandRecord record{command, std::vector<uint32_t>(sim::command_table()[number].words)};
  record.words[0] = number;
  for (const WordValue& value : values) record.words[value.word] = value.value;
  return record;
}

// One buffer, number 0, over `memory`.
inline sim::Dram make_dram(std::vector<uint8_t>& memory, bool writable = true) {
  sim::Dram dram;
  dram.buffers.push_back({true, writable, &memory, 0, memory.size()});
  return dram;
}

// Bits, lowest first.
class BitWriter {
 public:
  void write(uint32_t value, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i, ++bits_) {
      if (bits_ % 8 == 0) bytes.push_back(0);
      bytes.back() = static_cast<uint8_t>(
          bytes.back() | static_cast<uint32_t>(uint64_t{value} >> i & 1) << bits_ % 8);
    }
  }
  std::vector<uint8_t> bytes;

 private:
  size_t bits_ = 0;
};

// An OFM without compression: weights as symbols of nine bits.
inline void write_ofm(BitWriter& out, int32_t bias, uint32_t scale, uint32_t shift,
                      uint8_t zero_point, const std::vector<int>& weights) {
  out.write(0, 16), out.write(static_cast<uint32_t>(bias), 32);
  out.write(1, 1), out.write(scale, 16), out.write(shift, 6), out.write(zero_point, 8);
  out.write(static_cast<uint32_t>(weights.size()), 17);
  out.write(1, 1), out.write(7, 3), out.write(7, 3), out.write(0, 1), out.write(0, 5);
  out.write(1, 1), out.write(0, 5), out.write(7, 3);
  for (const int weight : weights)
    out.write(static_cast<uint32_t>(weight < 0 ? -2 * weight - 1 : 2 * weight), 9);
}

}  // namespace intarsia::test::ethos_n
