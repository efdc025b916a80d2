#include "intarsia/targets/ethos_u85/simulation.h"

#include <algorithm>
#include <string>

#include "intarsia/targets/ethos_u85/checker.h"
#include "intarsia/targets/ethos_u85/payload.h"

namespace intarsia::simulators::ethos_u85 {
namespace {

using Known = ethos_u::Recorder::KnownMemory;

intarsia_status status_of(const Fault& fault) {
  switch (fault.cause) {
    case Cause::Bus:
      return INTARSIA_ERROR_DEVICE_BUS;
    case Cause::WeightDecoder:
      return INTARSIA_ERROR_DEVICE_WEIGHTS;
    default:
      return INTARSIA_ERROR_DEVICE_COMMAND;
  }
}

// How much of a region answers: what is known of the stream, else what the caller says, else all that follows.
ethos_u::Region region_at(void* base, uint32_t index, const intarsia_stream& stream,
                          const Known* known) {
  ethos_u::Region region{static_cast<uint8_t*>(base), uint64_t{1} << 40, index != 0};
  if (base == nullptr) return {};
  if (stream.regions != nullptr) region.bytes = stream.regions[index].bytes;
  if (known == nullptr) return region;
  const auto found = known->find(index);
  if (found == known->end()) return {};
  region.bytes = std::min(region.bytes, found->second.bytes);
  region.writable = !found->second.is_constant;
  return region;
}

void tell(Checker& checker, const Known& known, ethos_u::Recorder& recorder, const Memory& memory) {
  for (const auto& [index, region] : known) {
    if (region.is_constant || index >= ethos_u::kRegions) continue;
    checker.forget(index, region.bytes);
    for (const auto& [offset, bytes] : region.holds) checker.set(index, offset, bytes);
    for (const auto& [offset, bytes] : region.yields) checker.expect(index, offset, bytes);
    if (region.is_found) checker.set_written(index, recorder.left_in(memory.regions[index].data));
  }
}

}  // namespace

intarsia_device* Simulation::add_device(std::string_view tag) {
  const Configuration* configuration = find_configuration(tag);
  if (configuration == nullptr) return nullptr;
  return &npus_.emplace_back(Npu{{run}, configuration, &recorder_}).device;
}

intarsia_status Simulation::run(intarsia_device* device, const intarsia_stream* stream,
                                void* const* bases, uint32_t base_count) {
  const Npu& npu = *reinterpret_cast<Npu*>(device);
  const auto say = [&](const std::string& what) {
    npu.recorder->say(std::string(npu.configuration->tag) + " simulator: " + what);
  };
  Payload payload;
  if (auto failure = read_payload({stream->commands, stream->command_bytes}, payload)) {
    say(*failure);
    return INTARSIA_ERROR_DEVICE_MISMATCH;
  }
  if (payload.made_for != npu.configuration || base_count > ethos_u::kRegions) {
    say("the stream was made for " + std::string(payload.made_for->tag));
    return INTARSIA_ERROR_DEVICE_MISMATCH;
  }
  const Known* known = npu.recorder->memory_of(payload.stream);
  Memory memory(kTableMemoryBytes);
  for (uint32_t i = 0; i < base_count; ++i)
    memory.regions[i] = region_at(bases[i], i, *stream, known);
  Checker checker(payload.stream, npu.configuration);
  if (known != nullptr) tell(checker, *known, *npu.recorder, memory);

  const Outcome outcome = ethos_u85::run(payload.stream, *npu.configuration, memory, &checker);
  if (known != nullptr)
    for (const auto& [index, region] : *known)
      if (region.is_left && index < ethos_u::kRegions)
        npu.recorder->leave(memory.regions[index].data, checker.written(index));
  for (const ethos_u::Finding& finding : checker.findings().all()) say(finding.to_string());
  if (outcome.fault) {
    say(outcome.fault->to_string());
    return status_of(*outcome.fault);
  }
  return checker.findings().all().empty() ? INTARSIA_OK : INTARSIA_ERROR_DEVICE_COMMAND;
}

}  // namespace intarsia::simulators::ethos_u85
