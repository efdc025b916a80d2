// The driver payload around a stream for an Ethos-U85: whom it was made for, and where the stream lies.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "intarsia/targets/ethos_u85/isa.h"

namespace intarsia::simulators::ethos_u85 {

struct Payload {
  const Configuration* made_for = nullptr;
  std::span<const uint8_t> stream;
};

// Fails with one sentence.
std::optional<std::string> read_payload(std::span<const uint8_t> bytes, Payload& payload);

}  // namespace intarsia::simulators::ethos_u85
