// The compiler's estimate of how long an operation takes: sums in closed form, quick enough to be asked for every way to cut
// an operation into blocks. The simulator's clock (sim/pipeline.h) plays blocks one by one and shares none of this;
// ethos_u_comparison_test says how far they are apart.
//
// The rates are those of Arm's own estimate in Vela 3.10, as isa/timing.def has them. Where that estimate takes every block
// to be a full one, this takes the blocks that there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

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

// Contiguous bytes of a block, which is what a burst can take at once.
inline double read_run(const MapTiming& map, int64_t width, int64_t depth) {
  const double bytes = static_cast<double>(map.bits) / 8;
  const int64_t channels = map.bricks ? std::min<int64_t>(16, round_up(map.extent.depth, 16))
                                      : std::min(depth, map.extent.depth);
  const bool whole_pixels = map.bricks || (map.packed && channels == map.extent.depth);
  return bytes * static_cast<double>(channels * (whole_pixels ? width : 1));
}
// The output unit of each core writes 16 channels at a time.
inline double write_run(const NpuTiming& npu, const MapTiming& map, int64_t width, int64_t depth) {
  const double bytes = static_cast<double>(map.bits) / 8;
  if (map.bricks) return bytes * static_cast<double>(16 * width * npu.cores);
  if (map.packed && depth <= 16 && depth >= map.extent.depth)
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
  using namespace timing_detail;
  if (work != Work::Conv && work != Work::ReduceSum) return ofm_block_depth;
  if (ifm_bits == 16) return round_up(std::min<int64_t>(ifm_depth, 16), 4);
  return round_up(std::min<int64_t>(ifm_depth, part_kernel_first ? 16 : 32), 8);
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

// Cycles the MAC array of one core needs for one block of this size, IFM depth included.
// With `decoding_alone` what the decoder needs for the block's weights, at eight bytes a cycle.
inline double mac_cycles_of_block(const NpuTiming& npu, const OperationTiming& op,
                                  const Volume& block, bool decoding_alone = false) {
  using namespace timing_detail;
  if (is_elementwise(op.work)) return 0;
  Volume ublock = npu.ofm_ublock;
  const bool convolves = op.work == Work::Conv || op.work == Work::Depthwise;
  // Two rows of micro-blocks serve one row of twice the width.
  if (ublock.height == 2 && convolves && op.ofm.extent.height == 1 &&
      op.ofm.extent.width % 2 == 0 && op.kernel_height == 1)
    ublock = {1, 4, ublock.depth};
  const int64_t across = ceil_div(block.width, ublock.width);
  const int64_t down = ceil_div(block.height, ublock.height);
  const int64_t deep = ceil_div(block.depth, ublock.depth);
  const int64_t area = decoding_alone ? 0 : across * down;
  const int64_t ifm_depth =
      std::min(op.ifm.extent.depth, ifm_block_depth(op.work, op.ifm.extent.depth, op.ifm.bits,
                                                    block.depth, op.part_kernel_first));
  const int64_t ifm_steps = ceil_div(ifm_depth, 8);  // channels of a dot product
  // Weights of a step: 32 for each output channel, eight bytes a cycle from the decoder.
  const int64_t weight_supply = 32 * ublock.depth / 8;
  const bool slow_16 = op.ifm.bits == 16;

  double cycles = 0;
  const Axis sub_y = split(op.kernel_height, kSubKernel),
             sub_x = split(op.kernel_width, kSubKernel);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 2; ++x) {
      const int64_t count = sub_y.count[y] * sub_x.count[x];
      if (count == 0) continue;
      const int64_t taps = sub_y.size[y] * sub_x.size[x];
      int64_t steps = taps, busy = 0;
      switch (op.work) {
        case Work::MaxPool:
        case Work::OtherPool:
          steps = 1;
          busy = std::max<int64_t>(4, taps) * area * deep;
          if (slow_16 && npu.macs != 32) busy *= 2;
          break;
        case Work::Depthwise:
          steps = ceil_div(taps, 4);
          busy = std::max(weight_supply, (slow_16 ? 8 : 4) * area) * steps * deep;
          break;
        default:
          if (op.work == Work::Conv && op.part_kernel_first) {
            steps = ceil_div(taps, slow_16 ? 2 : 4);
            busy = std::max(weight_supply, 4 * area) * steps * ifm_steps * deep;
          } else {
            busy = std::max(weight_supply, 4 * area) * steps * deep;
          }
      }
      // A step waits for the one before it where no other micro-block lies between them.
      const double delay = op.acc40 ? npu.delay_acc40 : npu.delay_acc32;
      double waits = 0;
      if (area == 1 && deep == 1)
        waits = delay * static_cast<double>(steps);
      else if (area == 1 && steps > 1)
        waits = delay * static_cast<double>((steps - 1) * deep);
      if (!decoding_alone && npu.macs == 32 && op.acc40 && (across == 1 || down == 1) && deep > 1)
        waits += delay * static_cast<double>(deep);
      if (op.work == Work::Conv && op.part_kernel_first) waits *= static_cast<double>(ifm_steps);
      cycles += static_cast<double>(count) * (static_cast<double>(busy) + waits);
    }
  if (op.work == Work::Conv || op.work == Work::ReduceSum)
    cycles *= static_cast<double>(ceil_div(op.ifm.extent.depth, std::max<int64_t>(1, ifm_depth)));
  return cycles / static_cast<double>(npu.cores);
}

// The whole operation. Extents must be at least 1.
inline OperationCycles operation_cycles(const NpuTiming& npu, const OperationTiming& op) {
  using namespace timing_detail;
  const Axis y = split(op.ofm.extent.height, op.ofm_block.height);
  const Axis x = split(op.ofm.extent.width, op.ofm_block.width);
  const Axis z = split(op.ofm.extent.depth, op.ofm_block.depth);
  const bool sums_depth = op.work == Work::Conv || op.work == Work::ReduceSum;
  const int64_t areas = y.blocks() * x.blocks();

  OperationCycles out;
  out.blocks = areas * z.blocks();
  if (!is_elementwise(op.work))
    out.macs = op.kernel_height * op.kernel_width * op.ofm.extent.elements() *
               (sums_depth ? op.ifm.extent.depth : 1);

  // Ports: input once for every block and sub-kernel that sees it (for all OFM depths where each needs
  // all input channels), weights once for every block of the plane, output once.
  const Volume block = {y.size[0] > 0 ? y.size[0] : y.size[1],
                        x.size[0] > 0 ? x.size[0] : x.size[1],
                        z.size[0] > 0 ? z.size[0] : z.size[1]};
  const auto input = [&](const MapTiming& map) {
    const double bytes = static_cast<double>(map.bits) / 8;
    double total = 0;
    int64_t run_width = 0;
    if (is_elementwise(op.work)) {
      // A broadcast operand is read as often as it is used.
      const Volume& extent = map.extent;
      total =
          static_cast<double>(extent.elements() == 1 ? 1
                                                     : op.ofm.extent.height * op.ofm.extent.width) *
          static_cast<double>(stored_depth(map, extent.elements() == 1 ? 1 : op.ofm.extent.depth));
      run_width = std::min(extent.width, block.width);
    } else {
      const int64_t rows =
          fetched(y, map.extent.height, op.kernel_height, op.stride_y, op.dilation_y, op.upscale);
      const int64_t columns =
          fetched(x, map.extent.width, op.kernel_width, op.stride_x, op.dilation_x, op.upscale);
      total =
          static_cast<double>(rows * columns) *
          static_cast<double>(stored_depth(map, map.extent.depth) * (sums_depth ? z.blocks() : 1));
      const int64_t window = (std::min(kSubKernel, op.kernel_width) - 1) * op.dilation_x + 1;
      run_width = std::min(map.extent.width, seen(block.width, op.stride_x, window, op.upscale));
    }
    const int64_t depth =
        ifm_block_depth(op.work, map.extent.depth, map.bits, block.depth, op.part_kernel_first);
    total *= bytes;
    return Transfer{total, port_cycles(map.memory, total, read_run(map, run_width, depth))};
  };
  out.ifm = input(op.ifm);
  if (op.ifm2) out.ifm2 = input(*op.ifm2);
  const double ofm_bytes = static_cast<double>(op.ofm.extent.height * op.ofm.extent.width *
                                               stored_depth(op.ofm, op.ofm.extent.depth)) *
                           static_cast<double>(op.ofm.bits) / 8;
  out.ofm = {ofm_bytes, port_cycles(op.ofm.memory, ofm_bytes,
                                    write_run(npu, op.ofm, block.width, block.depth))};
  const double weights = static_cast<double>(op.weight_bytes * areas);
  const double scales = static_cast<double>(op.scale_bytes);
  out.weights = {weights, port_cycles(op.constants, weights, weights)};
  out.scales = {scales, port_cycles(op.constants, scales, scales)};

  // The pipeline: a block is fetched, accumulated and put out while its neighbours are in the other
  // stages. Four blocks at most are under way, so one leaves at the latest a quarter of its own time
  // after the one before it.
  const double blocks = static_cast<double>(out.blocks);
  // Both operands of a block have to be there, such as a factor that lies in slow memory.
  const int64_t read_latency =
      std::max(op.ifm.memory.read_latency, op.ifm2 ? op.ifm2->memory.read_latency : int64_t{0});
  const double latency = static_cast<double>(read_latency + op.ofm.memory.write_latency);
  const double block_ports = (out.ifm.cycles + out.ifm2.cycles + out.ofm.cycles) / blocks;
  const double per_element = output_cycles_per_element(npu, op);
  const int64_t stored_last = op.ofm.bricks && is_elementwise(op.work) ? 16 : 1;
  double first_mac = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k) {
        const int64_t count = y.count[i] * x.count[j] * z.count[k];
        if (count == 0) continue;
        const Volume size = {y.size[i], x.size[j], round_up(z.size[k], stored_last)};
        const double mac = mac_cycles_of_block(npu, op, {y.size[i], x.size[j], z.size[k]});
        double output = per_element * static_cast<double>(size.elements());
        if (op.scale_bytes > 0)
          output = std::max(output,
                            10 * static_cast<double>(z.size[k] * op.constants.read_latency) / 256);
        const double own = latency + block_ports + mac + output;
        const double interval = std::max({mac, output, own / 4});
        out.mac += static_cast<double>(count) * mac;
        if (op.weight_bytes > 0)
          out.decoding += static_cast<double>(count) *
                          mac_cycles_of_block(npu, op, {y.size[i], x.size[j], z.size[k]}, true);
        out.output += static_cast<double>(count) * output;
        out.pipeline += static_cast<double>(count) * interval;
        if (first_mac == 0) first_mac = mac;
        out.drain = output;  // the last block is the smallest
      }
  // The stage that does not set the pace is seen once: the last output, or the first accumulation.
  if (!is_elementwise(op.work)) out.pipeline += out.mac >= out.output ? out.drain : first_mac;
  // The stream of weights is decoded again for each block of the plane.
  if (op.weight_bytes > 0) {
    out.decoding += op.weight_headers * static_cast<double>(areas);
    out.pipeline = std::max(out.pipeline, out.decoding);
  }
  out.start = kAssumed.command_start;
  out.first_fetch = latency + (out.ifm.cycles + out.ifm2.cycles) / blocks;
  if (op.weight_bytes > 0)
    out.first_fetch = std::max(out.first_fetch, static_cast<double>(op.constants.read_latency));
  return out;
}

// Cycles of the operation when nothing else uses the ports: the slowest of pipeline and ports. Ports
// are told apart by where the memories are.
inline double total_cycles(const OperationTiming& op, const OperationCycles& cycles) {
  struct Use {
    std::string_view memory;
    double cycles;
  };
  const Use uses[] = {{op.ifm.memory.name, cycles.ifm.cycles},
                      {op.ifm2 ? op.ifm2->memory.name : op.ifm.memory.name, cycles.ifm2.cycles},
                      {op.constants.name, cycles.weights.cycles + cycles.scales.cycles},
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
