// Where palettes start in a weight stream.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace intarsia::targets::ethos_u {

// Ends of the sections; the last is the end of the weights.
std::vector<size_t> choose_sections(std::span<const int16_t> weights);

}  // namespace intarsia::targets::ethos_u
