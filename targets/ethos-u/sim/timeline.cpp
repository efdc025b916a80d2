#include "intarsia/targets/ethos_u/timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace intarsia::simulators::ethos_u {
namespace {

using isa::ethos_u::MapTiming;
using isa::ethos_u::OperationTiming;
using isa::ethos_u::Work;

Work work_of(const Operation& op) {
  switch (op.kind) {
    case OperationKind::Conv:
      return Work::Conv;
    case OperationKind::Depthwise:
      return Work::Depthwise;
    case OperationKind::Pool:
      return op.pooling == PoolingMode::Max         ? Work::MaxPool
             : op.pooling == PoolingMode::ReduceSum ? Work::ReduceSum
                                                    : Work::OtherPool;
    case OperationKind::Elementwise:
      break;
  }
  if (op.elementwise == ElementwiseMode::Mul) return Work::Multiply;
  if (op.elementwise == ElementwiseMode::Add || op.elementwise == ElementwiseMode::Sub)
    return Work::AddSub;
  return Work::OtherElementwise;
}

uint64_t whole(double bytes) {
  return static_cast<uint64_t>(std::llround(bytes));
}

enum PmuEvent : uint32_t {
#define REGISTER(...)
#define REGISTER_FIELD(...)
#define PMU_EVENT(name, number) name = number,
#include "intarsia/targets/ethos_u/registers.def"
#undef REGISTER
#undef REGISTER_FIELD
#undef PMU_EVENT
};

}  // namespace

Timeline::Timeline(const Configuration& configuration, const isa::ethos_u::MemorySystem& memories)
    : npu_(isa::ethos_u::find_npu_timing(configuration.tag)), memories_(memories) {}

void Timeline::command(const DecodedCommand& command) {
  last_ = command;
  totals_.stream_bytes += 4 * command.words;
}

OperationTiming Timeline::timing_of(const Operation& op) const {
  const auto map = [&](const FeatureMap& from) {
    const auto pixel = static_cast<uint64_t>(from.depth * element_bytes(from.type));
    return MapTiming{{from.height, from.width, from.depth},
                     8 * element_bytes(from.type),
                     from.brick,
                     from.stride_x == pixel || from.width == 1,
                     memories_.memory_of_region(from.region)};
  };
  OperationTiming out;
  out.work = work_of(op);
  out.ifm = map(op.ifm);
  out.ofm = map(op.ofm);
  if (op.has_ifm2) out.ifm2 = map(op.ifm2);
  out.is_binary = op.has_ifm2 || op.has_scalar;
  out.ofm_block = {op.ofm_block.height, op.ofm_block.width, op.ofm_block.depth};
  out.kernel_height = op.kernel.height;
  out.kernel_width = op.kernel.width;
  out.stride_y = op.kernel.stride_y;
  out.stride_x = op.kernel.stride_x;
  out.dilation_y = op.kernel.dilation_y;
  out.dilation_x = op.kernel.dilation_x;
  out.upscale = op.upscale == Upscale::None ? 1 : 2;
  out.part_kernel_first = op.kernel.part_kernel_first;
  out.acc40 = op.accumulators == AccumulatorFormat::I40;
  out.uses_table = op.activation.function != ActivationFunction::Clamp;
  out.uses_clamp =
      !out.uses_table && op.ofm.type != ElementType::S32 &&
      (op.activation.minimum > lowest(op.ofm.type) || op.activation.maximum < highest(op.ofm.type));
  out.constants = memories_.memory_of_region(op.has_weights() ? op.weight_region : op.ifm.region);
  if (op.has_weights())
    for (size_t core = 0; core < static_cast<size_t>(op.cores); ++core) {
      out.weight_bytes += static_cast<int64_t>(op.weights[core].length);
      out.scale_bytes += static_cast<int64_t>(op.scales[core].length);
    }
  return out;
}

void Timeline::before(const Operation& op, const Memory&) {
  const OperationTiming timing = timing_of(op);
  TimedCommand out;
  out.kind = TimedKind::Operation;
  out.offset = op.offset;
  out.command = last_.command;
  out.parameter = last_.parameter;
  out.work = operation_cycles(*npu_, timing);

  const auto count = [&](uint32_t region, const isa::ethos_u::Transfer& transfer, bool is_write) {
    out.port_cycles[static_cast<size_t>(memories_.port_of_region(region))] += transfer.cycles;
    RegionTraffic& traffic = out.traffic[region];
    (is_write ? traffic.written_bytes : traffic.read_bytes) += whole(transfer.bytes);
  };
  count(op.ifm.region, out.work.ifm, false);
  if (op.has_ifm2) count(op.ifm2.region, out.work.ifm2, false);
  if (op.has_weights()) {
    count(op.weight_region, out.work.weights, false);
    count(op.scale_region, out.work.scales, false);
  }
  count(op.ofm.region, out.work.ofm, true);

  out.alone = std::max(out.work.pipeline,
                       *std::max_element(out.port_cycles.begin(), out.port_cycles.end()));
  // A block that may not start before the operation in front is complete waits for its first input. One
  // that may hides that, and works on while the last blocks in front are put out.
  double hidden = 0;
  if (op.blockdep == 0)
    out.alone += out.work.first_fetch;
  else
    hidden = std::min(last_drain_, out.work.pipeline / 2);
  last_drain_ = out.work.drain;
  totals_.macs += out.work.macs;
  totals_.mac_cycles += out.work.mac;
  totals_.output_cycles += out.work.output;
  enqueue(operations_, std::move(out), npu_->outstanding_kernels, hidden);
}

void Timeline::before(const DmaTransfer& dma, const Memory&) {
  const auto port = [&](uint32_t region, bool internal) {
    return static_cast<size_t>(internal ? isa::ethos_u::kShramPort
                                        : memories_.port_of_region(region));
  };
  const size_t from = port(dma.source_region, dma.source_internal);
  const size_t to = port(dma.target_region, dma.target_internal);
  TimedCommand out;
  out.kind = TimedKind::Transfer;
  out.offset = dma.offset;
  out.command = last_.command;
  out.alone = isa::ethos_u::dma_cycles(memories_.ports[from], memories_.ports[to],
                                       static_cast<int64_t>(dma.length));
  const auto bytes = static_cast<double>(dma.length);
  out.port_cycles[from] += bytes / memories_.ports[from].bytes_per_cycle;
  out.port_cycles[to] += bytes / memories_.ports[to].bytes_per_cycle;
  out.alone =
      std::max(out.alone, *std::max_element(out.port_cycles.begin(), out.port_cycles.end()));
  if (!dma.source_internal) out.traffic[dma.source_region].read_bytes += dma.length;
  if (!dma.target_internal) out.traffic[dma.target_region].written_bytes += dma.length;
  enqueue(transfers_, std::move(out), npu_->outstanding_dma, 0);
}

void Timeline::wait(const Wait& wait) {
  drain(wait.kind == WaitKind::Kernel ? operations_ : transfers_,
        static_cast<size_t>(std::max(0, wait.outstanding)), wait.offset);
}

void Timeline::enqueue(Queue& queue, TimedCommand command, int64_t most, double hidden) {
  drain(queue, static_cast<size_t>(most - 1), command.offset);
  command.issued = now_;
  // Nothing is hidden behind work that is over.
  if (queue.empty()) hidden = 0;
  const double left = std::max(0.0, command.alone - hidden);
  if (queue.empty()) command.started = now_;
  for (size_t i = 0; i < kPorts; ++i) totals_.port_cycles[i] += command.port_cycles[i];
  for (size_t i = 0; i < kRegions; ++i) {
    totals_.traffic[i].read_bytes += command.traffic[i].read_bytes;
    totals_.traffic[i].written_bytes += command.traffic[i].written_bytes;
  }
  queue.push_back({commands_.size(), left});
  commands_.push_back(std::move(command));
}

void Timeline::drain(Queue& queue, size_t left, uint32_t offset) {
  if (queue.size() <= left) return;
  const double from = now_;
  while (queue.size() > left) pass();
  if (now_ > from) stalls_.push_back({offset, from, now_});
}

// Until the first of what runs is complete.
void Timeline::pass() {
  Queue* const queues[] = {&operations_, &transfers_};
  // What the two together ask of a port in a cycle; more than one port can give slows both down.
  double pressure = 1;
  for (size_t port = 0; port < kPorts; ++port) {
    double asked = 0;
    for (const Queue* queue : queues) {
      if (queue->empty()) continue;
      const TimedCommand& running = commands_[queue->front().command];
      if (running.alone > 0) asked += running.port_cycles[port] / running.alone;
    }
    pressure = std::max(pressure, asked);
  }
  double step = -1;
  for (const Queue* queue : queues)
    if (!queue->empty() && (step < 0 || queue->front().left < step)) step = queue->front().left;
  if (step < 0) return;
  const double elapsed = step * pressure;
  now_ += elapsed;
  if (!operations_.empty()) totals_.operation_cycles += elapsed;
  if (!transfers_.empty()) totals_.transfer_cycles += elapsed;
  if (operations_.empty()) totals_.transfer_only += elapsed;
  for (Queue* queue : queues) {
    if (queue->empty()) continue;
    queue->front().left -= step;
    if (queue->front().left <= 0) complete(*queue);
  }
}

void Timeline::complete(Queue& queue) {
  commands_[queue.front().command].ended = now_;
  queue.pop_front();
  if (!queue.empty()) commands_[queue.front().command].started = now_;
}

void Timeline::finish() {
  while (!operations_.empty() || !transfers_.empty()) pass();
  totals_.cycles = now_;
}

uint64_t Timeline::cycles() const {
  return whole(totals_.cycles);
}

uint64_t Timeline::events(uint32_t number) const {
  const auto beats = [&](size_t port, bool written) {
    uint64_t bytes = 0;
    for (uint32_t region = 0; region < kRegions; ++region)
      if (static_cast<size_t>(memories_.port_of_region(region)) == port)
        bytes +=
            written ? totals_.traffic[region].written_bytes : totals_.traffic[region].read_bytes;
    return bytes / static_cast<uint64_t>(npu_->bus_bytes);
  };
  switch (number) {
    case CYCLE:
      return cycles();
    case NPU_ACTIVE:
      return whole(totals_.operation_cycles + totals_.transfer_only);
    case NPU_IDLE:
      return whole(totals_.cycles - totals_.operation_cycles - totals_.transfer_only);
    case MAC_ACTIVE:
      return whole(totals_.mac_cycles);
    case AO_ACTIVE:
      return whole(totals_.output_cycles);
    case AXI0_RD_DATA_BEAT_RECEIVED:
      return beats(0, false);
    case AXI0_WR_DATA_BEAT_WRITTEN:
      return beats(0, true);
    case AXI1_RD_DATA_BEAT_RECEIVED:
      return beats(1, false);
    case AXI1_WR_DATA_BEAT_WRITTEN:
      return beats(1, true);
    default:
      return 0;
  }
}

}  // namespace intarsia::simulators::ethos_u
