// Finds the stream in a driver payload and whom it was made for.
#pragma once

#include "intarsia/contract/device.h"
#include "intarsia/targets/ethos_u/registers.h"

namespace intarsia::targets::ethos_u {

struct StreamView {
  const uint8_t* commands = nullptr;
  uint32_t bytes = 0;
  uint32_t config = 0, architecture = 0;  // words of OPTIMIZER_CONFIG
  bool has_config = false;
};

inline uint32_t word_at(const uint8_t* bytes) {
  return bytes[0] | static_cast<uint32_t>(bytes[1]) << 8 | static_cast<uint32_t>(bytes[2]) << 16 |
         static_cast<uint32_t>(bytes[3]) << 24;
}

// False: damaged, cut short, or without a stream.
inline bool find_stream(const intarsia_stream& payload, StreamView& view) {
  const uint32_t words = payload.command_bytes / 4;
  const auto word = [&](uint32_t at) { return word_at(payload.commands + 4 * at); };
  if (payload.commands == nullptr || words == 0 || word(0) != action::kMagic) return false;
  for (uint32_t at = 1; at < words;) {
    const uint32_t now = word(at), left = words - at - 1;
    switch (now & 0xFF) {
      case action::OPTIMIZER_CONFIG:
        if (left < action::OPTIMIZER_CONFIG_words) return false;
        view.config = word(at + 1);
        view.architecture = word(at + 2);
        view.has_config = true;
        at += 1 + action::OPTIMIZER_CONFIG_words;
        break;
      case action::COMMAND_STREAM: {
        const uint32_t length = field(now, mask::COMMAND_STREAM_length_high) << 16 |
                                field(now, mask::COMMAND_STREAM_length_low);
        view.commands = payload.commands + 4 * (at + 1);
        view.bytes = 4 * length;
        return length != 0 && length <= left;
      }
      case action::READ_APB:
      case action::DUMP_SHRAM:
      case action::NOP:
        ++at;
        break;
      default:
        return false;
    }
  }
  return false;
}

// A device runs the streams of its own configuration, and of its architecture up to its revision.
inline bool fits(const StreamView& stream, uint32_t id, uint32_t config) {
  constexpr uint32_t kSame = mask::CONFIG_macs_per_cc | mask::CONFIG_cmd_stream_version |
                             mask::CONFIG_shram_size | mask::CONFIG_product;
  return stream.has_config && ((stream.config ^ config) & kSame) == 0 &&
         field(stream.architecture, mask::ID_arch_major_rev) ==
             field(id, mask::ID_arch_major_rev) &&
         field(stream.architecture, mask::ID_arch_minor_rev) <= field(id, mask::ID_arch_minor_rev);
}

}  // namespace intarsia::targets::ethos_u
