// Ethos-U weight streams: the hardware's lossless compression of weights in the order of
// `order_weights`. A stream is a list of slices; each has its Golomb-Rice parameters for weights and,
// optionally, for runs of zeros between them, and may start a new palette.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weights/weight_sections.h"

namespace intarsia::targets::ethos_u {

// What a stream holds besides weights.
struct WeightHeaders {
  int64_t slices = 0, palettes = 0, entries = 0;
};

// Values are -255..255; at least one. The result ends at a multiple of 16 bytes. It is the shortest that is found, headers
// counted as longer by their worth.
std::vector<uint8_t> encode_weights(std::span<const int16_t> weights,
                                    WeightHeaders* headers = nullptr,
                                    const HeaderWorth& worth = {});

// About how many bytes they take, whatever their order.
int64_t estimate_weight_bytes(std::span<const int16_t> weights);

}  // namespace intarsia::targets::ethos_u
