// Which weights each output generator reads, in which order, and how their streams lie in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"
#include "weights/weight_stream.h"

namespace intarsia::targets::ethos_n {

// The weights of OFMs first .. first + count - 1 as the DMA brings them.
struct WeightStripe {
  std::vector<uint8_t> bytes;  // words of 16 bytes go round the banks
  int64_t second_og_at = 0;    // bytes of a bank: where the streams of OGs beyond the banks begin
  int64_t bank_bytes = 0;
};

class WeightLayout {
 public:
  WeightLayout(const Variant& variant, const MceStep& step);

  WeightStripe stripe(int64_t first, int64_t count) const;
  const WeightCoding& coding() const { return coding_; }

 private:
  std::vector<int16_t> convolution(int64_t ofm) const;
  std::vector<int16_t> depthwise(int64_t ofm) const;
  std::vector<int16_t> vector_product(int64_t ofm) const;

  const Variant& variant_;
  const MceStep& step_;
  std::vector<std::vector<int16_t>> ordered_;  // by OFM
  WeightCoding coding_;
};

// An upper bound of WeightStripe::bank_bytes for any `count` OFMs.
int64_t most_bank_bytes(const Variant& variant, const MceStep& step, int64_t count);
// Weights of one OFM in its stream, padding included.
int64_t weights_of_ofm(const Variant& variant, const MceStep& step);

// The part of a filter that meets one sub-map of a stride of 2, in the order of the device: for rows
// and columns the taps from `first_y`, `first_x` on, every second one.
struct SubFilter {
  int64_t map_y = 0, map_x = 0;  // which rows and columns of the input
  int64_t first_y = 0, first_x = 0;
  int64_t height = 0, width = 0;  // at least 1: an empty one is a zero
  int64_t pad_top = 0, pad_left = 0;
  bool is_empty = false;
};
std::vector<SubFilter> sub_filters(const MceStep& step);

// Filters above 7 rows or columns are walked in pieces of 3.
bool is_wide(const MceStep& step);
int64_t wide_side(int64_t taps);  // rounded up to whole pieces

}  // namespace intarsia::targets::ethos_n
