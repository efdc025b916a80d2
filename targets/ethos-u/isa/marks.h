// Marks: what is known of a stream and no device reads. The compiler writes them beside its streams for those
// who look at a run. Text, in lines that begin with the stream's key in hexadecimal:
//
//   KEY OFFSET NAME...             an operator of the model begins with the command at this byte of the stream
//   KEY region INDEX BYTES [const] so much memory belongs to a region; the stream does not write to it
//   KEY holds INDEX OFFSET BYTES   of a region that is not const: what has a value before the stream begins
//   KEY yields INDEX OFFSET BYTES   of such a region: what has to have a value when the stream has ended
//   KEY leaves INDEX               a later stream goes on with what is in the region
//   KEY finds INDEX                what earlier streams that leave it have written in the region has a value, too
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
