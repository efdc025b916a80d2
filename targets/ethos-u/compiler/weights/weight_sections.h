// Where palettes start in a weight stream.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace intarsia::targets::ethos_u {

struct StreamStatistics;

// What headers are worth beside the bits that they take, in bits.
struct HeaderWorth {
  int32_t slice = 0, palette = 0, entry = 0;
};

// Ends of the sections; the last is the end of the weights, whose statistics are known.
std::vector<size_t> choose_sections(std::span<const int16_t> weights,
                                    const StreamStatistics& statistics, const HeaderWorth& headers);

}  // namespace intarsia::targets::ethos_u
