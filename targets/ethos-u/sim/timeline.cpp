#include "intarsia/targets/ethos_u/timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "intarsia/targets/ethos_u/pmu_events.h"
#include "intarsia/targets/ethos_u/weight_stream.h"

namespace intarsia::simulators::ethos_u {
namespace {

// Of one operation: those of 4096 channels on as many through one element of a kernel. A stream of garbage may claim more.
constexpr size_t kMostWeights = size_t{1} << 24;

uint64_t whole_bytes(double bytes) {
  return static_cast<uint64_t>(std::llround(bytes));
}

}  // namespace

Timeline::Timeline(const Configuration& configuration, const isa::ethos_u::MemorySystem& memories)
    : configuration_(&configuration),
      npu_(isa::ethos_u::find_npu_timing(configuration.tag)),
      memories_(memories),
      pipeline_([this](size_t number) { end(number); }) {}

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
  totals_.port_cycles[port] += crossing;
  PortCycles ports = {};
  ports[port] = crossing;
  // What follows is asked for before it is needed.
  const double latency =
      std::exchange(has_read_, true) ? 0 : static_cast<double>(memories_.ports[port].read_latency);
  pipeline_.read_commands(latency, words * isa::ethos_u::kAssumed.command_word, ports);
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

void Timeline::before(const Operation& op, const Memory& memory) {
  read_commands();
  OperationWork work = work_of(op, *configuration_, *npu_, memories_,
                               op.has_weights() ? header_cycles(op, memory) : 0);
  TimedCommand command;
  command.kind = TimedKind::Operation;
  command.offset = op.offset;
  command.macs = work.macs;
  command.mac = work.mac;
  command.output = work.output;
  command.port_cycles = work.ports;
  command.traffic = work.traffic;
  totals_.macs += work.macs;
  totals_.mac_cycles += work.mac;
  totals_.output_cycles += work.output;
  make_room(command.kind, static_cast<size_t>(npu_->outstanding_kernels - 1), op.offset);
  add(command);
  pipeline_.issue(std::move(work), commands_.size() - 1);
}

void Timeline::before(const DmaTransfer& dma, const Memory&) {
  read_commands();
  const auto port = [&](uint32_t region, bool internal) {
    return static_cast<size_t>(internal ? isa::ethos_u::kShramPort
                                        : memories_.port_of_region(region));
  };
  const size_t from = port(dma.source_region, dma.source_internal);
  const size_t to = port(dma.target_region, dma.target_internal);
  TimedCommand command;
  command.kind = TimedKind::Transfer;
  command.offset = dma.offset;
  const auto bytes = static_cast<double>(dma.length);
  command.port_cycles[from] += bytes / memories_.ports[from].bytes_per_cycle;
  command.port_cycles[to] += bytes / memories_.ports[to].bytes_per_cycle;
  if (!dma.source_internal) command.traffic[dma.source_region].read_bytes += dma.length;
  if (!dma.target_internal) command.traffic[dma.target_region].written_bytes += dma.length;
  make_room(command.kind, static_cast<size_t>(npu_->outstanding_dma - 1), dma.offset);
  add(command);
  pipeline_.transfer(command.port_cycles, static_cast<double>(memories_.ports[from].read_latency),
                     commands_.size() - 1);
}

void Timeline::wait(const Wait& wait) {
  read_commands();
  make_room(wait.kind == WaitKind::Kernel ? TimedKind::Operation : TimedKind::Transfer,
            static_cast<size_t>(std::max(0, wait.outstanding)), wait.offset);
}

void Timeline::add(TimedCommand command) {
  command.command = last_.command;
  command.parameter = last_.parameter;
  command.issued = pipeline_.now();
  for (size_t i = 0; i < kPorts; ++i) totals_.port_cycles[i] += command.port_cycles[i];
  for (size_t i = 0; i < kRegions; ++i) {
    totals_.traffic[i].read_bytes += command.traffic[i].read_bytes;
    totals_.traffic[i].written_bytes += command.traffic[i].written_bytes;
  }
  commands_.push_back(std::move(command));
}

void Timeline::make_room(TimedKind kind, size_t left, uint32_t offset) {
  const double from = pipeline_.now();
  if (kind == TimedKind::Operation)
    pipeline_.finish_operations(left);
  else
    pipeline_.finish_transfers(left);
  if (pipeline_.now() > from) stalls_.push_back({offset, from, pipeline_.now()});
}

void Timeline::end(size_t number) {
  TimedCommand& command = commands_[number];
  double& last = ended_[static_cast<size_t>(command.kind)];
  command.started = std::max(command.issued, last);
  command.ended = last = pipeline_.now();
}

void Timeline::finish() {
  pipeline_.finish_operations(0);
  pipeline_.finish_transfers(0);
  totals_.cycles = pipeline_.now();
  totals_.operation_cycles = pipeline_.times().operations;
  totals_.transfer_cycles = pipeline_.times().transfers;
  totals_.transfer_only = pipeline_.times().transfers_alone;
}

uint64_t Timeline::cycles() const {
  return whole_bytes(totals_.cycles);
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
      return whole_bytes(totals_.operation_cycles + totals_.transfer_only);
    case NPU_IDLE:
      return whole_bytes(totals_.cycles - totals_.operation_cycles - totals_.transfer_only);
    case MAC_ACTIVE:
      return whole_bytes(totals_.mac_cycles);
    case AO_ACTIVE:
      return whole_bytes(totals_.output_cycles);
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
