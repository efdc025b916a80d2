#include "timed_run.h"

#include "intarsia/targets/ethos_u/payload.h"
#include "intarsia/targets/ethos_u/run.h"

namespace intarsia::test::ethos_u {

namespace sim = simulators::ethos_u;

void LeastBytes::command(const sim::DecodedCommand& command) {
  bytes_[static_cast<size_t>(memories_.constants)] += 4.0 * command.words;
  next_.command(command);
}

void LeastBytes::before(const sim::Operation& op, const sim::Memory& memory) {
  const sim::FeatureMap& ofm = op.ofm;
  add(ofm.region, static_cast<uint64_t>(ofm.height) * static_cast<uint64_t>(ofm.width) *
                      static_cast<uint64_t>(ofm.depth * sim::element_bytes(ofm.type)));
  if (op.has_weights())
    for (size_t core = 0; core < static_cast<size_t>(op.cores); ++core) {
      add(op.weight_region, op.weights[core].length);
      add(op.scale_region, op.scales[core].length);
    }
  if (watcher_ != nullptr) watcher_->before(op, memory);
  next_.before(op, memory);
}

void LeastBytes::before(const sim::DmaTransfer& dma, const sim::Memory& memory) {
  if (!dma.source_internal) add(dma.source_region, dma.length);
  if (!dma.target_internal) add(dma.target_region, dma.length);
  if (watcher_ != nullptr) watcher_->before(dma, memory);
  next_.before(dma, memory);
}

std::array<double, sim::kPorts> LeastBytes::port_cycles() const {
  std::array<double, sim::kPorts> result = {};
  for (size_t port = 0; port < sim::kPorts; ++port)
    result[port] = bytes_[port] / memories_.ports[port].bytes_per_cycle;
  return result;
}

TimedRun run_timed(std::span<const uint8_t> payload_bytes, std::vector<TimedRegion> regions,
                   const std::string& memory_mode, sim::Observer* watcher,
                   const std::string& system) {
  TimedRun result;
  sim::Payload payload;
  if (auto failure = sim::read_payload(payload_bytes, payload)) {
    result.problem = *failure;
    return result;
  }
  const sim::Configuration& configuration = *payload.made_for;
  const auto* npu = isa::ethos_u::find_npu_timing(configuration.tag);
  const auto memories = isa::ethos_u::memory_system(*npu, system, memory_mode);
  if (!memories) {
    result.problem = "there is no memory mode " + memory_mode;
    return result;
  }
  sim::Memory memory(configuration);
  for (size_t i = 0; i < regions.size(); ++i) {
    TimedRegion& region =
        regions[i].alias < 0 ? regions[i] : regions.at(static_cast<size_t>(regions[i].alias));
    memory.regions[i] = {region.bytes.data(), region.bytes.size(), i != 0};
  }
  sim::Timeline timeline(configuration, *memories);
  LeastBytes least(*memories, timeline, watcher);
  const sim::Outcome outcome = sim::run(payload.stream, configuration, memory, &least);
  if (outcome.fault) result.problem = outcome.fault->to_string();
  timeline.finish();
  result.totals = timeline.totals();
  result.commands = timeline.commands();
  result.least_port_cycles = least.port_cycles();
  return result;
}

}  // namespace intarsia::test::ethos_u
