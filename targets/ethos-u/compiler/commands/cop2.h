// Payloads for the driver in their second form (isa/cop2.def): whom the stream is for, and where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "intarsia/result.h"

namespace intarsia::targets::ethos_u {

struct Cop2Payload {
  uint32_t config = 0, id = 0;            // registers of the device that it is for
  bool has_separate_regions = false;      // for inputs and outputs
  size_t first_word = 0, word_count = 0;  // of the stream, counted from the magic number
};

bool is_cop2(std::span<const uint32_t> words);

// Of words that `is_cop2` says yes to. Fails with a sentence about the payload.
Result<Cop2Payload> read_cop2(std::span<const uint32_t> words);

}  // namespace intarsia::targets::ethos_u
