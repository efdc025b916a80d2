// Which operators of a file run where, and in which order: runs of operators of one side, as few as the data allow.
#pragma once

#include <set>
#include <vector>

#include "tflite_writer/original.h"

namespace intarsia::tflite_writer {

struct Run {
  bool on_npu = false;
  std::vector<int32_t> operators;  // in the order of the file
};

// Operators whose order among each other means something beside their operands: they keep or share state.
bool keeps_state(const Original& model, const tflite::OperatorInfo& op);

// All operators but the handles: each behind those that it needs, a side as long as it has one that may run. `handles` name what
// only the NPU works on.
std::vector<Run> runs_of(const Original& model, const std::set<int32_t>& on_cpu,
                         const std::set<int32_t>& handles = {});

}  // namespace intarsia::tflite_writer
