// Streams written by hand for tests: a third reading of the table, beside the encoder's and the
// simulator's.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace intarsia::test::example_npu {

#define CONSTANT(name, value) inline constexpr int64_t k##name = value;
#include "intarsia/targets/example_npu/constants.def"
#undef CONSTANT

struct Place {
  int word, low_bit, bits;
  bool is_signed;
};

inline const std::map<std::string, Place>& places() {
  constexpr bool Signed = true, Unsigned = false;
  static const std::map<std::string, Place> table = {
#define COMMAND(name, opcode)
#define FIELD(command, name, word, low_bit, bits, sign) \
  {#command "." #name, {word, low_bit, bits, sign}},
#include "intarsia/targets/example_npu/commands.def"
#undef COMMAND
#undef FIELD
  };
  return table;
}

inline const std::map<std::string, uint32_t>& opcodes() {
  static const std::map<std::string, uint32_t> table = {
#define COMMAND(name, opcode) {#name, opcode},
#define FIELD(command, name, word, low_bit, bits, sign)
#include "intarsia/targets/example_npu/commands.def"
#undef COMMAND
#undef FIELD
  };
  return table;
}

using Fields = std::map<std::string, int64_t>;

inline std::vector<uint8_t> command(const std::string& name, const Fields& fields = {}) {
  std::vector<uint32_t> words(kCommandWords);
  words[0] = opcodes().at(name);
  for (const auto& [field, value] : fields) {
    const Place& place = places().at(name + "." + field);
    const uint64_t mask = (uint64_t{1} << place.bits) - 1;
    words.at(static_cast<size_t>(place.word)) |=
        static_cast<uint32_t>((static_cast<uint64_t>(value) & mask) << place.low_bit);
  }
  std::vector<uint8_t> bytes;
  for (const uint32_t word : words)
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(word >> (8 * i)));
  return bytes;
}

// begin, the operations, end.
inline std::vector<uint8_t> stream(const std::vector<int64_t>& region_bytes,
                                   const std::vector<std::vector<uint8_t>>& operations) {
  Fields begin = {{"stream_version", kStreamVersion},
                  {"lanes", kLanes},
                  {"region_count", static_cast<int64_t>(region_bytes.size())},
                  {"command_count", static_cast<int64_t>(operations.size()) + 2}};
  for (size_t i = 0; i < region_bytes.size(); ++i)
    begin["region" + std::to_string(i) + "_bytes"] = region_bytes[i];
  std::vector<uint8_t> bytes = command("begin", begin);
  for (const std::vector<uint8_t>& operation : operations)
    bytes.insert(bytes.end(), operation.begin(), operation.end());
  const std::vector<uint8_t> end = command("end");
  bytes.insert(bytes.end(), end.begin(), end.end());
  return bytes;
}

// out = a * b / 4 with 16 elements each: region 0 at 0, 16 and 32.
inline Fields small_mul() {
  return {{"offset_a", 0}, {"offset_b", 16}, {"offset_out", 32},      {"vectors", 1},
          {"low", -128},   {"high", 127},    {"multiplier", 1 << 30}, {"shift", 1}};
}

// Memory at an address that devices accept.
struct alignas(16) Block {
  uint8_t bytes[4096] = {};
};

}  // namespace intarsia::test::example_npu
