// Emit: TIR and plan become C sources and command streams, as values. What is emitted depends on
// nothing but the arguments: the same model gives the same bytes in every folder and on every day.
#pragma once

#include "intarsia/artifacts.h"
#include "intarsia/graph.h"
#include "intarsia/plan.h"
#include "intarsia/target_kind.h"
#include "intarsia/tir.h"

namespace intarsia {

// A model input or output, as the C interface and `run` describe it.
struct TensorInfo {
  std::string name;
  DataType type = DataType::Int8;
  Shape shape;
  graph::Quantization quantization;
  int64_t bytes = 0;
};

std::vector<TensorInfo> tensor_infos(const graph::Function& function,
                                     const std::vector<graph::TensorId>& ids);

struct EmittedModel {
  std::string name;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<SourceFile>
      sources;  // <model>.h, <model>.c, <model>_data.c, <model>_descriptor.c ...
  std::vector<std::string> c_files;    // those of them a build compiles
  std::vector<CommandStream> streams;  // what the package holds, in order of function index
  std::vector<std::string> members;    // members with streams, in order of device index
};

Result<EmittedModel> emit(const tir::Module& module, const Plan& plan, const graph::Module& graph,
                          const TargetRegistry& registry, const TargetSpec& target);

}  // namespace intarsia
