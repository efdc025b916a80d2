// What a program shows of a step of its schedule: the results of operators, by the names that the model has for them.
#pragma once

#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/plan.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::emission {

struct ShownTensor {
  std::string name;      // the operator's
  tir::BufferId buffer;  // of the schedule; it has a place in the plan
};

// Of a call of `func` with these buffers of the schedule, in the order of its outputs. `is_stream`: a device executes it, and
// its operators are those of the graph's function of the same name.
std::vector<ShownTensor> shown_tensors(const graph::Module& graph, const Plan& plan,
                                       const tir::Func& func,
                                       const std::vector<tir::BufferId>& arguments, bool is_stream);

}  // namespace intarsia::emission
