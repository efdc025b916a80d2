#include <algorithm>

#include <fmt/format.h>

#include "intarsia/plugin/standard_lowering.h"
#include "intarsia/plugin/tir_walk.h"
#include "kernel_text.h"
#include "opencl_kind.h"

namespace intarsia::targets::opencl {
namespace {

using Reason = std::optional<std::string>;

// What of a lowered operator has no form in OpenCL C.
Reason refuses_function(const tir::Func& func) {
  for (const tir::Buffer& buffer : func.buffers) {
    if (buffer.type == DataType::Float32)
      return std::string(
          "it computes with floats; those of OpenCL may round differently from the host's");
    if (bits(buffer.type) < 8) return std::string("it reads packed i4 elements");
  }
  Reason reason;
  tir::walk(
      func.body,
      [&](const tir::StmtNode& stmt) {
        if (const auto* intrinsic = std::get_if<tir::Intrinsic>(&stmt.node))
          reason = fmt::format("it is computed by {}, a helper of the C runtime on whole rows",
                               intrinsic->name);
      },
      [&](const tir::ExprNode& expr) {
        const auto* call = std::get_if<tir::ExprCall>(&expr.node);
        if (call != nullptr && !has_helper(call->function))
          reason = fmt::format("it is computed with {}, a helper of the C runtime", call->function);
      });
  return reason;
}

// Lowers the operator alone and looks at what comes of it.
Reason refuses_operator(const PatternMatch& match) {
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
      if (Reason reason = refuses_function(func)) return reason;
  return std::nullopt;
}

}  // namespace

std::vector<Pattern> refuse_without_opencl_c(std::vector<Pattern> patterns) {
  for (Pattern& pattern : patterns) {
    pattern.refuses = [standard = std::move(pattern.refuses)](const PatternMatch& match) {
      const Reason reason = standard(match);
      return reason ? reason : refuses_operator(match);
    };
  }
  return patterns;
}

}  // namespace intarsia::targets::opencl
