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
  const EmitOptions& options;
  std::string target;  // as text
  std::vector<Step> steps;
  std::vector<int> pools;  // pools of the plan that the model uses, in order

  const std::string& name() const { return model.name; }
};

// Kernels are compiled with the model, and the constants that only they read are in their object file.
bool is_in_object_file(const ModelContext& context, ConstantId constant);
bool has_state(const ModelContext& context);  // some buffer keeps its value between runs

std::string header_text(const ModelContext& context);  // <model>.h
std::string source_text(const ModelContext& context, const std::vector<std::string>& includes,
                        const std::vector<std::string>& functions);  // <model>.c
// <model>_data.h: weights and tables, which only <model>.c includes; written when the file is. Where they are a binary
// file, <model>_data.h only declares them, and beside it are <model>_weights.bin and <model>_weights.S.
struct DataFiles {
  std::vector<SourceFile> files;
  std::vector<SourceFile>
      arrays;  // <model>_data.h as it is without a binary file, where there is one
};
Result<DataFiles> data_files(const ModelContext& context);
// What EmitOptions::sections may name: weights, streams, memories, constants.
std::vector<std::string> placeable_objects(const ModelContext& context);
// The attribute that places an object: of --section for its name or its kind, else `otherwise`.
std::string section_attribute(const ModelContext& context, const std::string& name,
                              const std::string& kind, const std::string& otherwise);
// The section's name alone; empty: none is asked for.
std::string asked_section(const ModelContext& context, const std::string& name,
                          const std::string& kind);

}  // namespace intarsia::emission
