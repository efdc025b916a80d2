// What a package holds of a network: where its tensors are, and the network (isa/payload.def).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "intarsia/result.h"

namespace intarsia::targets::ethos_n {

struct BufferPlace {
  uint32_t region = 0, offset = 0;
};

struct PayloadView {
  int64_t variant = 0;
  std::vector<BufferPlace> places;
  std::span<const uint8_t> network;
};

// Buffers that the driver takes in one network, the command stream among them.
int64_t most_buffers();

std::vector<uint8_t> make_payload(int64_t variant, std::span<const BufferPlace> places,
                                  std::span<const uint8_t> network);
bool is_payload(std::span<const uint8_t> bytes);
Result<PayloadView> read_payload(std::span<const uint8_t> bytes);

}  // namespace intarsia::targets::ethos_n
