// The bit stream of the weights that one output generator (OG) reads: for every OFM a header with bias
// and scale, a header with the coding, and symbols in one of four codings (fixed width or Golomb-Rice,
// with or without runs of zeros; with or without a palette).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"

namespace intarsia::targets::ethos_n {

class BitWriter {
 public:
  void put(uint64_t value, uint32_t bits);
  uint64_t size() const { return size_; }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
  uint64_t size_ = 0;
};

// One for all OFMs of a layer.
struct WeightCoding {
  static constexpr uint32_t kNone = 7;
  uint32_t zero_divisor = kNone;    // 0..3: zeros are runs
  uint32_t weight_divisor = kNone;  // 0..5: Golomb-Rice; none: symbols of a fixed width
  uint32_t weight_offset = 0;       // the smallest symbol that is not in the palette
  uint32_t palette_bits = 0;  // of an entry minus 2; without a palette the width of symbols minus 2
  std::vector<int16_t> palette;  // none, or 2 to 32
  bool operator==(const WeightCoding&) const = default;
};

// The coding that takes fewest bits for these weights.
WeightCoding choose_coding(const Variant& variant, std::span<const int16_t> weights);

struct OfmStream {
  int32_t bias = 0;
  ChannelScale scale;
  int32_t zero_point = 0;
  std::vector<int16_t> weights;
};

// The OFMs of one OG, one after another.
class OgWriter {
 public:
  OgWriter(const Variant& variant, const WeightCoding& coding)
      : variant_(variant), coding_(coding) {}
  void add(const OfmStream& ofm);
  std::vector<uint8_t> finish() { return std::move(bits_.bytes()); }  // not padded

 private:
  void put_payload_header(size_t symbols, bool first);
  void put_symbols(std::span<const int16_t> weights);

  const Variant& variant_;
  const WeightCoding& coding_;
  BitWriter bits_;
  bool is_first_ = true;
  ChannelScale scale_;
  int32_t zero_point_ = 0;
};

}  // namespace intarsia::targets::ethos_n
