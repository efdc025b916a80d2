// How an operation is cut into blocks, and where they lie in the NPU's internal memory (SHRAM):
// output buffer, input blocks (two of each), accumulators (two), tables.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hardware/hardware.h"
#include "program/program.h"

namespace intarsia::targets::ethos_u {

enum class AccumulatorFormat : uint8_t { Int32, Int40 };

struct ShramLayout {
  int32_t ifm_end = 0;     // IFM_IB_END
  int32_t ifm2_start = 0;  // IFM2_IB_START
  int32_t acc_start = 0;   // AB_START
};

struct BlockConfig {
  Extent ofm;                // OFM_BLK_*
  Extent ifm;                // what one block reads at a time
  bool part_kernel = false;  // weight order
  AccumulatorFormat accumulators = AccumulatorFormat::Int32;
  ShramLayout shram;
};

// What the fit depends on.
struct BlockRequest {
  OperationKind kind = OperationKind::Conv;
  Extent ifm, ofm;
  int32_t ifm_bits = 8;
  Kernel kernel;
  Upscale upscale = Upscale::None;
  bool lut = false;
  bool ifm2_tensor = false;  // element-wise with a second feature map
};
BlockRequest block_request(const Operation& operation, DataType ifm_type, const Extent& ofm);

// Null when it does not fit.
std::optional<BlockConfig> try_block(const Hardware& hardware, const BlockRequest& request,
                                     const Extent& ofm_block, bool part_kernel);

AccumulatorFormat accumulators_of(const BlockRequest& request);

// The sizes worth considering, of which not all fit together: those that divide the output differently, the largest first; and the
// orders of weights.
struct BlockSizes {
  std::vector<int32_t> heights, widths, depths;
  std::vector<bool> part_kernel;
};
BlockSizes block_sizes(const Hardware& hardware, const BlockRequest& request);

}  // namespace intarsia::targets::ethos_u
