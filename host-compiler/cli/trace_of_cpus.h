// Operators of CPUs in the trace of a run. Simulated devices have clocks, and say what they did when; CPUs run as programs of
// this machine or in an emulator, which have none, so that their operators are as long as the compiler estimates.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "intarsia/partition.h"

namespace intarsia::cli {

// What runs one after another in an inference: an operator of a CPU, or a stream of a device.
struct TimelineStep {
  std::string name, device;
  double cycles = 0, clock_mhz = 0;  // estimated
  std::set<std::string> operators;   // of a stream; none: an operator of a CPU
};

// Of a model that was partitioned with PartitionOptions::cycles; of a folder of `compile`, by its report.json: nothing where
// that has no estimates.
std::vector<TimelineStep> timeline_steps(const Partitioned& partitioned);
std::vector<TimelineStep> timeline_steps_of_package(const std::string& folder);

// The trace with a row for each CPU, and the streams of a device as much later as the CPUs take in between. The trace as it
// is where its events are not those of the steps, one after another.
std::string with_cpu_operators(const std::string& trace, const std::vector<TimelineStep>& steps);

}  // namespace intarsia::cli
