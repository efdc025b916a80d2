#include "intarsia/targets/ethos_u/timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "intarsia/targets/ethos_u/weight_stream.h"

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

// Of one operation: those of 4096 channels on as many through one element of a kernel. A stream of garbage may claim more.
constexpr size_t kMostWeights = size_t{1} << 24;

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
  unread_words_ += command.words;
}

void Timeline::read_commands() {
  if (unread_words_ == 0) return;
  const auto port = static_cast<size_t>(memories_.constants);
  const auto words = static_cast<double>(std::exchange(unread_words_, 0));
  const double crossing = 4 * words / memories_.ports[port].bytes_per_cycle;
  double cycles = std::max(crossing, words * isa::ethos_u::kAssumed.command_word);
  // What follows is asked for before it is needed.
  if (!std::exchange(has_read_, true))
    cycles += static_cast<double>(memories_.ports[port].read_latency);
  totals_.port_cycles[port] += crossing;
  reading_ = {cycles, crossing / cycles};
  while (reading_.left > 0) pass();
}

// What the decoder spends on headers, in the core that has most. Where memory does not hold the stream, as in a run that
// only decodes commands, the least: one slice.
double Timeline::header_cycles(const Operation& op, const Memory& memory) const {
  const isa::ethos_u::AssumedTiming& assumed = isa::ethos_u::kAssumed;
  double most = 0;
  for (int32_t core = 0; core < op.cores; ++core) {
    const Range& range = op.weights[static_cast<size_t>(core)];
    if (range.length == 0) continue;
    WeightHeaders headers = {1, 1, 0};
    const uint8_t* bytes = memory.read(op.weight_region, range.base, range.length);
    if (bytes != nullptr)
      if (const auto found =
              weight_headers({bytes, static_cast<size_t>(range.length)}, kMostWeights))
        headers = *found;
    most = std::max(most, static_cast<double>(headers.slices) * assumed.slice_header +
                              static_cast<double>(headers.palettes) * assumed.palette_header +
                              static_cast<double>(headers.entries) * assumed.palette_entry);
  }
  return most;
}

OperationTiming Timeline::timing_of(const Operation& op, const Memory& memory) const {
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
  if (op.has_weights()) out.weight_headers = header_cycles(op, memory);
  return out;
}

void Timeline::before(const Operation& op, const Memory& memory) {
  read_commands();
  const OperationTiming timing = timing_of(op, memory);
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

  drain(operations_, static_cast<size_t>(npu_->outstanding_kernels - 1), out.offset);
  // A block that may not start before the operation in front is complete waits for its first input. One that may hides
  // that, as far as work is in front, and computes while the last blocks in front are put out. What is over hides
  // nothing, and no byte crosses its port for nothing.
  const bool hides = op.blockdep > 0 && !operations_.empty();
  const double hidden = hides ? std::min(last_drain_, out.work.pipeline / 2) : 0;
  const double shown = std::max(0.0, out.work.first_fetch - (hides ? operations_.back().left : 0));
  out.alone = out.work.start + shown +
              std::max(out.work.pipeline - hidden,
                       *std::max_element(out.port_cycles.begin(), out.port_cycles.end()));
  last_drain_ = out.work.drain;
  totals_.macs += out.work.macs;
  totals_.mac_cycles += out.work.mac;
  totals_.output_cycles += out.work.output;
  enqueue(operations_, std::move(out), npu_->outstanding_kernels);
}

void Timeline::before(const DmaTransfer& dma, const Memory&) {
  read_commands();
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
  enqueue(transfers_, std::move(out), npu_->outstanding_dma);
}

void Timeline::wait(const Wait& wait) {
  read_commands();
  drain(wait.kind == WaitKind::Kernel ? operations_ : transfers_,
        static_cast<size_t>(std::max(0, wait.outstanding)), wait.offset);
}

void Timeline::enqueue(Queue& queue, TimedCommand command, int64_t most) {
  drain(queue, static_cast<size_t>(most - 1), command.offset);
  command.issued = now_;
  if (queue.empty()) command.started = now_;
  for (size_t i = 0; i < kPorts; ++i) totals_.port_cycles[i] += command.port_cycles[i];
  for (size_t i = 0; i < kRegions; ++i) {
    totals_.traffic[i].read_bytes += command.traffic[i].read_bytes;
    totals_.traffic[i].written_bytes += command.traffic[i].written_bytes;
  }
  queue.push_back({commands_.size(), command.alone});
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
    double asked = reading_.left > 0 && port == static_cast<size_t>(memories_.constants)
                       ? reading_.port_share
                       : 0;
    for (const Queue* queue : queues) {
      if (queue->empty()) continue;
      const TimedCommand& running = commands_[queue->front().command];
      if (running.alone > 0) asked += running.port_cycles[port] / running.alone;
    }
    pressure = std::max(pressure, asked);
  }
  double step = reading_.left > 0 ? reading_.left : -1;
  for (const Queue* queue : queues)
    if (!queue->empty() && (step < 0 || queue->front().left < step)) step = queue->front().left;
  if (step < 0) return;
  const double elapsed = step * pressure;
  now_ += elapsed;
  if (!operations_.empty()) totals_.operation_cycles += elapsed;
  if (!transfers_.empty()) totals_.transfer_cycles += elapsed;
  if (operations_.empty()) totals_.transfer_only += elapsed;
  reading_.left -= std::min(reading_.left, step);
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
