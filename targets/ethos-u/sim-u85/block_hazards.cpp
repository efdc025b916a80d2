#include "intarsia/targets/ethos_u85/block_hazards.h"

#include <algorithm>
#include <array>
#include <vector>

#include "intarsia/targets/ethos_u/byte_ranges.h"
#include "intarsia/targets/ethos_u/rounding.h"

namespace intarsia::simulators::ethos_u85 {
namespace {

using ethos_u::Box;
using isa::ethos_u::ceil_div;
using isa::ethos_u::round_up;

constexpr int64_t kDepthUnit = 16;  // of what the accumulators hold
// Channels of the input that every job takes, where there are as many.
constexpr int32_t kLeastJobDepth = 8;

std::string size_text(const Operation& op) {
  return std::to_string(op.block_height) + "x" + std::to_string(op.block_width) + "x" +
         std::to_string(op.block_depth);
}

// Blocks of the OFM: depth first, then along a row of blocks, then down.
class Blocks {
 public:
  explicit Blocks(const Operation& op)
      : op_(op),
        rows_(ceil_div(op.ofm_height, op.block_height)),
        columns_(ceil_div(op.ofm_width, op.block_width)),
        depths_(ceil_div(op.ofm_depth, op.block_depth)) {}

  int64_t count() const { return int64_t{rows_} * columns_ * depths_; }

  // Before transposition.
  Box made(int64_t block) const {
    const auto z = static_cast<int32_t>(block % depths_) * op_.block_depth;
    const auto x = static_cast<int32_t>(block / depths_ % columns_) * op_.block_width;
    const auto y = static_cast<int32_t>(block / (int64_t{depths_} * columns_)) * op_.block_height;
    return {y, std::min(op_.ofm_height, y + op_.block_height),
            x, std::min(op_.ofm_width, x + op_.block_width),
            z, std::min(op_.ofm_depth, z + op_.block_depth)};
  }

  // In memory.
  Box stored(int64_t block) const {
    const Box box = made(block);
    using Range = std::array<int32_t, 2>;
    const Range h = {box.y0, box.y1}, w = {box.x0, box.x1}, c = {box.c0, box.c1};
    std::array<Range, 3> axes = {h, w, c};
    switch (op_.transpose) {
      case Transpose::HWC:
        break;
      case Transpose::WHC:
        axes = {w, h, c};
        break;
      case Transpose::HCW:
        axes = {h, c, w};
        break;
      case Transpose::WCH:
        axes = {w, c, h};
        break;
      case Transpose::CHW:
        axes = {c, h, w};
        break;
      case Transpose::CWH:
        axes = {c, w, h};
        break;
    }
    const FeatureMap& map = op_.ofm.map;
    const std::array<int32_t, 3> extents = {map.height, map.width, map.depth};
    if (op_.reverse != Reverse::None) {
      const auto axis = static_cast<size_t>(op_.reverse) - 1;
      axes[axis] = {extents[axis] - axes[axis][1], extents[axis] - axes[axis][0]};
    }
    return {axes[0][0], axes[0][1], axes[1][0], axes[1][1], axes[2][0], axes[2][1]};
  }

 private:
  const Operation& op_;
  int32_t rows_, columns_, depths_;
};

Box inside(const Box& box, const FeatureMap& map) {
  return {box.y0, std::min(box.y1, map.height), box.x0, std::min(box.x1, map.width),
          box.c0, std::min(box.c1, map.depth)};
}

// Positions of one axis that the first windows look at.
std::array<int32_t, 2> first_positions(int32_t outputs, int32_t stride, int32_t extent,
                                       int32_t padding) {
  return {0, (outputs - 1) * stride + extent - padding};
}

// What the first job reads of the IFM, or part of it.
Box first_read(const Operation& op) {
  const FeatureMap& map = op.ifm.map;
  const Box box = Blocks(op).made(0);
  if (op.kind == OperationKind::Elementwise) return inside(box, map);
  if (op.kind == OperationKind::Resize) {
    const auto from = [](const Operation::ResizeAxis& axis, int32_t extent) {
      return std::clamp(axis.offset / std::max(1, axis.steps), 0, extent - 1);
    };
    const int32_t y = from(op.resize_y, map.height), x = from(op.resize_x, map.width);
    return inside({y, y + 1, x, x + 1, 0, box.c1}, map);
  }
  const auto rows =
      first_positions(box.y1, op.kernel.stride_y, op.kernel.extent_y(), op.padding.top);
  const auto columns =
      first_positions(box.x1, op.kernel.stride_x, op.kernel.extent_x(), op.padding.left);
  const bool sums_depth = op.kind == OperationKind::Conv ||
                          (op.kind == OperationKind::Pool && op.pooling == PoolingMode::ReduceSum);
  return inside({rows[0], rows[1], columns[0], columns[1], 0, sums_depth ? kLeastJobDepth : box.c1},
                map);
}

// Of IFM2: rows of weights by output channel, or elements beside those of the block.
Box first_read2(const Operation& op) {
  const Box box = Blocks(op).made(0);
  if (op.kind == OperationKind::Conv)
    return inside({0, 1, 0, box.c1, 0, kLeastJobDepth}, op.ifm2.map);
  return inside(box, op.ifm2.map);
}

}  // namespace

std::optional<std::string> wrong_block(const Operation& op, const Configuration* configuration) {
  // Lines of a resize are made one by one.
  if (op.kind == OperationKind::Resize) return std::nullopt;
  const int64_t depth = std::min<int64_t>(op.micro_block.depth, kDepthUnit);
  if (op.block_height % op.micro_block.height != 0 || op.block_width % op.micro_block.width != 0 ||
      op.block_depth % depth != 0)
    return "blocks of " + size_text(op) + " are not made of micro-blocks of " +
           std::to_string(op.micro_block.height) + "x" + std::to_string(op.micro_block.width) +
           ", " + std::to_string(depth) + " channels at a time";
  const bool accumulates = op.kind != OperationKind::Elementwise;
  if (configuration == nullptr || !accumulates) return std::nullopt;
  const int64_t bytes = int64_t{op.block_height} * op.block_width *
                        round_up(op.block_depth, kDepthUnit) * (op.wide_accumulators ? 8 : 4);
  if (bytes <= accumulator_bytes(*configuration)) return std::nullopt;
  return "accumulators of a block of " + size_text(op) + " take " + std::to_string(bytes) +
         " bytes, and there are " + std::to_string(accumulator_bytes(*configuration));
}

int32_t largest_blockdep(const Operation& before, const Operation& next, int32_t most) {
  if (!before.ofm.in_memory()) return most;
  const Blocks written(before);
  for (int32_t allowed = 0; allowed < most; ++allowed) {
    // With one more block incomplete, the first job could meet the one that is as far from the last.
    if (allowed >= written.count()) break;
    const Box box = written.stored(written.count() - 1 - allowed);
    const auto meets = [&](const Operand& operand, const Box& read) {
      return operand.in_memory() && !read.empty() &&
             ethos_u::parts_meet(operand.map, read, before.ofm.map, box);
    };
    if (meets(next.ifm, first_read(next))) return allowed;
    if (next.has_ifm2 && meets(next.ifm2, first_read2(next))) return allowed;
  }
  return most;
}

}  // namespace intarsia::simulators::ethos_u85
