#include "shared_halfwords.h"

#include <cstdlib>
#include <limits>

namespace intarsia::targets::cortex_m {
namespace {

constexpr int64_t kLanes = 4, kGroup = 4;

}  // namespace

std::optional<std::vector<uint8_t>> shared_halfwords(const WeightRows& rows, int64_t run) {
  std::vector<uint8_t> bytes;
  bool fits = true;
  const auto append = [&](int64_t channel, int64_t element) {
    const auto weight = [&](int64_t c) {
      const std::vector<int8_t>& row = rows[static_cast<size_t>(c)];
      const auto at = static_cast<size_t>(element);
      return at < row.size() ? row[at] : 0;
    };
    const int halfword = 256 * weight(channel + 1) + weight(channel);
    fits &= halfword >= std::numeric_limits<int16_t>::min();
    bytes.push_back(static_cast<uint8_t>(halfword));
    bytes.push_back(static_cast<uint8_t>(halfword >> 8));
  };
  for (const int64_t first : blocks_of(static_cast<int64_t>(rows.size()), kLanes))
    for (int64_t group = 0; group < run; group += kGroup)
      for (const int64_t start : {group, group + 1})
        for (const int64_t channel : {first, first + 2})
          for (const int64_t element : {start, start + 2}) append(channel, element);
  if (!fits) return std::nullopt;
  return bytes;
}

bool shared_sums_fit(const WeightRows& rows) {
  constexpr int64_t kLargestInput = 128, kLimit = int64_t{1} << 23;
  for (const int64_t first : blocks_of(static_cast<int64_t>(rows.size()), kLanes))
    for (const int64_t channel : {first + 1, first + 3}) {
      int64_t magnitudes = 0;
      for (const int8_t weight : rows[static_cast<size_t>(channel)])
        magnitudes += std::abs(static_cast<int>(weight));
      if (magnitudes * kLargestInput >= kLimit) return false;
    }
  return true;
}

std::vector<uint8_t> shared_table(const Channels& channels) {
  Channels blocks = channels;
  blocks.list.clear();
  for (const int64_t first : blocks_of(static_cast<int64_t>(channels.list.size()), kLanes))
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      Channel channel = channels.list[static_cast<size_t>(first + lane)];
      if (channels.quick && lane % 2 == 1) channel.bias *= 2;
      blocks.list.push_back(channel);
    }
  return blocks.table();
}

}  // namespace intarsia::targets::cortex_m
