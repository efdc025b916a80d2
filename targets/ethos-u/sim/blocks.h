// The order in which the device makes an operation: blocks of the OFM, depth first, then along a row
// of blocks, then down; each in jobs, one for every block of IFM channels that it sums.
#pragma once

#include <cstdint>

#include "intarsia/targets/ethos_u/byte_ranges.h"
#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

class Blocks {
 public:
  explicit Blocks(const Operation& operation);

  int64_t count() const { return rows_ * columns_ * depths_; }
  int64_t jobs_per_block() const { return jobs_; }
  int64_t job_count() const { return count() * jobs_; }
  Box ofm(int64_t block) const;
  // What a job reads; an empty box where there is nothing but padding. `ifm2`: element-wise alone.
  Box ifm(int64_t job) const;
  Box ifm2(int64_t job) const;

 private:
  const Operation& operation_;
  int64_t rows_ = 0, columns_ = 0, depths_ = 0, jobs_ = 1;
  int32_t job_depth_ = 0;
};

// Channels of an IFM block.
int32_t ifm_block_depth(const Operation& operation);

}  // namespace intarsia::simulators::ethos_u
