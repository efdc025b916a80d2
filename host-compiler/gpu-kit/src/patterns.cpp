#include <algorithm>

#include <fmt/format.h>

#include "intarsia/gpu/kernel_text.h"
#include "intarsia/gpu/lower.h"
#include "intarsia/plugin/standard_lowering.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::gpu {
namespace {

using Reason = std::optional<std::string>;

// What of a lowered operator has no form in the dialect.
Reason refuses_function(const Dialect& dialect, const tir::Func& func) {
  for (const tir::Buffer& buffer : func.buffers) {
    if (buffer.type == DataType::Float32 && !dialect.refuses_floats.empty())
      return std::string(dialect.refuses_floats);
    if (bits(buffer.type) < 8) return std::string("it reads packed i4 elements");
  }
  const auto arguments =
      std::count_if(func.buffers.begin(), func.buffers.end(),
                    [](const tir::Buffer& buffer) { return buffer.scope != tir::Scope::Register; });
  if (static_cast<size_t>(arguments) > dialect.most_arguments)
    return fmt::format("it has {} buffers, a kernel takes {}", arguments, dialect.most_arguments);
  Reason reason;
  tir::walk(
      func.body,
      [&](const tir::StmtNode& stmt) {
        if (const auto* intrinsic = std::get_if<tir::Intrinsic>(&stmt.node))
          reason = fmt::format("it is computed by {}, a helper of the C runtime on whole rows",
                               intrinsic->name);
      },
      [&](const tir::ExprNode& expr) {
        if (expr.type == DataType::Float32 && !dialect.refuses_floats.empty())
          reason = std::string(dialect.refuses_floats);
        const auto* call = std::get_if<tir::ExprCall>(&expr.node);
        if (!reason && call != nullptr && !has_helper(call->function))
          reason = fmt::format("it is computed with {}, a helper of the C runtime", call->function);
      });
  return reason;
}

// Lowers the operator alone and looks at what comes of it.
Reason refuses_operator(const Dialect& dialect, const PatternMatch& match) {
  const graph::Node& node = match.node();
  for (const graph::TensorId id : node.inputs)
    if (id.valid() && match.function.tensor(id).variable)
      return std::string("it keeps state between runs, which the host does");
  graph::Function alone{.name = match.function.name,
                        .target = {},
                        .pin = {},
                        .tensors = match.function.tensors,
                        .nodes = {node},
                        .inputs = {},
                        .outputs = node.outputs};
  for (const graph::TensorId id : node.inputs)
    if (id.valid() && !alone.tensor(id).constant.valid() &&
        std::find(alone.inputs.begin(), alone.inputs.end(), id) == alone.inputs.end())
      alone.inputs.push_back(id);
  if (alone.inputs.empty()) return std::string("it has no input but constants");
  const Result<tir::LoweredFunction> lowered = standard_graph_to_tir(match.module, alone);
  if (!lowered.ok()) return lowered.error().items().front().to_string();
  for (const tir::Func& func : lowered->module.funcs)
    if (func.name != lowered->entry)
      if (Reason reason = refuses_function(dialect, func)) return reason;
  return std::nullopt;
}

}  // namespace

std::vector<Pattern> patterns_of(const Dialect& dialect) {
  std::vector<Pattern> patterns = portable_patterns();
  for (Pattern& pattern : patterns) {
    pattern.refuses = [&dialect, standard = std::move(pattern.refuses)](const PatternMatch& match) {
      const Reason reason = standard(match);
      return reason ? reason : refuses_operator(dialect, match);
    };
  }
  return patterns;
}

}  // namespace intarsia::gpu
