#include "intarsia/targets/ethos_u/blocks.h"

#include <algorithm>

#include "intarsia/targets/ethos_u/rounding.h"

namespace intarsia::simulators::ethos_u {
namespace {

using isa::ethos_u::ceil_div;
using isa::ethos_u::round_up;

bool sums_depth(const Operation& op) {
  return op.kind == OperationKind::Conv ||
         (op.kind == OperationKind::Pool && op.pooling == PoolingMode::ReduceSum);
}

// IFM positions along one axis that OFM positions [first, end) see.
void seen(int32_t first, int32_t end, int32_t stride, int32_t window, int32_t pad, int32_t upscaled,
          int32_t factor, int32_t& from, int32_t& to) {
  from = std::max(0, first * stride - pad) / factor;
  const int32_t last = std::min(upscaled, (end - 1) * stride - pad + window) - 1;
  to = last < 0 ? 0 : last / factor + 1;
}

}  // namespace

int32_t ifm_block_depth(const Operation& op) {
  if (!sums_depth(op)) return op.ofm_block.depth;
  if (element_bytes(op.ifm.type) == 4) return 8;
  if (element_bytes(op.ifm.type) == 2) return round_up(std::min(op.ifm.depth, 16), 4);
  return round_up(std::min(op.ifm.depth, op.kernel.part_kernel_first ? 16 : 32), 8);
}

Blocks::Blocks(const Operation& operation) : operation_(operation) {
  rows_ = ceil_div(operation.ofm.height, operation.ofm_block.height);
  columns_ = ceil_div(operation.ofm.width, operation.ofm_block.width);
  depths_ = ceil_div(operation.ofm.depth, operation.ofm_block.depth);
  if (sums_depth(operation)) {
    job_depth_ = ifm_block_depth(operation);
    jobs_ = ceil_div(operation.ifm.depth, job_depth_);
  }
}

Box Blocks::ofm(int64_t block) const {
  const Block& size = operation_.ofm_block;
  const FeatureMap& map = operation_.ofm;
  const auto z = static_cast<int32_t>(block % depths_) * size.depth;
  const auto x = static_cast<int32_t>(block / depths_ % columns_) * size.width;
  const auto y = static_cast<int32_t>(block / (depths_ * columns_)) * size.height;
  return {y, std::min(map.height, y + size.height), x, std::min(map.width, x + size.width),
          z, std::min(map.depth, z + size.depth)};
}

Box Blocks::ifm(int64_t job) const {
  const Operation& op = operation_;
  Box box = ofm(job / jobs_);
  if (op.kind == OperationKind::Elementwise) return box;
  const int32_t factor = op.upscale == Upscale::None ? 1 : 2;
  Box in;
  seen(box.y0, box.y1, op.kernel.stride_y, op.kernel.extent_y(), op.padding.top, op.upscaled_height,
       factor, in.y0, in.y1);
  seen(box.x0, box.x1, op.kernel.stride_x, op.kernel.extent_x(), op.padding.left, op.upscaled_width,
       factor, in.x0, in.x1);
  in.c0 = box.c0;
  in.c1 = box.c1;
  if (job_depth_ > 0) {
    in.c0 = static_cast<int32_t>(job % jobs_) * job_depth_;
    in.c1 = std::min(op.ifm.depth, in.c0 + job_depth_);
  }
  return in;
}

Box Blocks::ifm2(int64_t job) const {
  const FeatureMap& map = operation_.ifm2;
  Box box = ofm(job / jobs_);
  if (map.height == 1) box.y0 = 0, box.y1 = 1;
  if (map.width == 1) box.x0 = 0, box.x1 = 1;
  if (map.depth == 1) box.c0 = 0, box.c1 = 1;
  return box;
}

}  // namespace intarsia::simulators::ethos_u
