// The report of a compiled model, whether one CPU runs it or several.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intarsia/report.h"
#include "requests/select.h"

namespace intarsia::requests {

// Working memory of a part: stages without state use one block in turn.
struct PartBlock {
  std::string cpu, memory;
  int64_t bytes = 0;
  size_t stages = 0;  // that use it
};

// One report of a single program, or one of every segment.
struct ProgramReport {
  std::string model;
  std::vector<TensorInfo> inputs, outputs;
  size_t eliminated_steps = 0;
  size_t cpus = 1;                // whose parts run at the same time
  int64_t mailbox_bytes = 0;      // of RAM, between the parts
  std::vector<PartBlock> blocks;  // of several CPUs' parts
  std::string text, json;
  std::vector<Report> parts;  // one, or one of every segment
  std::vector<DeviceCycles> device_cycles;
  std::vector<OperatorRow> operators;
  std::optional<Measurements> measured;
  std::optional<RunCycles> counted;
  std::string not_measured;  // why `measured` is absent
};
// Of the whole program: the blocks of all memories, and the mailbox.
int64_t ram_bytes(const ProgramReport& report);

// `measured` and `counted` are of the program when it is a single one for a board.
ProgramReport report_of(const Selection& selection, const CompiledModel& model,
                        const Result<Measurements>& measured,
                        std::optional<RunCycles> counted = {});

}  // namespace intarsia::requests
