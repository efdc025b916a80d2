// Command streams written by hand, from the table in isa/ with code of the tests' own.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace intarsia::test::ethos_u {

// Bytes that begin at a multiple of 16.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(const std::vector<uint8_t>& bytes) : units_((bytes.size() + 15) / 16) {
    for (size_t i = 0; i < bytes.size(); ++i) units_[i / 16].bytes[i % 16] = bytes[i];
  }
  const uint8_t* data() const { return units_.empty() ? nullptr : units_[0].bytes; }

 private:
  struct alignas(16) Unit {
    uint8_t bytes[16] = {};
  };
  std::vector<Unit> units_;
};

class StreamWriter {
 public:
  StreamWriter& word(uint32_t value) {
    for (int byte = 0; byte < 4; ++byte)
      bytes_.push_back(static_cast<uint8_t>(value >> (8 * byte)));
    return *this;
  }
  // A command of one word, its parameter as a whole.
  StreamWriter& set(const std::string& command, int64_t parameter) {
    return word(code_of(command) | static_cast<uint32_t>(parameter & 0xFFFF) << 16);
  }
  // A command with a payload.
  StreamWriter& address(const std::string& command, uint64_t value) {
    word(code_of(command) | 0x4000 | static_cast<uint32_t>(value >> 32) << 16);
    return word(static_cast<uint32_t>(value));
  }
  StreamWriter& scale(const std::string& command, uint32_t multiplier, uint32_t shift) {
    word(code_of(command) | 0x4000 | shift << 16);
    return word(multiplier);
  }

  const std::vector<uint8_t>& bytes() const { return bytes_; }
  AlignedBytes aligned_bytes() const { return AlignedBytes(bytes_); }

 private:
  static uint32_t code_of(const std::string& command) {
#define COMMAND0(name, code, products) \
  if (command == #name) return code;
#define COMMAND1(name, code, payload, products) \
  if (command == #name) return code;
#define FIELD(...)
#define ENUMERATOR(...)
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR
    throw std::logic_error("no command " + command);
  }

  std::vector<uint8_t> bytes_;
};

// The stream as Arm's driver takes it, for an ethos-u55-128.
inline std::vector<uint8_t> payload_of_u55_128(const StreamWriter& stream) {
  StreamWriter words;
  words.word(0x31504F43).word(0x00100001).word(0x1807).word(0x10060000).word(5).word(5).word(5);
  words.word(static_cast<uint32_t>(stream.bytes().size() / 4) << 16 | 2);
  std::vector<uint8_t> bytes = words.bytes();
  bytes.insert(bytes.end(), stream.bytes().begin(), stream.bytes().end());
  return bytes;
}

}  // namespace intarsia::test::ethos_u
