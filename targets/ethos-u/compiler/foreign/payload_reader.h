// Reads driver payloads that others made: for which device, and where the stream in them is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hardware/configuration.h"
#include "intarsia/graph/shared_bytes.h"
#include "intarsia/result.h"

namespace intarsia::targets::ethos_u {

struct Architecture {
  uint32_t major = 0, minor = 0, patch = 0;
};
// Of the devices themselves. They run streams of their major revision up to their minor one.
Architecture architecture_of(const Configuration& configuration);

inline constexpr uint32_t kU85Product = 2;  // a later architecture with a stream of its own

// Whom a stream was made for.
struct StreamDevice {
  std::string name;                 // "ethos-u55-128"; a description when there is no such device
  int64_t macs = 0, shram_kib = 0;  // of all cores
  uint32_t product = 0, stream_version = 0;
  Architecture architecture;
};

struct PayloadView {
  std::optional<StreamDevice> device;  // absent: it does not say
  bool has_separate_regions =
      false;  // for inputs and outputs, beside those for constants and arena
  size_t first_word = 0, word_count = 0;  // of the stream, counted from the magic number
};

// Little-endian; a rest of less than four bytes is left out.
std::vector<uint32_t> words_of(std::span<const uint8_t> bytes);

// In either form, COP1 or COP2. Fails with a sentence about the payload.
Result<PayloadView> read_payload(std::span<const uint32_t> words);

// A payload that was read without failure, in the form that every driver takes.
SharedBytes as_cop1(const SharedBytes& payload);

}  // namespace intarsia::targets::ethos_u
