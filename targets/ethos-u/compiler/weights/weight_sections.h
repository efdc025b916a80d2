// Where palettes start in a weight stream.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace intarsia::targets::ethos_u {

struct Statistics;

// What headers are worth beside the bits that they take, in bits.
struct HeaderWorth {
  int32_t slice = 0, palette = 0, entry = 0;
};

// Which streams palettes of their own are looked for in, which takes a third of the time of encoding.
enum class Sections : uint8_t {
  Always,
  // Where stretches of a thousand weights and more are smaller by themselves. Of many weights those that are left out would
  // gain a few thousandths.
  WhereUneven,
};

// Ends of the sections; the last is the end of the weights, whose statistics are known.
std::vector<size_t> choose_sections(std::span<const int16_t> weights, const Statistics& statistics,
                                    const HeaderWorth& headers, Sections where);

}  // namespace intarsia::targets::ethos_u
