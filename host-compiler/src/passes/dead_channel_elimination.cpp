#include "passes/dead_channel_elimination.h"

#include <algorithm>

#include "passes/graph_edit.h"
#include "passes/simplify.h"

namespace intarsia {

using graph::Function;
using graph::Module;
using graph::Node;
using graph::OpKind;

EliminationFigures elimination_figures(const Module& module) {
  EliminationFigures figures;
  for (const Function& function : module.functions)
    for (const Node& node : function.nodes) {
      figures.operators += node.kind != OpKind::Call;
      figures.macs += graph::mac_count(function, node);
      if (node.kind != OpKind::Conv2d && node.kind != OpKind::DepthwiseConv2d &&
          node.kind != OpKind::FullyConnected)
        continue;
      figures.channels += function.tensor(node.outputs[0]).shape.back();
      figures.weight_bytes += function.tensor(node.inputs[1]).bytes();
    }
  return figures;
}

ReducedModule not_reduced(const Module& module) {
  const EliminationFigures figures = elimination_figures(module);
  return {module, {}, figures, figures};
}

Result<ReducedModule> eliminate_dead_channels(const Module& module,
                                              const EliminationOptions& options) {
  ReducedModule result = not_reduced(module);
  for (size_t index = 0; index < result.module.functions.size(); ++index) {
    if (passes::has_programs(result.module.functions[index].nodes)) continue;
    const passes::EliminationJob job{result.module, index, options, result.actions};
    // What one step leaves is another's opportunity: a padding folded in makes borders zero.
    bool changed = true;
    while (changed) {
      changed = passes::simplify(job);
      changed |= passes::fold_gathers(job);
      changed |= passes::fold_masks(job);
      changed |= passes::move_floats(job);
      changed |= passes::quantise_first(job);
      changed |= passes::fold_dilation(job);
      changed |= passes::fold_repeats(job);
      changed |= passes::move_padding(job);
      changed |= passes::fold_padding(job);
      changed |= passes::remove_channels(job);
    }
  }
  if (result.actions.empty()) return result;
  passes::drop_unused(result.module);
  INTARSIA_TRY_VOID(graph::verify(result.module));
  result.after = elimination_figures(result.module);
  return result;
}

}  // namespace intarsia
