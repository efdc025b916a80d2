// The fixed parts of an emitted model: interface, state, schedule, data. Operator functions come from
// the targets' hooks.
#pragma once

#include <string>
#include <vector>

#include "emission/emit.h"

namespace intarsia::emission {

// One line of the schedule as the emitted run function performs it.
struct Step {
  // A call; or the beginning of a branch on a flag, of its other branch, of a loop; or their end.
  enum class What : uint8_t { Call, If, Else, Loop, End };
  What what = What::Call;
  const tir::Func* func = nullptr;
  std::vector<tir::BufferId> arguments = {};  // of an If: the flag
  std::string variable = {};                  // of a Loop
  int64_t iterations = 0;                     // of a Loop
  // Of a Loop that does nothing more once a flag is false: the flag.
  tir::BufferId while_flag = {};
  int stream = -1;  // index of the function in the package; -1: a C function
  int device = -1;  // index into EmittedModel::devices
};

struct ModelContext {
  const tir::Module& module;
  const Plan& plan;
  const graph::Module& graph;
  const EmittedModel& model;
  std::vector<Step> steps;
  std::vector<int> pools;  // pools of the plan that the model uses, in order

  const std::string& name() const { return model.name; }
};

bool has_state(const ModelContext& context);  // some buffer keeps its value between runs

std::string header_text(const ModelContext& context);  // <model>.h
std::string source_text(const ModelContext& context, const std::vector<std::string>& includes,
                        const std::vector<std::string>& functions);  // <model>.c
std::string data_header_text(const ModelContext& context);           // <model>_data.h
// <model>_data.c, whose tables are written when the file is.
Result<SourceFile> data_source(const ModelContext& context);
std::string descriptor_text(const ModelContext& context);  // <model>_descriptor.c

}  // namespace intarsia::emission
