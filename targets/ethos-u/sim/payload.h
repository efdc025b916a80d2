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

// Reads the actions; fails with one sentence. A payload has exactly one stream.
std::optional<std::string> read_payload(std::span<const uint8_t> bytes, Payload& payload);

}  // namespace intarsia::simulators::ethos_u
