// The driver payload around a stream: whom it was made for, and where the stream lies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "intarsia/targets/ethos_u/isa.h"

namespace intarsia::simulators::ethos_u {

struct Payload {
  const Configuration* made_for = nullptr;  // null: the payload does not say
  std::span<const uint8_t> stream;
  uint32_t stream_offset = 0;  // in the payload, bytes
};

// Whether the bytes begin with the magic number.
bool is_payload(std::span<const uint8_t> bytes);

// What the actions say, of whatever product.
struct PayloadActions {
  bool has_config = false;
  uint32_t config = 0, id = 0;  // words of OPTIMIZER_CONFIG, in the form of the registers
  uint32_t config_offset = 0;   // of the action, bytes
  std::span<const uint8_t> stream;
  uint32_t stream_offset = 0;  // bytes
};
// Fails with one sentence. A payload has exactly one stream.
std::optional<std::string> read_actions(std::span<const uint8_t> bytes, PayloadActions& actions);
// The beginning of such a sentence.
std::string at_action(uint32_t offset);

// Reads the actions for an Ethos-U55 or U65; fails with one sentence.
std::optional<std::string> read_payload(std::span<const uint8_t> bytes, Payload& payload);

}  // namespace intarsia::simulators::ethos_u
