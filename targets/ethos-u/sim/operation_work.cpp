#include "intarsia/targets/ethos_u/operation_work.h"

#include <algorithm>
#include <cmath>

#include "intarsia/targets/ethos_u/blocks.h"
#include "intarsia/targets/ethos_u/rounding.h"

namespace intarsia::simulators::ethos_u {
namespace {

using isa::ethos_u::ceil_div;
using isa::ethos_u::kPublished;
using isa::ethos_u::MemoryTiming;
using isa::ethos_u::NpuTiming;
using isa::ethos_u::round_up;

// Jobs that are told apart. An operation of more, which no network has, is played with jobs that each stand for several.
constexpr int64_t kMostJobs = 1 << 14;

// Equal runs of contiguous bytes.
struct Runs {
  int64_t count = 0, bytes = 0;
  int64_t total() const { return count * bytes; }
};

double cycles_of(const Runs& runs, const MemoryTiming& memory) {
  // What is shorter than a burst takes as long as a burst.
  return static_cast<double>(runs.count * std::max(runs.bytes, memory.burst_bytes)) /
         memory.bytes_per_cycle;
}

// What is read for so many rows, columns and channels of a map.
Runs reads_of(const FeatureMap& map, int64_t rows, int64_t columns, int64_t channels) {
  const int64_t bytes = element_bytes(map.type);
  if (rows <= 0 || columns <= 0 || channels <= 0) return {};
  if (map.brick)  // whole bricks, each a row of 16 channels
    return {rows * ceil_div(channels, kBrickDepth), columns * kBrickDepth * bytes};
  const int64_t pixel = channels * bytes;
  const bool follows = channels == map.depth && (map.stride_x == pixel || map.width == 1);
  return follows ? Runs{rows, columns * pixel} : Runs{rows * columns, pixel};
}

// What is written: the output unit of each core puts out 16 channels at a time, whatever bytes these have, and all cores
// together at most `kPublished.most_written` bytes (Vela 3.10, npu_performance.py, the burst of an NHWC write: the least of
// 64 bytes, of 16 elements of each core, and of the block's depth).
Runs writes_of(const FeatureMap& map, const Box& box, int32_t cores) {
  const int64_t bytes = element_bytes(map.type);
  const int64_t rows = box.y1 - box.y0, columns = box.x1 - box.x0, channels = box.c1 - box.c0;
  if (map.brick) {
    const int64_t bricks = ceil_div(channels, kBrickDepth);
    const int64_t together = std::min<int64_t>(bricks, cores);
    return {rows * ceil_div(bricks, together), together * columns * kBrickDepth * bytes};
  }
  const int64_t pixel = channels * bytes;
  if (channels <= kBrickDepth && channels == map.depth && (map.stride_x == pixel || map.width == 1))
    return {rows, columns * pixel};
  const int64_t piece =
      std::min({pixel, kBrickDepth * bytes * cores, int64_t{kPublished.most_written}});
  return {rows * columns * ceil_div(pixel, piece), piece};
}

// Positions of one axis of the IFM that [first, end) of the OFM see through each part of a window that is cut into
// sub-kernels, added up.
int64_t seen_by_parts(int32_t first, int32_t end, int32_t stride, int32_t kernel, int32_t dilation,
                      int32_t part, int32_t pad, int32_t upscaled, int32_t factor) {
  int64_t total = 0;
  for (int32_t from = 0; from < kernel; from += part) {
    const int32_t last = std::min(kernel, from + part) - 1;
    const int32_t low = std::max(0, first * stride - pad + from * dilation);
    const int32_t high = std::min(upscaled - 1, (end - 1) * stride - pad + last * dilation);
    if (high >= low) total += high / factor - low / factor + 1;
  }
  return total;
}

int32_t part_of(const Kernel& kernel, int32_t dilation) {
  return std::max(1, kernel.decomposition / std::max(1, dilation));
}

// The MAC array, and the decoder beside it, in steps: a step is what every micro-block of the plane does with the same
// weights.
struct Steps {
  int64_t count = 0;      // for one micro-block of depth
  double cycles = 0;      // of a step, for each micro-block of the plane
  double decoding = 0;    // of a step
  int64_t dependent = 0;  // steps into the same accumulators that follow each other
};

class MacArray {
 public:
  MacArray(const Operation& op, const Configuration& configuration, const NpuTiming& npu)
      : op_(op), npu_(npu), ublock_(configuration.ofm_ublock) {
    const bool convolves = op.has_weights();
    // Two rows of micro-blocks serve one row of twice the width.
    if (convolves && ublock_.height == 2 && op.ofm.height == 1 && op.ofm.width % 2 == 0 &&
        op.kernel.height == 1)
      ublock_ = {4, 1, ublock_.depth};
  }

  // For a block of this size, and so many channels of its IFM.
  JobWork job(const Box& block, int64_t channels) const {
    const int64_t across = ceil_div(block.x1 - block.x0, ublock_.width);
    const int64_t down = ceil_div(block.y1 - block.y0, ublock_.height);
    const int64_t deep = ceil_div(block.c1 - block.c0, ublock_.depth);
    const int64_t plane = across * down;
    JobWork job;
    const int32_t rows = part_of(op_.kernel, op_.kernel.dilation_y),
                  columns = part_of(op_.kernel, op_.kernel.dilation_x);
    for (int32_t y = 0; y < op_.kernel.height; y += rows)
      for (int32_t x = 0; x < op_.kernel.width; x += columns) {
        const int64_t elements = int64_t{std::min(rows, op_.kernel.height - y)} *
                                 std::min(columns, op_.kernel.width - x);
        const Steps steps = steps_of(elements, channels);
        const double step = std::max(static_cast<double>(plane) * steps.cycles, steps.decoding);
        const auto all = static_cast<double>(steps.count * deep);
        job.decoding += all * steps.decoding;
        job.accumulation += all * step + waits(steps, plane, across, down, deep);
      }
    job.decoding /= op_.cores;
    job.accumulation /= op_.cores;
    return job;
  }

 private:
  Steps steps_of(int64_t elements, int64_t channels) const {
    const bool wide = element_bytes(op_.ifm.type) == 2;
    const double step = kPublished.step;
    const double decoding =
        op_.has_weights() || op_.pooling == PoolingMode::ReduceSum
            ? kPublished.step_weights * ublock_.depth / kPublished.decoded_weights
            : 0;
    switch (op_.kind) {
      case OperationKind::Depthwise: {
        const int64_t count = ceil_div(elements, 4);
        return {count, wide ? 2 * step : step, decoding, count};
      }
      case OperationKind::Pool:
        if (op_.pooling != PoolingMode::ReduceSum)
          return {1,
                  std::max(step, static_cast<double>(elements)) * (wide && npu_.macs != 32 ? 2 : 1),
                  0, 1};
        return {elements, step, decoding, elements};
      default:
        if (!op_.kernel.part_kernel_first) return {elements, step, decoding, elements};
        const int64_t groups = ceil_div(elements, wide ? 2 : 4);
        return {groups * ceil_div(channels, kPublished.dot_product), step, decoding, groups};
    }
  }

  // A step into the accumulators of the one before it waits, where no other micro-block lies between them.
  double waits(const Steps& steps, int64_t plane, int64_t across, int64_t down,
               int64_t deep) const {
    const bool wide = op_.accumulators == AccumulatorFormat::I40;
    const double delay = wide ? npu_.delay_acc40 : npu_.delay_acc32;
    const int64_t repeats = steps.count / std::max<int64_t>(1, steps.dependent);
    double times = 0;
    if (plane == 1)
      times = static_cast<double>((deep == 1 ? steps.dependent : (steps.dependent - 1) * deep) *
                                  repeats);
    if (npu_.macs == 32 && wide && (across == 1 || down == 1) && deep > 1)
      times += static_cast<double>(deep * repeats);
    return times * delay;
  }

  const Operation& op_;
  const NpuTiming& npu_;
  Block ublock_;
};

// Cycles of the output units for an element.
double output_rate(const Operation& op, const NpuTiming& npu) {
  const bool elementwise = op.kind == OperationKind::Elementwise;
  double rate = npu.other_output;
  if (elementwise) {
    if (op.ifm.type == ElementType::S32)
      rate = op.has_ifm2 || op.has_scalar ? npu.binary_32 : npu.unary_32;
    else if (op.elementwise == ElementwiseMode::Mul)
      rate = op.ofm.type == ElementType::S32 ? npu.multiply_32 : npu.multiply_or_acc40;
    else if (op.elementwise == ElementwiseMode::Add || op.elementwise == ElementwiseMode::Sub)
      rate = op.operand_scale == OperandScale::Both16 ? npu.simple_add_sub : npu.add_sub;
  } else if (op.accumulators == AccumulatorFormat::I40) {
    rate = npu.multiply_or_acc40;
  } else if (op.kind == OperationKind::Pool && op.pooling == PoolingMode::Max) {
    rate = npu.max_pool;
  }
  if (op.activation.function != ActivationFunction::Clamp) return std::max(rate, npu.table);
  const bool clamps =
      op.ofm.type != ElementType::S32 &&
      (op.activation.minimum > lowest(op.ofm.type) || op.activation.maximum < highest(op.ofm.type));
  return clamps ? std::max(rate, npu.clamp) : rate;
}

class Maker {
 public:
  Maker(const Operation& op, const Configuration& configuration, const NpuTiming& npu,
        const isa::ethos_u::MemorySystem& memories, double headers)
      : op_(op),
        memories_(memories),
        blocks_(op),
        array_(op, configuration, npu),
        rate_(output_rate(op, npu)),
        headers_(headers) {}

  OperationWork make() {
    out_.accumulates = op_.kind != OperationKind::Elementwise;
    out_.has_weights = op_.has_weights();
    out_.blockdep = op_.blockdep;
    out_.read_latency = static_cast<double>(memory(op_.ifm.region).read_latency);
    if (op_.has_ifm2)
      out_.read_latency =
          std::max(out_.read_latency, static_cast<double>(memory(op_.ifm2.region).read_latency));
    out_.write_latency = static_cast<double>(memory(op_.ofm.region).write_latency);
    if (op_.has_weights()) {
      out_.weight_latency = static_cast<double>(memory(op_.weight_region).read_latency);
      for (size_t core = 0; core < static_cast<size_t>(op_.cores); ++core) {
        weight_bytes_ += static_cast<double>(op_.weights[core].length);
        scale_bytes_ += static_cast<double>(op_.scales[core].length);
      }
    }
    const int64_t per_block = blocks_.jobs_per_block();
    const int64_t job_step = ceil_div(per_block, kMostJobs);
    const int64_t block_step = ceil_div(blocks_.count() * ceil_div(per_block, job_step), kMostJobs);
    for (int64_t block = 0; block < blocks_.count(); block += block_step)
      add_block(block, std::min(block_step, blocks_.count() - block), job_step);
    if (op_.has_weights()) add_weights();
    for (const JobWork& job : out_.jobs) {
      out_.mac += job.accumulation;
      for (size_t port = 0; port < kPorts; ++port)
        out_.ports[port] += job.fetch[port] + job.weights[port];
    }
    for (const BlockWork& block : out_.blocks) {
      out_.output += block.output;
      for (size_t port = 0; port < kPorts; ++port) out_.ports[port] += block.write[port];
    }
    if (out_.accumulates)
      out_.macs = int64_t{op_.kernel.height} * op_.kernel.width * op_.ofm.height * op_.ofm.width *
                  op_.ofm.depth * (sums_depth() ? op_.ifm.depth : 1);
    return std::move(out_);
  }

 private:
  bool sums_depth() const {
    return op_.kind == OperationKind::Conv ||
           (op_.kind == OperationKind::Pool && op_.pooling == PoolingMode::ReduceSum);
  }
  const MemoryTiming& memory(uint32_t region) const { return memories_.memory_of_region(region); }
  size_t port(uint32_t region) const {
    return static_cast<size_t>(memories_.port_of_region(region));
  }

  void add_block(int64_t index, int64_t times, int64_t job_step) {
    const Box box = blocks_.ofm(index);
    const auto scale = static_cast<double>(times);
    BlockWork& block = out_.blocks.emplace_back();
    const int64_t per_block = blocks_.jobs_per_block();
    for (int64_t job = 0; job < per_block; job += job_step) {
      add_job(index, box, job, scale * static_cast<double>(std::min(job_step, per_block - job)));
      ++block.jobs;
    }
    // Element-wise operations work on whole bricks.
    const int64_t channels = op_.ofm.brick && !out_.accumulates
                                 ? round_up(box.c1 - box.c0, kBrickDepth)
                                 : box.c1 - box.c0;
    block.output =
        rate_ * static_cast<double>(int64_t{box.y1 - box.y0} * (box.x1 - box.x0) * channels);
    if (op_.has_weights())
      block.output = std::max(block.output, kPublished.scale_bytes * (box.c1 - box.c0) *
                                                out_.weight_latency / kPublished.scale_latency);
    block.output *= scale;
    const Runs runs = writes_of(op_.ofm, box, op_.cores);
    block.write[port(op_.ofm.region)] += scale * cycles_of(runs, memory(op_.ofm.region));
    out_.traffic[op_.ofm.region].written_bytes += static_cast<uint64_t>(times * runs.total());
  }

  void add_job(int64_t index, const Box& box, int64_t job, double scale) {
    JobWork work;
    const Box in = blocks_.ifm(index * blocks_.jobs_per_block() + job);
    const auto read = [&](const FeatureMap& map, const Runs& runs) {
      work.fetch[port(map.region)] += scale * cycles_of(runs, memory(map.region));
      out_.traffic[map.region].read_bytes +=
          static_cast<uint64_t>(std::llround(scale * static_cast<double>(runs.total())));
    };
    if (!out_.accumulates) {
      // A broadcast operand is read as often as it is used.
      const auto operand = [&](const FeatureMap& map) {
        const bool one = map.height == 1 && map.width == 1 && map.depth == 1;
        read(map, one ? reads_of(map, 1, 1, 1)
                      : reads_of(map, box.y1 - box.y0, box.x1 - box.x0, box.c1 - box.c0));
      };
      operand(op_.ifm);
      if (op_.has_ifm2) operand(op_.ifm2);
      out_.jobs.push_back(work);
      return;
    }
    const Kernel& kernel = op_.kernel;
    const int32_t factor = op_.upscale == Upscale::None ? 1 : 2;
    const int64_t rows = seen_by_parts(box.y0, box.y1, kernel.stride_y, kernel.height,
                                       kernel.dilation_y, part_of(kernel, kernel.dilation_y),
                                       op_.padding.top, op_.upscaled_height, factor);
    const int64_t columns = seen_by_parts(box.x0, box.x1, kernel.stride_x, kernel.width,
                                          kernel.dilation_x, part_of(kernel, kernel.dilation_x),
                                          op_.padding.left, op_.upscaled_width, factor);
    const int64_t channels = in.c1 - in.c0;
    read(op_.ifm, reads_of(op_.ifm, rows, columns, channels));
    const JobWork array = array_.job(box, channels);
    work.decoding = scale * array.decoding;
    work.accumulation = scale * array.accumulation;
    out_.jobs.push_back(work);
  }

  // The stream of weights goes through the decoder once for each block of the plane, and each job takes of it by what it
  // decodes. Scales are read once.
  void add_weights() {
    const int64_t planes =
        std::max<int64_t>(1, int64_t{ceil_div(op_.ofm.height, op_.ofm_block.height)} *
                                 ceil_div(op_.ofm.width, op_.ofm_block.width));
    double decoded = 0;
    for (const JobWork& job : out_.jobs) decoded += job.decoding;
    const double all = weight_bytes_ * static_cast<double>(planes);
    const MemoryTiming& weights = memory(op_.weight_region);
    for (JobWork& job : out_.jobs) {
      const double share =
          decoded > 0 ? job.decoding / decoded : 1.0 / static_cast<double>(out_.jobs.size());
      job.weights[port(op_.weight_region)] += all * share / weights.bytes_per_cycle;
      job.decoding += headers_ * static_cast<double>(planes) * share;
    }
    if (!out_.jobs.empty())
      out_.jobs[0].weights[port(op_.scale_region)] +=
          scale_bytes_ / memory(op_.scale_region).bytes_per_cycle;
    out_.traffic[op_.weight_region].read_bytes += static_cast<uint64_t>(all);
    out_.traffic[op_.scale_region].read_bytes += static_cast<uint64_t>(scale_bytes_);
  }

  const Operation& op_;
  const isa::ethos_u::MemorySystem& memories_;
  Blocks blocks_;
  MacArray array_;
  double rate_, headers_;
  double weight_bytes_ = 0, scale_bytes_ = 0;
  OperationWork out_;
};

}  // namespace

OperationWork work_of(const Operation& op, const Configuration& configuration, const NpuTiming& npu,
                      const isa::ethos_u::MemorySystem& memories, double headers) {
  return Maker(op, configuration, npu, memories, headers).make();
}

}  // namespace intarsia::simulators::ethos_u
