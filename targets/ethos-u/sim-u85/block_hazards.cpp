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
// Outputs that are larger are not looked through byte by byte.
constexpr uint64_t kMostOverwritten = uint64_t{1} << 26;

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

// Positions [first, end) of an axis, as far as a map has them. An operand that is shorter than the OFM is repeated.
std::array<int32_t, 2> elements_of(int32_t first, int32_t end, int32_t outputs, int32_t extent) {
  if (extent < outputs) return {0, extent};
  return {first, std::min(end, extent)};
}

// Of an operand of an elementwise operation, what the box of the OFM takes.
Box elements_beside(const Operation& op, const Box& box, const FeatureMap& map) {
  const auto rows = elements_of(box.y0, box.y1, op.ofm_height, map.height);
  const auto columns = elements_of(box.x0, box.x1, op.ofm_width, map.width);
  const auto channels = elements_of(box.c0, box.c1, op.ofm_depth, map.depth);
  return {rows[0], rows[1], columns[0], columns[1], channels[0], channels[1]};
}

// Positions of one axis that the windows of outputs [first, end) look at.
std::array<int32_t, 2> window_positions(int32_t first, int32_t end, int32_t stride, int32_t extent,
                                        int32_t padding, int32_t inputs) {
  return {std::max(0, first * stride - padding),
          std::min(inputs, (end - 1) * stride + extent - padding)};
}

bool sums_depth(const Operation& op) {
  return op.kind == OperationKind::Conv ||
         (op.kind == OperationKind::Pool && op.pooling == PoolingMode::ReduceSum);
}

// What the first line of a resize begins with.
Box first_of_resize(const Operation& op) {
  const FeatureMap& map = op.ifm.map;
  const auto from = [](const Operation::ResizeAxis& axis, int32_t extent) {
    return std::clamp(axis.offset / std::max(1, axis.steps), 0, extent - 1);
  };
  const int32_t y = from(op.resize_y, map.height), x = from(op.resize_x, map.width);
  return {y, y + 1, x, x + 1, 0, std::min(Blocks(op).made(0).c1, map.depth)};
}

// What a block reads of the IFM: of its channels at most `depth` where it makes sums over them. Of a resize, all.
Box read_of(const Operation& op, int64_t block, int32_t depth) {
  const FeatureMap& map = op.ifm.map;
  const Box box = Blocks(op).made(block);
  if (op.kind == OperationKind::Resize) return ethos_u::whole(map);
  if (op.kind == OperationKind::Elementwise) return elements_beside(op, box, map);
  const auto channels = sums_depth(op) ? std::array<int32_t, 2>{0, std::min(depth, map.depth)}
                                       : elements_of(box.c0, box.c1, op.ofm_depth, map.depth);
  const auto rows = window_positions(box.y0, box.y1, op.kernel.stride_y, op.kernel.extent_y(),
                                     op.padding.top, map.height);
  const auto columns = window_positions(box.x0, box.x1, op.kernel.stride_x, op.kernel.extent_x(),
                                        op.padding.left, map.width);
  return {rows[0], rows[1], columns[0], columns[1], channels[0], channels[1]};
}

// Of IFM2: rows of weights by output channel, or elements beside those of the block.
Box read2_of(const Operation& op, int64_t block, int32_t depth) {
  const FeatureMap& map = op.ifm2.map;
  const Box box = Blocks(op).made(block);
  if (op.kind == OperationKind::Conv)
    return {0, map.height, box.c0, std::min(box.c1, map.width), 0, std::min(depth, map.depth)};
  return elements_beside(op, box, map);
}

// The blocks from the first on that are one job each. Of sums over more channels than every job takes it is only known that
// the first block begins with a job of so many.
int64_t blocks_of_one_job(const Operation& op) {
  const bool one_job = !sums_depth(op) || op.ifm.map.depth <= kLeastJobDepth;
  return one_job ? Blocks(op).count() : 1;
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
  const bool is_resize = next.kind == OperationKind::Resize;
  const int64_t jobs = is_resize ? 1 : blocks_of_one_job(next);
  // Job n, counted from 0, may meet the block that is m from the last where BLOCKDEP is above n + m.
  for (int32_t allowed = 0; allowed < most; ++allowed)
    for (int32_t job = 0; job <= allowed && job < jobs; ++job) {
      const int64_t from_last = allowed - job;
      if (from_last >= written.count()) continue;
      const Box box = written.stored(written.count() - 1 - from_last);
      const auto meets = [&](const Operand& operand, const Box& read) {
        return operand.in_memory() && !read.empty() &&
               ethos_u::parts_meet(operand.map, read, before.ofm.map, box);
      };
      const Box read = is_resize ? first_of_resize(next) : read_of(next, job, kLeastJobDepth);
      if (meets(next.ifm, read)) return allowed;
      if (next.has_ifm2 && meets(next.ifm2, read2_of(next, job, kLeastJobDepth))) return allowed;
    }
  return most;
}

bool overwrites_input(const std::vector<Operation>& chain) {
  const Operation& last = chain.back();
  if (!last.ofm.in_memory()) return false;
  const FeatureMap& ofm = last.ofm.map;
  const auto looks_at = [&](const Operation& op, const Operand& operand) {
    if (!operand.in_memory()) return false;
    // Where an OFM lies on the map, element by element, each block reads what it then writes.
    const FeatureMap& map = operand.map;
    const bool by_element = op.kind == OperationKind::Elementwise &&
                            last.transpose == Transpose::HWC && last.reverse == Reverse::None;
    if (by_element && ethos_u::same_layout(map, ofm) && map.height == ofm.height &&
        map.width == ofm.width && map.depth == ofm.depth)
      return false;
    return ethos_u::parts_meet(map, ethos_u::whole(map), ofm, ethos_u::whole(ofm));
  };
  struct Read {
    const Operation* op;
    bool second;
  };
  std::vector<Read> reads;
  for (const Operation& op : chain) {
    if (looks_at(op, op.ifm)) reads.push_back({&op, false});
    if (op.has_ifm2 && looks_at(op, op.ifm2)) reads.push_back({&op, true});
  }
  if (reads.empty()) return false;

  uint64_t low = UINT64_MAX, high = 0;
  for (const ethos_u::ByteRange& range : ethos_u::tile_ranges(ofm)) {
    low = std::min(low, range.first);
    high = std::max(high, range.end);
  }
  if (high - low > kMostOverwritten) return false;
  // Blocks in the order in which they are written: those that wrote a byte before this block reads it.
  std::vector<uint8_t> written(static_cast<size_t>(high - low));
  const Blocks blocks(last);
  for (int64_t block = 0; block < blocks.count(); ++block) {
    for (const auto& [op, second] : reads) {
      const FeatureMap& map = second ? op->ifm2.map : op->ifm.map;
      const Box box = second ? read2_of(*op, block, map.depth) : read_of(*op, block, map.depth);
      const bool sees_old = ethos_u::for_each_run(map, box, [&](const ethos_u::ByteRange& run) {
        for (uint64_t at = std::max(run.first, low); at < std::min(run.end, high); ++at)
          if (written[static_cast<size_t>(at - low)] != 0) return false;
        return true;
      });
      if (!sees_old) return true;
    }
    ethos_u::for_each_run(ofm, blocks.stored(block), [&](const ethos_u::ByteRange& run) {
      std::fill(written.begin() + static_cast<ptrdiff_t>(run.first - low),
                written.begin() + static_cast<ptrdiff_t>(run.end - low), uint8_t{1});
      return true;
    });
  }
  return false;
}

}  // namespace intarsia::simulators::ethos_u85
