// Sizes of the pieces that an extent can be cut into, in whole units of the hardware: what searches of blocks, stripes and
// slices go through. Of all sizes that give as many pieces the smallest is listed, since longer ones take more memory and
// leave the last piece shorter.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace intarsia::npu {

// The largest first: whole units, each with another number of pieces, down to one unit. `extent`, `unit`: at least 1.
// `most`: sizes above it are cut down to it; whole units of it are taken, at least one.
std::vector<int64_t> piece_sizes(int64_t extent, int64_t unit,
                                 std::optional<int64_t> most = std::nullopt);

}  // namespace intarsia::npu
