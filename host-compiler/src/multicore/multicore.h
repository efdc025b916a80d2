// A model for several CPUs. Each CPU of the target that runs some of it gets a part of its own, firmware that is built and
// flashed by itself; what passes between them goes through a mailbox in memory that they share.
//
//   regions   c_0(cpu a)  npu_0(cpu a's)  c_1(cpu b)  c_2(cpu a)      a segment: regions in a row of one CPU
//   segments  [       segment 0        ]  [segment 1] [segment 2]     each is a program that is compiled by itself
//   parts     a: segments 0 and 2         b: segment 1                each with a step function
//
// While b works on an inference, a may already work on the next one: every channel holds two messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "intarsia/compiled_model.h"
#include "intarsia/graph.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/target_kind.h"
#include "intarsia/result.h"

namespace intarsia {

// The segments of a partitioned module; none where all regions are of one CPU. Devices belong to theirs (owners.h).
// Refuses CPUs whose names are one in C.
Result<MulticorePartition> split_by_cpu(const graph::Module& partitioned,
                                        const TargetRegistry& registry, const TargetSpec& target);

// Devices that execute streams, part by part: the descriptor asks the board for them by their index here.
std::vector<std::string> devices_of(const CompiledModel& model);

// Whether the blocks of all parts fit into the memories together. The stages are planned by now.
Result<void> check_parts_fit(const CompiledModel& model);

// Bytes of shared memory that the channels take, counters included.
int64_t mailbox_bytes(const MulticorePartition& multicore);

// The C around the stages. Every part has the same <model>_mailbox.{h,c}; <model>_<cpu>.{h,c} are its own;
// <model>_descriptor.c puts all parts into one program, behind the boards' generic main.
std::vector<SourceFile> mailbox_sources(const CompiledModel& model);
std::vector<SourceFile> part_sources(const CompiledModel& model, const std::string& cpu);
SourceFile multicore_descriptor(const CompiledModel& model);

}  // namespace intarsia
