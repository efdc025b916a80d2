#include "intarsia/targets/ethos_u/checker.h"

#include <utility>

#include "intarsia/targets/ethos_u/checker_limits.h"
#include "intarsia/targets/ethos_u/command_text.h"
#include "intarsia/targets/ethos_u/region_aliases.h"

namespace intarsia::simulators::ethos_u {

Checker::Checker(const Configuration& configuration, std::span<const uint8_t> stream,
                 CheckerOptions options)
    : configuration_(configuration),
      stream_(stream),
      options_(std::move(options)),
      shadow_(configuration),
      hazards_(configuration) {}

Report Checker::reporter() {
  return [this](FindingKind kind, std::string what) {
    findings_.add({kind, last_.offset, command_text(last_),
                   options_.node_of ? options_.node_of(last_.offset) : std::string(),
                   std::move(what)});
  };
}

void Checker::before(const Operation& op, const Memory& memory) {
  const Report report = reporter();
  check_registers(op, configuration_, report);
  check_limits(op, report);
  shadow_.check_inputs(op, memory, report);
  if (findings_.has(op.offset, FindingKind::OutsideRegion)) return;
  const Operation unified = RegionAliases(memory).unified(op);
  check_overwriting(unified, report);
  hazards_.start(unified, report);
}

void Checker::after(const Operation& op, const Memory&) {
  shadow_.apply_outputs(op);
}

void Checker::before(const DmaTransfer& dma, const Memory& memory) {
  const Report report = reporter();
  check_registers(dma, configuration_, report);
  shadow_.check_inputs(dma, memory, report);
  hazards_.start(RegionAliases(memory).unified(dma), report);
}

void Checker::after(const DmaTransfer& dma, const Memory&) {
  shadow_.apply_outputs(dma);
}

void Checker::wait(const Wait& wait) {
  check_limits(wait, configuration_, reporter());
  hazards_.wait(wait);
}

void Checker::stop(const DecodedCommand& command) {
  const uint64_t end = uint64_t{command.offset} + 4 * command.words;
  if (end < stream_.size())
    reporter()(FindingKind::StreamEnd,
               std::to_string(stream_.size() - end) + " bytes of the stream lie behind OP_STOP");
  for (const auto& [region, range] : outputs_) shadow_.check_output(region, range, reporter());
}

void Checker::finish(const Outcome& outcome) {
  if (!outcome.fault) return;
  const Fault& fault = *outcome.fault;
  // Said already, and better.
  if (fault.cause == Cause::Bus && (findings_.has(fault.offset, FindingKind::OutsideRegion) ||
                                    findings_.has(fault.offset, FindingKind::ReadOnlyWrite)))
    return;
  if (fault.cause == Cause::Operand && findings_.has(fault.offset, FindingKind::WeightStream))
    return;
  const bool is_last = fault.offset == last_.offset && !fault.command.empty();
  findings_.add(
      {fault.cause == Cause::WeightDecoder ? FindingKind::WeightStream : FindingKind::Stopped,
       fault.offset, is_last ? command_text(last_) : fault.command,
       options_.node_of ? options_.node_of(fault.offset) : std::string(), fault.what});
}

}  // namespace intarsia::simulators::ethos_u
