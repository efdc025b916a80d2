// Emit: TIR and plan become C sources and command streams, as values. What is emitted depends on
// nothing but the arguments: the same model gives the same bytes in every folder and on every day.
#pragma once

#include <map>
#include <string>

#include "emission/tensor_infos.h"
#include "intarsia/compiled_model.h"
#include "intarsia/graph.h"
#include "intarsia/plan.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/target_kind.h"
#include "intarsia/plugin/tir.h"

namespace intarsia {

// What the sources say of where they come from, and where their objects go.
struct EmitOptions {
  std::string compiler;      // "Intarsia 1.2.0"
  std::string model_sha256;  // of the model's file, in hexadecimal; empty: not from a file
  std::string board;         // empty: none
  std::map<std::string, std::string> sections;  // as in CompileOptions
  WeightsFile weights_file = WeightsFile::Auto;
};

Result<EmittedModel> emit(const tir::Module& module, const Plan& plan, const graph::Module& graph,
                          const TargetRegistry& registry, const TargetSpec& target,
                          const EmitOptions& options);

// Refuses what is no section's name, and objects that are not among those (EmittedModel::placeable).
Result<void> check_sections(const std::map<std::string, std::string>& sections,
                            const std::vector<std::string>& objects);

}  // namespace intarsia
