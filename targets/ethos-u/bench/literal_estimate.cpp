#include "literal_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "intarsia/targets/ethos_u/rounding.h"

namespace intarsia::bench {
namespace {

namespace sim = simulators::ethos_u;
using isa::ethos_u::ceil_div;
using isa::ethos_u::kPublished;
using isa::ethos_u::MemoryTiming;
using isa::ethos_u::NpuTiming;
using isa::ethos_u::round_up;
using sim::Operation;

struct Extent {
  int64_t height = 1, width = 1, depth = 1;
  int64_t elements() const { return height * width * depth; }
};

Extent extent_of(const sim::FeatureMap& map) {
  return {map.height, map.width, map.depth};
}
Extent least(const Extent& a, const Extent& b) {
  return {std::min(a.height, b.height), std::min(a.width, b.width), std::min(a.depth, b.depth)};
}

bool is_elementwise(const Operation& op) {
  return op.kind == sim::OperationKind::Elementwise;
}
bool is_reduce_sum(const Operation& op) {
  return op.kind == sim::OperationKind::Pool && op.pooling == sim::PoolingMode::ReduceSum;
}
bool sums_channels(const Operation& op) {
  return op.kind == sim::OperationKind::Conv || is_reduce_sum(op);
}

// The IFM that a block of the OFM needs, in units of micro-blocks; no more of a window at once than 8x8.
Extent ifm_block(const Operation& op, const NpuTiming& npu) {
  const auto side = [&](int64_t block, int64_t stride, int64_t kernel, int64_t dilation,
                        int64_t ublock) {
    const int64_t window = std::min<int64_t>(8, (kernel - 1) * dilation + 1);
    const int64_t seen = (block - 1) * stride + window;
    return round_up(op.upscale == sim::Upscale::None ? seen : ceil_div(seen, 2), ublock);
  };
  if (is_elementwise(op)) return {op.ofm_block.height, op.ofm_block.width, op.ofm_block.depth};
  int64_t depth = op.ofm_block.depth;
  if (sums_channels(op))
    depth = sim::element_bytes(op.ifm.type) == 2
                ? round_up(std::min(op.ifm.depth, 16), 4)
                : round_up(std::min(op.ifm.depth, op.kernel.part_kernel_first ? 16 : 32), 8);
  return {side(op.ofm_block.height, op.kernel.stride_y, op.kernel.height, op.kernel.dilation_y,
               npu.ofm_ublock.height),
          side(op.ofm_block.width, op.kernel.stride_x, op.kernel.width, op.kernel.dilation_x,
               npu.ofm_ublock.width),
          depth};
}

// Bytes of which each burst brings `run` of its own.
double with_waste(const MemoryTiming& memory, double bytes, double run) {
  const auto burst = static_cast<double>(memory.burst_bytes);
  return bytes * burst / std::min(burst, std::max(1.0, run));
}

// Contiguous bytes of a block: no more than one pixel of NHWC, but where an element's row is one byte wide.
double read_run(const sim::FeatureMap& map, const Extent& block) {
  const double bytes = sim::element_bytes(map.type);
  return bytes * static_cast<double>(map.brick ? 16 * block.width : block.depth);
}
double write_run(const sim::FeatureMap& map, const Extent& block, int64_t cores) {
  const int64_t bytes = sim::element_bytes(map.type);
  if (map.brick) return static_cast<double>(16 * bytes * block.width * cores);
  return static_cast<double>(
      std::min({int64_t{kPublished.most_written}, 16 * bytes * cores, bytes * block.depth}));
}

double rate_of(const Operation& op, const NpuTiming& npu) {
  double rate = npu.other_output;
  if (is_elementwise(op)) {
    const bool binary = op.has_ifm2 || op.has_scalar;
    if (op.ifm.type == sim::ElementType::S32)
      rate = binary ? npu.binary_32 : npu.unary_32;
    else if (op.elementwise == sim::ElementwiseMode::Mul)
      rate = op.ofm.type == sim::ElementType::S32 ? npu.multiply_32 : npu.multiply_or_acc40;
    else if (op.elementwise == sim::ElementwiseMode::Add ||
             op.elementwise == sim::ElementwiseMode::Sub)
      rate = npu.add_sub;
  } else if (op.accumulators == sim::AccumulatorFormat::I40) {
    rate = npu.multiply_or_acc40;
  } else if (op.kind == sim::OperationKind::Pool && op.pooling == sim::PoolingMode::Max) {
    rate = npu.max_pool;
  }
  if (op.activation.function != sim::ActivationFunction::Clamp) return std::max(rate, npu.table);
  const bool clamps =
      op.ofm.type != sim::ElementType::S32 && (op.activation.minimum > sim::lowest(op.ofm.type) ||
                                               op.activation.maximum < sim::highest(op.ofm.type));
  return clamps ? std::max(rate, npu.clamp) : rate;
}

// The MAC array for one full block.
double mac_cycles(const Operation& op, const NpuTiming& npu, Extent block) {
  Extent ublock = {npu.ofm_ublock.height, npu.ofm_ublock.width, npu.ofm_ublock.depth};
  if (op.has_weights() && ublock.height == 2 && op.ofm.height == 1 && op.ofm.width % 2 == 0 &&
      op.kernel.height == 1) {
    ublock = {1, 4, ublock.depth};
    block.height = 1;
  }
  const int64_t across = ceil_div(block.width, ublock.width),
                down = ceil_div(block.height, ublock.height),
                deep = ceil_div(block.depth, ublock.depth);
  const bool wide = sim::element_bytes(op.ifm.type) == 2;
  const bool long_sums = op.accumulators == sim::AccumulatorFormat::I40;
  const int64_t channels = std::min<int64_t>(ifm_block(op, npu).depth, op.ifm.depth);
  const int64_t eights = ceil_div(channels, kPublished.dot_product);
  const bool part_kernel = op.kind == sim::OperationKind::Conv && op.kernel.part_kernel_first;
  const auto weights =
      static_cast<double>(kPublished.step_weights * ublock.depth / kPublished.decoded_weights);
  double total = 0;
  for (int64_t y = 0; y < op.kernel.height; y += 8)
    for (int64_t x = 0; x < op.kernel.width; x += 8) {
      const int64_t elements =
          std::min<int64_t>(8, op.kernel.height - y) * std::min<int64_t>(8, op.kernel.width - x);
      double plane = static_cast<double>(kPublished.step * across * down);
      int64_t steps = elements, repeats = 1;
      if (op.kind == sim::OperationKind::Pool && !is_reduce_sum(op)) {
        steps = 1;
        total += static_cast<double>(std::max<int64_t>(kPublished.step, elements) * across * down *
                                     deep) *
                 (wide && npu.macs != 32 ? 2 : 1);
      } else {
        if (op.kind == sim::OperationKind::Depthwise) {
          steps = ceil_div(elements, 4);
          if (wide) plane *= 2;
        } else if (part_kernel) {
          steps = ceil_div(elements, wide ? 2 : 4);
          repeats = eights;
        }
        total += std::max(weights, plane) * static_cast<double>(steps * repeats * deep);
      }
      int64_t waits = 0;
      if (across * down == 1) waits = deep == 1 ? steps : (steps - 1) * deep;
      if (npu.macs == 32 && long_sums && (across == 1 || down == 1) && deep > 1) waits += deep;
      total +=
          (long_sums ? npu.delay_acc40 : npu.delay_acc32) * static_cast<double>(waits * repeats);
    }
  if (sums_channels(op))
    total *= static_cast<double>(ceil_div(op.ifm.depth, std::max<int64_t>(1, channels)));
  return total / static_cast<double>(npu.cores);
}

// Whether `next` makes other channels of what `one` makes.
bool is_slice_of(const Operation& next, const Operation& one) {
  const auto same_kernel = [&] {
    const sim::Kernel &a = next.kernel, &b = one.kernel;
    return a.height == b.height && a.width == b.width && a.stride_x == b.stride_x &&
           a.stride_y == b.stride_y && a.dilation_x == b.dilation_x && a.dilation_y == b.dilation_y;
  };
  if (!next.has_weights() || next.kind != one.kind || !same_kernel()) return false;
  if (next.ofm.height != one.ofm.height || next.ofm.width != one.ofm.width ||
      next.ofm.region != one.ofm.region || next.ofm.stride_y != one.ofm.stride_y ||
      next.ifm.region != one.ifm.region || next.ifm.stride_y != one.ifm.stride_y)
    return false;
  const uint64_t first = one.ofm.base[0], base = next.ofm.base[0];
  if (base <= first || static_cast<int64_t>(base - first) >= next.ofm.stride_y) return false;
  return next.kind == sim::OperationKind::Depthwise
             ? next.ifm.base[0] > one.ifm.base[0] &&
                   static_cast<int64_t>(next.ifm.base[0] - one.ifm.base[0]) < next.ifm.stride_y
             : next.ifm.base[0] == one.ifm.base[0] && next.ifm.depth == one.ifm.depth;
}

double transfer_cycles(const MemoryTiming& from, const MemoryTiming& to, double bytes) {
  return std::max(std::floor(bytes / from.bytes_per_cycle) + static_cast<double>(from.read_latency),
                  std::floor(bytes / to.bytes_per_cycle));
}

}  // namespace

void LiteralEstimate::before(const sim::DmaTransfer& dma, const sim::Memory&) {
  transfers_.push_back(dma);
}

void LiteralEstimate::before(const Operation& op, const sim::Memory&) {
  const bool joins = !wholes_.empty() && is_slice_of(op, wholes_.back().op);
  if (!joins) {
    wholes_.push_back({});
    wholes_.back().op = op;
    wholes_.back().first = seen_;
  }
  ++seen_;
  Whole& whole = wholes_.back();
  if (joins) {
    whole.op.ofm.depth += op.ofm.depth;
    if (op.kind == sim::OperationKind::Depthwise) whole.op.ifm.depth += op.ifm.depth;
  }
  whole.last_depth = op.ofm.depth;
  ++whole.slices;
  if (op.has_weights())
    for (size_t core = 0; core < static_cast<size_t>(op.cores); ++core) {
      whole.weight_bytes += static_cast<double>(op.weights[core].length);
      whole.scale_bytes += static_cast<double>(op.scales[core].length);
    }
  // Copies that this operation is the first to use.
  double copied = 0;
  std::erase_if(transfers_, [&](const sim::DmaTransfer& dma) {
    if (dma.target_internal) {
      if (op.activation.function != sim::ActivationFunction::Table) return false;
      whole.table +=
          transfer_cycles(memory(dma.source_region), memories_.ports[isa::ethos_u::kShramPort],
                          static_cast<double>(dma.length));
      return true;
    }
    const auto inside = [&](const sim::Range& range) {
      return range.length > 0 && range.base >= dma.target && range.base < dma.target + dma.length;
    };
    if (!op.has_weights()) return false;
    const bool weights = dma.target_region == op.weight_region &&
                         std::any_of(op.weights.begin(), op.weights.end(), inside),
               scales = dma.target_region == op.scale_region && dma.target == op.scales[0].base &&
                        static_cast<double>(dma.length) == whole.scale_bytes;
    if (!weights && !scales) return false;
    whole.copies_weights |= weights;
    copied += static_cast<double>(dma.length);
    whole.from = dma.source_region;
    whole.to = dma.target_region;
    return true;
  });
  if (whole.slices == 1 && copied > 0)
    whole.first_transfer = transfer_cycles(memory(whole.from), memory(whole.to), copied);
  whole.transfer_bytes += copied;
}

double LiteralEstimate::npu_cycles(const Operation& op, int32_t depth) const {
  Extent ofm = extent_of(op.ofm);
  ofm.depth = depth;
  const Extent block = least(ofm, {op.ofm_block.height, op.ofm_block.width, op.ofm_block.depth});
  const MemoryTiming &in = memory(op.ifm.region), &out = memory(op.ofm.region);
  const Extent whole_ifm_block = ifm_block(op, npu_),
               whole_block = {op.ofm_block.height, op.ofm_block.width, op.ofm_block.depth};
  // Of a block: both latencies, and the bytes of both.
  const double way =
      static_cast<double>(in.read_latency + out.write_latency) +
      with_waste(in, static_cast<double>(least(extent_of(op.ifm), whole_ifm_block).elements()),
                 read_run(op.ifm, whole_ifm_block)) /
          in.bytes_per_cycle +
      with_waste(out, static_cast<double>(block.elements()),
                 write_run(op.ofm, whole_block, npu_.cores)) /
          out.bytes_per_cycle;
  const double rate = rate_of(op, npu_);
  if (is_elementwise(op)) {
    const auto elements = static_cast<double>(whole_block.elements());
    const double each = std::max(rate, (way + rate * elements) / kPublished.under_way / elements);
    const int64_t stored = op.ofm.brick ? round_up(ofm.depth, 16) : ofm.depth;
    return std::ceil(each * static_cast<double>(ofm.height * ofm.width * stored));
  }
  double output = std::ceil(rate * static_cast<double>(block.elements()));
  if (op.has_weights())
    output = std::max(output, static_cast<double>(kPublished.scale_bytes * block.depth *
                                                  memory(op.weight_region).read_latency) /
                                  kPublished.scale_latency);
  double mac = mac_cycles(op, npu_, block);
  const double under_way = (way + output + mac) / kPublished.under_way;
  mac = std::max(mac, under_way);
  output = std::max(output, under_way);
  const int64_t blocks = ceil_div(ofm.height, block.height) * ceil_div(ofm.width, block.width) *
                         ceil_div(ofm.depth, block.depth);
  return std::floor(std::max(mac, output) * static_cast<double>(blocks) + std::min(mac, output));
}

double LiteralEstimate::port_cycles(const Whole& whole) const {
  const Operation& op = whole.op;
  const Extent ofm = extent_of(op.ofm), ifm = extent_of(op.ifm);
  const Extent whole_block = {op.ofm_block.height, op.ofm_block.width, op.ofm_block.depth};
  const Extent block = least(ofm, whole_block), needs = ifm_block(op, npu_);
  const auto stored = [](const sim::FeatureMap& map, int64_t depth) {
    return map.brick ? round_up(depth, 16) : depth;
  };
  std::array<double, 3> busy = {};
  const auto add = [&](const sim::FeatureMap& map, int64_t elements, double run) {
    const MemoryTiming& behind = memory(map.region);
    busy[static_cast<size_t>(memories_.port_of_region(map.region))] +=
        with_waste(behind, static_cast<double>(elements * sim::element_bytes(map.type)), run) /
        behind.bytes_per_cycle;
  };
  const int64_t planes = ceil_div(ofm.height, block.height) * ceil_div(ofm.width, block.width);
  if (is_elementwise(op)) {
    const auto operand = [&](const sim::FeatureMap& map) {
      const bool one = extent_of(map).elements() == 1;
      if (one && sim::element_bytes(map.type) == 1) return;
      add(map, one ? stored(map, 1) : ofm.height * ofm.width * stored(map, ofm.depth),
          read_run(map, needs));
    };
    operand(op.ifm);
    if (op.has_ifm2) operand(op.ifm2);
  } else {
    const int64_t kernels = ceil_div(op.kernel.width, 8) * ceil_div(op.kernel.height, 8);
    const int64_t deep = sums_channels(op) ? ceil_div(ofm.depth, block.depth) : 1;
    const Extent seen = least(ifm, needs);
    add(op.ifm, seen.height * seen.width * stored(op.ifm, ifm.depth) * kernels * planes * deep,
        read_run(op.ifm, needs));
  }
  add(op.ofm, ofm.height * ofm.width * stored(op.ofm, ofm.depth),
      write_run(op.ofm, whole_block, npu_.cores));
  const auto read = [&](uint32_t region, double bytes) {
    busy[static_cast<size_t>(memories_.port_of_region(region))] +=
        bytes * static_cast<double>(planes) / memory(region).bytes_per_cycle;
  };
  // A copy of weights may serve several operations, and scales may be copied without them.
  if (op.has_weights() && !whole.copies_weights) read(op.weight_region, whole.weight_bytes);
  if (op.has_weights() && whole.transfer_bytes == 0) read(op.scale_region, whole.scale_bytes);
  return *std::max_element(busy.begin(), busy.end());
}

double LiteralEstimate::cycles() const {
  const std::vector<double> all = each();
  return std::accumulate(all.begin(), all.end(), 0.0);
}

std::vector<double> LiteralEstimate::each() const {
  std::vector<double> result(seen_, 0);
  double slack = 0;
  for (const Whole& whole : wholes_) {
    const double alone = npu_cycles(whole.op, whole.op.ofm.depth);
    const double tail = whole.slices > 1 ? npu_cycles(whole.op, whole.last_depth) : alone;
    double cycles = alone;
    if (whole.transfer_bytes > 0) {
      const double all =
          transfer_cycles(memory(whole.from), memory(whole.to), whole.transfer_bytes);
      cycles = whole.slices > 1 ? std::max(all - slack + tail,
                                           alone + std::max(0.0, whole.first_transfer - slack))
                                : alone + all - std::min(whole.first_transfer, slack);
      cycles += whole.table;
    } else {
      cycles += std::max(0.0, whole.table - slack);
    }
    result[whole.first] = std::max(cycles, port_cycles(whole));
    slack = tail;
  }
  return result;
}

}  // namespace intarsia::bench
