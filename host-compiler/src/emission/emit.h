// Emit: TIR and plan become C sources and command streams, as values. What is emitted depends on
// nothing but the arguments: the same model gives the same bytes in every folder and on every day.
#pragma once

#include "emission/tensor_infos.h"
#include "intarsia/compiled_model.h"
#include "intarsia/graph.h"
#include "intarsia/plan.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/target_kind.h"
#include "intarsia/plugin/tir.h"

namespace intarsia {

Result<EmittedModel> emit(const tir::Module& module, const Plan& plan, const graph::Module& graph,
                          const TargetRegistry& registry, const TargetSpec& target);

}  // namespace intarsia
