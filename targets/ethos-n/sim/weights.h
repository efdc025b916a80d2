// The weight streams of one stripe, decoded from SRAM.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/targets/ethos_n/memory.h"

namespace intarsia::simulators::ethos_n {

// What an output generator keeps from one OFM, and from one stripe, to the next.
struct DecoderState {
  bool has_scale = false, has_compression = false;
  uint32_t scale = 0, shift = 0, zero_point = 0;
  uint32_t zero_divisor = 0, weight_divisor = 0;
  bool truncated = false;
  uint32_t weight_offset = 0, palette_bits = 0;
  std::vector<int16_t> palette;
};

struct OfmWeights {
  int32_t bias = 0;
  uint32_t scale = 0, shift = 0, zero_point = 0;  // the zero point: eight bits of the OFM's type
  std::vector<int16_t> weights;
};

// One OG's stream, as it lies in one bank.
class WeightReader {
 public:
  WeightReader(const Variant& variant, Sram& sram, uint32_t bank, uint64_t address)
      : variant_(variant), sram_(sram), bank_(bank), address_(address) {}

  // The next OFM; a sentence when the stream is broken.
  std::optional<std::string> next(DecoderState& state, OfmWeights& ofm);

 private:
  struct Symbols;
  uint32_t bits(uint32_t count);
  std::optional<std::string> payload_header(DecoderState& state, uint32_t& symbols);
  Symbols symbols(const DecoderState& state, uint32_t weight_divisor, uint32_t count);

  const Variant& variant_;
  Sram& sram_;
  uint32_t bank_;
  uint64_t address_, bit_ = 0;
};

}  // namespace intarsia::simulators::ethos_n
