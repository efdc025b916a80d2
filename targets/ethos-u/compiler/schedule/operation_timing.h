// The compiler's estimate of how long an operation takes: sums in closed form, quick enough to be asked for every way to cut
// an operation into blocks. The simulator's clock (sim/pipeline.h) plays blocks one by one and shares none of this;
// ethos_u_comparison_test says how far they are apart.
//
// The rates are those of Arm's own estimate in Vela 3.10, as isa/timing.def has them. Where that estimate takes every block
// to be a full one, this takes the blocks that there are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hardware/ifm_block.h"
#include "intarsia/targets/ethos_u/rounding.h"
#include "intarsia/targets/ethos_u/timing.h"

namespace intarsia::targets::ethos_u::operation_timing {

using isa::ethos_u::ceil_div;
using isa::ethos_u::kAssumed;
using isa::ethos_u::kPublished;
using isa::ethos_u::MemoryTiming;
using isa::ethos_u::NpuTiming;
using isa::ethos_u::round_up;
using isa::ethos_u::Volume;

// Whole cycles that `bytes` keep a port busy when they come in runs of `run_bytes`.
constexpr double port_cycles(const MemoryTiming& memory, double bytes, double run_bytes) {
  const double burst = static_cast<double>(memory.burst_bytes);
  const double efficiency = std::min(1.0, std::max(1.0, run_bytes) / burst);
  return bytes / efficiency / memory.bytes_per_cycle;
}

// One DMA transfer: the slower side, and the latency of the source.
inline double dma_cycles(const MemoryTiming& from, const MemoryTiming& to, int64_t bytes) {
  const double size = static_cast<double>(bytes);
  return kAssumed.command_start +
         std::max(static_cast<double>(from.read_latency) + size / from.bytes_per_cycle,
                  size / to.bytes_per_cycle);
}

enum class Work : uint8_t {
  Conv,
  Depthwise,
  MaxPool,
  OtherPool,
  ReduceSum,
  Multiply,
  SimpleAddSub,
  AddSub,
  OtherElementwise
};

constexpr bool is_elementwise(Work work) {
  return work >= Work::Multiply;
}

struct MapTiming {
  Volume extent;
  int64_t bits = 8;
  bool bricks = false;  // NHCWB16
  bool packed = true;   // NHWC: a pixel begins where the one before it ends
  MemoryTiming memory;
};

struct OperationTiming {
  Work work = Work::Conv;
  MapTiming ifm, ofm;
  std::optional<MapTiming> ifm2;  // not for a scalar in a register
  bool is_binary = false;         // element-wise on two operands, scalar or not
  Volume ofm_block;
  int64_t kernel_height = 1, kernel_width = 1;  // undilated
  int64_t stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t upscale = 1;  // 2: each IFM element is seen twice in both directions
  bool part_kernel_first = false;
  bool acc40 = false;
  bool uses_table = false, uses_clamp = false;  // clamp: narrower than the type
  int64_t weight_bytes = 0, scale_bytes = 0;    // encoded, of all cores
  double weight_headers = 0;                    // cycles of all headers of the core that has most
  MemoryTiming constants;                       // where weights and scales are
  std::optional<MemoryTiming> scale_memory;     // where scales are, if not there
};

// Cycles a part is busy for the whole operation, and bytes over the ports with what they keep busy.
struct Transfer {
  double bytes = 0, cycles = 0;
};
struct OperationCycles {
  int64_t macs = 0;
  int64_t blocks = 0;
  double mac = 0, output = 0;  // busy cycles of the MAC array and of the output unit
  double pipeline = 0;         // of all blocks, were the ports infinitely wide
  double start = 0;            // before it begins at all
  double decoding = 0;         // of the decoder of weights; the pipeline is no shorter
  double first_fetch = 0;      // before the first block has its input, when nothing hides it
  double drain = 0;  // output of the last block, when the MAC array has nothing left to do
  Transfer ifm, ifm2, weights, scales, ofm;
};

namespace timing_detail {

constexpr int64_t kSubKernel = 8;

// Blocks along one axis: `count` full ones and perhaps a shorter last one.
struct Axis {
  int64_t size[2] = {0, 0};
  int64_t count[2] = {0, 0};
  constexpr int64_t blocks() const { return count[0] + count[1]; }
};
constexpr Axis split(int64_t extent, int64_t block) {
  block = std::max<int64_t>(1, std::min(block, extent));
  Axis axis;
  axis.size[0] = block;
  axis.count[0] = extent / block;
  axis.size[1] = extent % block;
  axis.count[1] = axis.size[1] > 0 ? 1 : 0;
  return axis;
}

// IFM elements along one axis that a block of `ofm` elements sees through a window of `window`.
constexpr int64_t seen(int64_t ofm, int64_t stride, int64_t window, int64_t upscale) {
  return ceil_div((ofm - 1) * stride + window, upscale);
}

// Sum over the blocks of an axis and the sub-kernels along it of the IFM elements fetched.
constexpr int64_t fetched(const Axis& axis, int64_t ifm, int64_t kernel, int64_t stride,
                          int64_t dilation, int64_t upscale) {
  int64_t total = 0;
  const Axis sub_kernels = split(kernel, kSubKernel);
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 2; ++i) {
      const int64_t count = sub_kernels.count[k] * axis.count[i];
      if (count > 0)
        total += count * std::min(ifm, seen(axis.size[i], stride,
                                            (sub_kernels.size[k] - 1) * dilation + 1, upscale));
    }
  return total;
}

// Contiguous bytes of a block, which is what a burst can take at once. `joins_pixels`: of NHWC beyond a pixel too, where the next
// one begins there.
inline double read_run(const MapTiming& map, int64_t width, int64_t depth,
                       bool joins_pixels = true) {
  const double bytes = static_cast<double>(map.bits) / 8;
  const int64_t channels = map.bricks ? std::min<int64_t>(16, round_up(map.extent.depth, 16))
                                      : std::min(depth, map.extent.depth);
  const bool whole_pixels =
      map.bricks || (joins_pixels && map.packed && channels == map.extent.depth);
  return bytes * static_cast<double>(channels * (whole_pixels ? width : 1));
}
// The output unit of each core writes 16 channels at a time.
inline double write_run(const NpuTiming& npu, const MapTiming& map, int64_t width, int64_t depth,
                        bool joins_pixels = true) {
  const double bytes = static_cast<double>(map.bits) / 8;
  if (map.bricks) return bytes * static_cast<double>(16 * width * npu.cores);
  if (joins_pixels && map.packed && depth <= 16 && depth >= map.extent.depth)
    return bytes * static_cast<double>(map.extent.depth * width);
  return std::min({bytes * static_cast<double>(depth), bytes * static_cast<double>(16 * npu.cores),
                   static_cast<double>(kPublished.most_written)});
}

constexpr int64_t stored_depth(const MapTiming& map, int64_t depth) {
  return map.bricks ? round_up(depth, 16) : depth;
}

}  // namespace timing_detail

// Channels of an IFM block: what the MAC array sums before it takes other input.
constexpr int64_t ifm_block_depth(Work work, int64_t ifm_depth, int64_t ifm_bits,
                                  int64_t ofm_block_depth, bool part_kernel_first) {
  if (work != Work::Conv && work != Work::ReduceSum) return ofm_block_depth;
  return summed_block_depth(ifm_depth, ifm_bits, part_kernel_first);
}

// Cycles the output unit needs for one element.
constexpr double output_cycles_per_element(const NpuTiming& npu, const OperationTiming& op) {
  double cycles = npu.other_output;
  if (is_elementwise(op.work) && op.ifm.bits == 32)
    cycles = op.is_binary ? npu.binary_32 : npu.unary_32;
  else if (op.work == Work::Multiply && op.ofm.bits == 32)
    cycles = npu.multiply_32;
  else if (op.work == Work::Multiply || (!is_elementwise(op.work) && op.acc40))
    cycles = npu.multiply_or_acc40;
  else if (op.work == Work::SimpleAddSub)
    cycles = npu.simple_add_sub;
  else if (op.work == Work::AddSub)
    cycles = npu.add_sub;
  else if (op.work == Work::MaxPool)
    cycles = npu.max_pool;
  if (op.uses_table) cycles = std::max(cycles, npu.table);
  if (op.uses_clamp) cycles = std::max(cycles, npu.clamp);
  return cycles;
}

// What of the MAC array's work is the same for every block of an operation.
class MacArray {
 public:
  MacArray(const NpuTiming& npu, const OperationTiming& op) : ublock_(npu.ofm_ublock) {
    using namespace timing_detail;
    if (is_elementwise(op.work)) return;
    const bool convolves = op.work == Work::Conv || op.work == Work::Depthwise;
    // Two rows of micro-blocks serve one row of twice the width.
    if (ublock_.height == 2 && convolves && op.ofm.extent.height == 1 &&
        op.ofm.extent.width % 2 == 0 && op.kernel_height == 1)
      ublock_ = {1, 4, ublock_.depth};
    work_ = op.work;
    slow_16_ = op.ifm.bits == 16;
    doubles_pools_ = slow_16_ && npu.macs != 32;
    by_parts_ = op.work == Work::Conv && op.part_kernel_first;
    waits_between_rows_ = npu.macs == 32 && op.acc40;
    delay_ = op.acc40 ? npu.delay_acc40 : npu.delay_acc32;
    // Weights of a step: 32 for each output channel, eight bytes a cycle from the decoder.
    weight_supply_ = 32 * ublock_.depth / 8;
    cores_ = static_cast<double>(npu.cores);
    if (op.work == Work::Conv || op.work == Work::ReduceSum) {
      const int64_t ifm_depth = std::min(
          op.ifm.extent.depth,
          ifm_block_depth(op.work, op.ifm.extent.depth, op.ifm.bits, 1, op.part_kernel_first));
      const int64_t blocks = ceil_div(op.ifm.extent.depth, std::max<int64_t>(1, ifm_depth));
      // Channels of a dot product: by parts of the kernel, what the last IFM block does not have takes no time.
      rounds_ = static_cast<double>(by_parts_ ? ceil_div(op.ifm.extent.depth, 8) : blocks);
      full_rounds_ = static_cast<double>(by_parts_ ? blocks * ceil_div(ifm_depth, 8) : blocks);
      blocks_ = static_cast<double>(blocks);
    }
    const Axis sub_y = split(op.kernel_height, kSubKernel),
               sub_x = split(op.kernel_width, kSubKernel);
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 2; ++x)
        if (const int64_t count = sub_y.count[y] * sub_x.count[x]; count > 0) {
          const int64_t taps = sub_y.size[y] * sub_x.size[x];
          parts_[kinds_++] = {static_cast<double>(count), taps, steps_of(taps)};
        }
  }

  // Micro-blocks along one axis.
  int64_t down(int64_t height) const { return ceil_div(height, ublock_.height); }
  int64_t across(int64_t width) const { return ceil_div(width, ublock_.width); }
  int64_t deep(int64_t depth) const { return ceil_div(depth, ublock_.depth); }

  // IFM blocks that are summed for a block of the OFM.
  double inputs() const {
    double sub_kernels = 0;
    for (int kind = 0; kind < kinds_; ++kind) sub_kernels += parts_[kind].count;
    return blocks_ * sub_kernels;
  }

  // Cycles that one core needs for one block of so many micro-blocks, IFM depth included.
  // With `decoding_alone` what the decoder needs for the block's weights, at eight bytes a cycle.
  double cycles(int64_t down, int64_t across, int64_t deep, bool decoding_alone = false) const {
    const int64_t area = decoding_alone ? 0 : across * down;
    double cycles = 0;
    for (int kind = 0; kind < kinds_; ++kind) {
      const auto& [count, taps, steps] = parts_[kind];
      int64_t busy = 0;
      switch (work_) {
        case Work::MaxPool:
        case Work::OtherPool:
          busy = std::max<int64_t>(4, taps) * area * deep * (doubles_pools_ ? 2 : 1);
          break;
        case Work::Depthwise:
          busy = std::max(weight_supply_, (slow_16_ ? 8 : 4) * area) * steps * deep;
          break;
        default:
          busy = std::max(weight_supply_, 4 * area) * steps * deep;
      }
      // A step waits for the one before it where no other micro-block lies between them.
      double waits = 0;
      if (area == 1 && deep == 1)
        waits = delay_ * static_cast<double>(steps);
      else if (area == 1 && steps > 1)
        waits = delay_ * static_cast<double>((steps - 1) * deep);
      if (!decoding_alone && waits_between_rows_ && (across == 1 || down == 1) && deep > 1)
        waits += delay_ * static_cast<double>(deep);
      cycles += count * (static_cast<double>(busy) + waits);
    }
    return cycles * rounds_ / cores_;
  }

  // The same if the last IFM block were as deep as the others.
  double full_cycles(int64_t down, int64_t across, int64_t deep) const {
    return cycles(down, across, deep) * full_rounds_ / rounds_;
  }

 private:
  struct Part {
    double count = 0;  // of sub-kernels
    int64_t taps = 0, steps = 0;
  };
  int64_t steps_of(int64_t taps) const {
    if (work_ == Work::MaxPool || work_ == Work::OtherPool) return 1;
    if (work_ == Work::Depthwise) return ceil_div(taps, 4);
    return by_parts_ ? ceil_div(taps, slow_16_ ? 2 : 4) : taps;
  }

  Work work_ = Work::OtherElementwise;
  Volume ublock_;
  bool slow_16_ = false, doubles_pools_ = false, by_parts_ = false, waits_between_rows_ = false;
  int64_t weight_supply_ = 0;
  double delay_ = 0, rounds_ = 1, full_rounds_ = 1, blocks_ = 1, cores_ = 1;
  int kinds_ = 0;
  Part parts_[4];
};

// An operation in blocks. What one axis says is reckoned once for all blocks that cut it alike.
class OperationBlocks {
 public:
  // Extents must be at least 1. The block of `op` does not matter; it stays where it is.
  OperationBlocks(const NpuTiming& npu, const OperationTiming& op)
      : npu_(npu),
        op_(op),
        mac_(npu, op),
        elementwise_(is_elementwise(op.work)),
        sums_depth_(op.work == Work::Conv || op.work == Work::ReduceSum),
        per_element_(output_cycles_per_element(npu, op)) {
    // Both operands of a block have to be there, such as a factor that lies in slow memory.
    const int64_t read_latency =
        std::max(op.ifm.memory.read_latency, op.ifm2 ? op.ifm2->memory.read_latency : int64_t{0});
    latency_ = static_cast<double>(read_latency + op.ofm.memory.write_latency);
    input_latency_ = static_cast<double>(read_latency) * mac_.inputs();
    ofm_bytes_ = static_cast<double>(op.ofm.extent.height * op.ofm.extent.width *
                                     timing_detail::stored_depth(op.ofm, op.ofm.extent.depth)) *
                 static_cast<double>(op.ofm.bits) / 8;
    if (!elementwise_)
      macs_ = op.kernel_height * op.kernel_width * op.ofm.extent.elements() *
              (sums_depth_ ? op.ifm.extent.depth : 1);
  }

  // One axis of the output in blocks of `size`.
  struct Cut {
    timing_detail::Axis axis;
    int64_t ublocks[2] = {0, 0};
    int64_t fetched = 0;       // of the IFM, rows or columns
    int64_t full_fetched = 0;  // the same for one full block
    int64_t block() const { return axis.size[0] > 0 ? axis.size[0] : axis.size[1]; }
  };
  Cut rows(int64_t size) const {
    Cut cut{timing_detail::split(op_.ofm.extent.height, size), {}, 0, 0};
    for (int i = 0; i < 2; ++i) cut.ublocks[i] = mac_.down(cut.axis.size[i]);
    if (elementwise_) return cut;
    cut.fetched = fetched_rows(cut.axis, op_.ifm);
    cut.full_fetched = fetched_rows(one_full(cut), op_.ifm);
    return cut;
  }
  Cut columns(int64_t size) const {
    Cut cut{timing_detail::split(op_.ofm.extent.width, size), {}, 0, 0};
    for (int i = 0; i < 2; ++i) cut.ublocks[i] = mac_.across(cut.axis.size[i]);
    if (elementwise_) return cut;
    cut.fetched = fetched_columns(cut.axis, op_.ifm);
    cut.full_fetched = fetched_columns(one_full(cut), op_.ifm);
    return cut;
  }
  Cut channels(int64_t size) const {
    Cut cut{timing_detail::split(op_.ofm.extent.depth, size), {}, 0, 0};
    for (int i = 0; i < 2; ++i) cut.ublocks[i] = mac_.deep(cut.axis.size[i]);
    return cut;
  }

  OperationCycles cycles(const Cut& y, const Cut& x, const Cut& z) const {
    using namespace timing_detail;
    const int64_t areas = y.axis.blocks() * x.axis.blocks();
    OperationCycles out;
    out.blocks = areas * z.axis.blocks();
    out.macs = macs_;
    const Volume block = {y.block(), x.block(), z.block()};

    // Ports: input once for every block and sub-kernel that sees it (for all OFM depths where each needs
    // all input channels), weights once for every block of the plane, output once.
    out.ifm = input(op_.ifm, y.fetched * x.fetched, z.axis.blocks(), block);
    if (op_.ifm2)
      out.ifm2 = input(
          *op_.ifm2,
          elementwise_ ? 0 : fetched_rows(y.axis, *op_.ifm2) * fetched_columns(x.axis, *op_.ifm2),
          z.axis.blocks(), block);
    out.ofm = {ofm_bytes_, port_cycles(op_.ofm.memory, ofm_bytes_,
                                       write_run(npu_, op_.ofm, block.width, block.depth))};
    const double weights = static_cast<double>(op_.weight_bytes * areas);
    const double scales = static_cast<double>(op_.scale_bytes);
    out.weights = {weights, port_cycles(op_.constants, weights, weights)};
    const MemoryTiming& scale_memory = op_.scale_memory ? *op_.scale_memory : op_.constants;
    out.scales = {scales, port_cycles(scale_memory, scales, scales)};

    // The pipeline: a block is fetched, accumulated and put out while its neighbours are in the other
    // stages. Four blocks at most are under way, so one leaves at the latest a quarter of its own time
    // after the one before it.
    const double blocks = static_cast<double>(out.blocks);
    const double block_ports = (out.ifm.cycles + out.ifm2.cycles + out.ofm.cycles) / blocks;
    const double fetch = (out.ifm.cycles + out.ifm2.cycles) / blocks;
    const int64_t stored_last = op_.ofm.bricks && elementwise_ ? 16 : 1;
    double first_mac = 0, late = 0;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 2; ++k) {
          const int64_t count = y.axis.count[i] * x.axis.count[j] * z.axis.count[k];
          if (count == 0) continue;
          const Volume size = {y.axis.size[i], x.axis.size[j],
                               round_up(z.axis.size[k], stored_last)};
          const double mac =
              elementwise_ ? 0 : mac_.cycles(y.ublocks[i], x.ublocks[j], z.ublocks[k]);
          double output = per_element_ * static_cast<double>(size.elements());
          if (op_.scale_bytes > 0)
            output = std::max(
                output,
                10 * static_cast<double>(z.axis.size[k] * op_.constants.read_latency) / 256);
          const double own = latency_ + block_ports + mac + output;
          const double interval = std::max({mac, output, own / 4});
          late += static_cast<double>(count) * std::max(0.0, input_pace(fetch, mac) - interval);
          out.mac += static_cast<double>(count) * mac;
          if (op_.weight_bytes > 0 && !elementwise_)
            out.decoding += static_cast<double>(count) *
                            mac_.cycles(y.ublocks[i], x.ublocks[j], z.ublocks[k], true);
          out.output += static_cast<double>(count) * output;
          out.pipeline += static_cast<double>(count) * interval;
          if (first_mac == 0) first_mac = mac;
          out.drain = output;  // the last block is the smallest
        }
    // The first ones are asked for before there is anything to sum.
    if (const double inputs = blocks * mac_.inputs(); late > 0)
      out.pipeline += late * (std::ceil(inputs / kAssumed.buffers) - 1) * kAssumed.buffers / inputs;
    // The stage that does not set the pace is seen once: the last output, or the first accumulation.
    if (!elementwise_) out.pipeline += out.mac >= out.output ? out.drain : first_mac;
    // The stream of weights is decoded again for each block of the plane.
    if (op_.weight_bytes > 0) {
      out.decoding += op_.weight_headers * static_cast<double>(areas);
      out.pipeline = std::max(out.pipeline, out.decoding);
    }
    out.start = kAssumed.command_start;
    out.first_fetch = latency_ + (out.ifm.cycles + out.ifm2.cycles) / blocks;
    if (op_.weight_bytes > 0)
      out.first_fetch = std::max(out.first_fetch, static_cast<double>(op_.constants.read_latency));
    return out;
  }

  // The same as Arm's estimate has it (Vela 3.10, npu_performance.py): every block a full one, whatever is left of the map at
  // its edges, and a read of NHWC no longer than a pixel. Without weights.
  struct FullCycles {
    double pipeline = 0, ifm = 0, ifm2 = 0, ofm = 0;
  };
  FullCycles full_cycles(const Cut& y, const Cut& x, const Cut& z) const {
    using namespace timing_detail;
    const auto first = [](const Cut& cut) { return cut.axis.count[0] > 0 ? 0 : 1; };
    const Volume block = {y.block(), x.block(), z.block()};
    const auto areas = static_cast<double>(y.axis.blocks() * x.axis.blocks());
    const double blocks = areas * static_cast<double>(z.axis.blocks());
    const auto read = [&](const MapTiming& map, int64_t rows, int64_t columns) {
      const int64_t depth =
          ifm_block_depth(op_.work, map.extent.depth, map.bits, block.depth, op_.part_kernel_first);
      const double bytes = static_cast<double>(map.bits) / 8;
      double elements = 0;
      int64_t width = std::min(map.extent.width, block.width);
      if (elementwise_) {
        const bool one = map.extent.elements() == 1;
        elements = static_cast<double>(one ? 1 : op_.ofm.extent.height * op_.ofm.extent.width) *
                   static_cast<double>(stored_depth(map, one ? 1 : op_.ofm.extent.depth));
      } else {
        width = columns;
        elements = areas * static_cast<double>(rows * width * stored_depth(map, map.extent.depth) *
                                               (sums_depth_ ? z.axis.blocks() : 1));
      }
      return port_cycles(map.memory, elements * bytes, read_run(map, width, depth, false));
    };
    FullCycles out;
    out.ifm = read(op_.ifm, y.full_fetched, x.full_fetched);
    if (op_.ifm2)
      out.ifm2 = read(*op_.ifm2, elementwise_ ? 0 : fetched_rows(one_full(y), *op_.ifm2),
                      elementwise_ ? 0 : fetched_columns(one_full(x), *op_.ifm2));
    out.ofm = port_cycles(op_.ofm.memory, ofm_bytes_,
                          write_run(npu_, op_.ofm, block.width, block.depth, false));
    const double mac = elementwise_ ? 0
                                    : mac_.full_cycles(y.ublocks[first(y)], x.ublocks[first(x)],
                                                       z.ublocks[first(z)]);
    double output = per_element_ * static_cast<double>(block.elements());
    if (op_.scale_bytes > 0)
      output = std::max(output,
                        10 * static_cast<double>(block.depth * op_.constants.read_latency) / 256);
    const double own = latency_ + (out.ifm + out.ifm2 + out.ofm) / blocks + mac + output;
    out.pipeline =
        blocks * std::max({mac, output, own / 4}) + (elementwise_ ? 0 : std::min(mac, output));
    return out;
  }

 private:
  static timing_detail::Axis one_full(const Cut& cut) {
    return timing_detail::split(cut.block(), cut.block());
  }
  int64_t fetched_rows(const timing_detail::Axis& axis, const MapTiming& map) const {
    return timing_detail::fetched(axis, map.extent.height, op_.kernel_height, op_.stride_y,
                                  op_.dilation_y, op_.upscale);
  }
  int64_t fetched_columns(const timing_detail::Axis& axis, const MapTiming& map) const {
    return timing_detail::fetched(axis, map.extent.width, op_.kernel_width, op_.stride_x,
                                  op_.dilation_x, op_.upscale);
  }

  Transfer input(const MapTiming& map, int64_t fetched, int64_t z_blocks,
                 const Volume& block) const {
    using namespace timing_detail;
    const double bytes = static_cast<double>(map.bits) / 8;
    double total = 0;
    int64_t run_width = 0;
    if (elementwise_) {
      // A broadcast operand is read as often as it is used.
      const Volume& extent = map.extent;
      total =
          static_cast<double>(
              extent.elements() == 1 ? 1 : op_.ofm.extent.height * op_.ofm.extent.width) *
          static_cast<double>(stored_depth(map, extent.elements() == 1 ? 1 : op_.ofm.extent.depth));
      run_width = std::min(extent.width, block.width);
    } else {
      total =
          static_cast<double>(fetched) *
          static_cast<double>(stored_depth(map, map.extent.depth) * (sums_depth_ ? z_blocks : 1));
      const int64_t window = (std::min(kSubKernel, op_.kernel_width) - 1) * op_.dilation_x + 1;
      run_width = std::min(map.extent.width, seen(block.width, op_.stride_x, window, op_.upscale));
    }
    const int64_t depth =
        ifm_block_depth(op_.work, map.extent.depth, map.bits, block.depth, op_.part_kernel_first);
    total *= bytes;
    return Transfer{total, port_cycles(map.memory, total, read_run(map, run_width, depth))};
  }

  // There is room for two IFM blocks, and each of a block's is asked for when one of them has been summed.
  double input_pace(double fetch, double mac) const {
    return elementwise_ ? 0 : (input_latency_ + fetch + mac) / kAssumed.buffers;
  }

  const NpuTiming& npu_;
  const OperationTiming& op_;
  MacArray mac_;
  bool elementwise_, sums_depth_;
  double per_element_, latency_ = 0, input_latency_ = 0, ofm_bytes_ = 0;
  int64_t macs_ = 0;
};

// The whole operation. Extents must be at least 1.
inline OperationCycles operation_cycles(const NpuTiming& npu, const OperationTiming& op) {
  const OperationBlocks blocks(npu, op);
  return blocks.cycles(blocks.rows(op.ofm_block.height), blocks.columns(op.ofm_block.width),
                       blocks.channels(op.ofm_block.depth));
}

// Cycles of the operation when nothing else uses the ports: the slowest of pipeline and ports. Ports
// are told apart by where the memories are.
inline double total_cycles(const OperationTiming& op, const OperationCycles& cycles) {
  struct Use {
    std::string_view memory;
    double cycles;
  };
  const Use uses[] = {
      {op.ifm.memory.name, cycles.ifm.cycles},
      {op.ifm2 ? op.ifm2->memory.name : op.ifm.memory.name, cycles.ifm2.cycles},
      {op.constants.name, cycles.weights.cycles},
      {(op.scale_memory ? *op.scale_memory : op.constants).name, cycles.scales.cycles},
      {op.ofm.memory.name, cycles.ofm.cycles}};
  double slowest = cycles.pipeline;
  for (const Use& port : uses) {
    double busy = 0;
    for (const Use& use : uses)
      if (use.memory == port.memory) busy += use.cycles;
    slowest = std::max(slowest, busy);
  }
  return cycles.start + slowest;
}

}  // namespace intarsia::targets::ethos_u::operation_timing
