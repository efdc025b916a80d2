// The compiled model, executed in this process, against the reference evaluator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "intarsia/engine.h"
#include "requests/compile_model.h"
#include "requests/verify_operators.h"

namespace intarsia::requests {

struct ProcessCheck {
  std::vector<OperatorCheck::Row> rows;  // with layers: of every operator, in order
  int32_t allowed = 0, largest = 0;      // steps that devices may differ by, and do
  // Of the first operator that differs by more than is allowed, or of the outputs. Empty: the program is right.
  std::string difference;
};

// The program is run twice: as it is, for the model's outputs, and, for `layers` or where devices round in their own way,
// with every intermediate tensor as an output, which tells for each operator whether it computes what the reference does.
Result<ProcessCheck> verify_in_process(const Environment& environment,
                                       const EngineRegistry& engines, const Selection& selection,
                                       const graph::Module& module,
                                       const std::vector<Values>& samples, bool layers);

}  // namespace intarsia::requests
