// An intrinsic with its addresses known: what hazards and block dependencies are judged by.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "commands/intrinsics.h"
#include "hardware/hardware.h"

namespace intarsia::targets::ethos_u {

// Bytes of a region, or of SHRAM.
struct AddressRange {
  static constexpr int32_t kShram = -1;
  int32_t region = 0;
  int64_t begin = 0, end = 0;
  bool overlaps(const AddressRange& other) const {
    return region == other.region && begin < other.end && other.begin < end;
  }
};

// A feature map at its addresses.
struct PlacedMap {
  int32_t region = 0;
  std::array<int64_t, 4> bases = {};  // -1: tile not used
  int64_t tile_height = 0, tile_width = 0;
  int64_t stride_y = 0, stride_x = 0, stride_c = 0;
  int64_t element_bytes = 1;
  bool bricks = false;
  Extent extent;
  AddressRange range;  // all of it

  // Whether no two elements share bytes: pixels deeper than their distance do, as taps folded into channels are.
  bool is_disjoint() const;
  // Whether equal coordinates are equal addresses, and different ones different.
  bool same_place(const PlacedMap& other) const;
  // Addresses of a row's part, both ends included; those between its pieces too where it lies in two tiles.
  AddressRange row(int64_t y, int64_t x0, int64_t x1, int64_t c0, int64_t c1) const;
};

struct StreamOperation {
  bool is_dma = false;
  std::vector<AddressRange> reads, writes;

  // Not of a DMA.
  PlacedMap ifm, ofm;
  std::optional<PlacedMap> ifm2;
  Extent ofm_block;
  bool sums_depth = false;  // every output needs all input channels
  bool elementwise = false;
  bool uses_lut = false;
  int64_t kernel_height = 1, kernel_width = 1, stride_y = 1, stride_x = 1, upscale = 1;
  int64_t pad_top = 0, pad_left = 0;
};

// Where a memory operand came to lie.
struct PlacedOperand {
  uint32_t base = 0;
  AddressRange range;
};

StreamOperation view_operation(const Hardware& hardware, const Intrinsic& intrinsic,
                               const std::vector<PlacedOperand>& operands);

}  // namespace intarsia::targets::ethos_u
