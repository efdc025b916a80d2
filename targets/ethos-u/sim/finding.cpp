#include "intarsia/targets/ethos_u/finding.h"

#include <cstdio>
#include <utility>

namespace intarsia::simulators::ethos_u {

std::string_view to_string(FindingKind kind) {
  switch (kind) {
    case FindingKind::Stopped:
      return "stopped";
    case FindingKind::OutsideRegion:
      return "outside-region";
    case FindingKind::ReadOnlyWrite:
      return "read-only-write";
    case FindingKind::UninitialisedRead:
      return "uninitialised-read";
    case FindingKind::UnwrittenOutput:
      return "unwritten-output";
    case FindingKind::OutputOverInput:
      return "output-over-input";
    case FindingKind::OutputOverOutput:
      return "output-over-output";
    case FindingKind::MissingDmaWait:
      return "missing-dma-wait";
    case FindingKind::MissingKernelWait:
      return "missing-kernel-wait";
    case FindingKind::BlockDependency:
      return "block-dependency";
    case FindingKind::BlockConfiguration:
      return "block-configuration";
    case FindingKind::ShramLayout:
      return "shram-layout";
    case FindingKind::Alignment:
      return "alignment";
    case FindingKind::LookUpTable:
      return "look-up-table";
    case FindingKind::KernelSize:
      return "kernel-size";
    case FindingKind::Padding:
      return "padding";
    case FindingKind::OperandTypes:
      return "operand-types";
    case FindingKind::WaitValue:
      return "wait-value";
    case FindingKind::Registers:
      return "registers";
    case FindingKind::WeightStream:
      return "weight-stream";
    case FindingKind::StreamEnd:
      return "stream-end";
  }
  return "unknown";
}

std::string Finding::to_string() const {
  char place[16];
  std::snprintf(place, sizeof place, "0x%x", offset);
  std::string text = place;
  if (!command.empty()) (text += ' ') += command;
  if (!node.empty()) ((text += " (") += node) += ')';
  ((text += ": ") += simulators::ethos_u::to_string(kind)) += ": ";
  return text += what;
}

void FindingList::add(Finding finding) {
  if (has(finding.offset, finding.kind)) return;
  if (findings_.size() < kMost)
    findings_.push_back(std::move(finding));
  else
    ++left_out_;
}

bool FindingList::has(uint32_t offset, FindingKind kind) const {
  // Findings come in the order of the stream; those of one command are neighbours.
  for (size_t i = findings_.size(); i-- > 0 && findings_[i].offset == offset;)
    if (findings_[i].kind == kind) return true;
  return false;
}

}  // namespace intarsia::simulators::ethos_u
