// Marks: which operator of the model the commands of a stream belong to. The compiler writes them beside its
// streams for those who look at a run; no device reads them. Text, a line for each first command of an
// operator: the stream's key in hexadecimal, the command's byte offset in the stream, and the name, which goes
// to the end of the line.
#pragma once

#include <cstdint>
#include <span>

namespace intarsia::isa::ethos_u {

// FNV-1a of the stream's bytes.
constexpr uint64_t stream_key(std::span<const uint8_t> stream) {
  uint64_t key = 0xCBF29CE484222325;
  for (const uint8_t byte : stream) key = (key ^ byte) * 0x100000001B3;
  return key;
}

}  // namespace intarsia::isa::ethos_u
