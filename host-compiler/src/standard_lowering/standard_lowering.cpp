#include "intarsia/standard_lowering.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "intarsia/check.h"
#include "standard_lowering/families.h"
#include "standard_lowering/function_schedule.h"
#include "standard_lowering/leaves.h"
#include "standard_lowering/stripe_planning.h"

namespace intarsia {

namespace {

using namespace standard_lowering;

struct Family {
  Refusal (*refuses)(const OpView&);
  Stmt (*lower)(OpLowering&);
};

// Any type of whole bytes can be moved.
Refusal refuses_reshape(const OpView& view) {
  if (bits(view.out().type) < 8) return refuses_types(view, {});
  return std::nullopt;
}

// None for operators that the portable lowering does not know.
std::optional<Family> family(graph::OpKind kind) {
  using graph::OpKind;
  switch (kind) {
    case OpKind::Conv2d:
      return Family{refuses_conv2d, lower_conv2d};
    case OpKind::DepthwiseConv2d:
      return Family{refuses_depthwise_conv2d, lower_depthwise_conv2d};
    case OpKind::FullyConnected:
      return Family{refuses_fully_connected, lower_fully_connected};
    case OpKind::AveragePool2d:
      return Family{refuses_pool, lower_average_pool2d};
    case OpKind::MaxPool2d:
      return Family{refuses_pool, lower_max_pool2d};
    case OpKind::Add:
    case OpKind::Sub:
      return Family{refuses_binary, lower_sum};
    case OpKind::Div:
      return Family{refuses_binary, lower_div};
    case OpKind::Mul:
      return Family{refuses_binary, lower_mul};
    case OpKind::Reshape:
    case OpKind::ReadVariable:
    case OpKind::AssignVariable:
      return Family{refuses_reshape, lower_copy};
    case OpKind::Softmax:
      return Family{refuses_softmax, lower_softmax};
    case OpKind::Pad:
      return Family{refuses_pad, lower_pad};
    case OpKind::Mean:
    case OpKind::Sum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceProd:
    case OpKind::ReduceAny:
    case OpKind::ReduceAll:
      return Family{refuses_reduce, lower_reduce};
    case OpKind::TransposeConv2d:
      return Family{refuses_transpose_conv2d, lower_transpose_conv2d};
    case OpKind::Minimum:
    case OpKind::Maximum:
      return Family{refuses_minimum_maximum, lower_minimum_maximum};
    case OpKind::SquaredDifference:
      return Family{refuses_squared_difference, lower_squared_difference};
    case OpKind::Equal:
    case OpKind::NotEqual:
    case OpKind::Greater:
    case OpKind::GreaterEqual:
    case OpKind::Less:
    case OpKind::LessEqual:
      return Family{refuses_comparison, lower_comparison};
    case OpKind::LogicalAnd:
    case OpKind::LogicalOr:
      return Family{refuses_logical, lower_logical};
    case OpKind::Select:
      return Family{refuses_select, lower_select};
    case OpKind::Prelu:
      return Family{refuses_prelu, lower_prelu};
    case OpKind::LeakyRelu:
    case OpKind::Logistic:
    case OpKind::Tanh:
    case OpKind::HardSwish:
    case OpKind::Elu:
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Abs:
    case OpKind::Neg:
    case OpKind::Square:
    case OpKind::Sqrt:
    case OpKind::Rsqrt:
    case OpKind::Ceil:
    case OpKind::Floor:
    case OpKind::Round:
    case OpKind::LogicalNot:
    case OpKind::Sin:
    case OpKind::Cos:
      return Family{refuses_unary, lower_unary};
    case OpKind::Cast:
      return Family{refuses_cast, lower_cast};
    case OpKind::PadV2:
      return Family{refuses_pad_v2, lower_pad_v2};
    case OpKind::MirrorPad:
      return Family{refuses_move, lower_mirror_pad};
    case OpKind::Concat:
    case OpKind::Pack:
      return Family{refuses_move, lower_concat};
    case OpKind::Split:
    case OpKind::Unpack:
      return Family{refuses_move, lower_split};
    case OpKind::Slice:
      return Family{refuses_move, lower_slice};
    case OpKind::Transpose:
      return Family{refuses_move, lower_transpose};
    case OpKind::SpaceToDepth:
    case OpKind::DepthToSpace:
      return Family{refuses_move, lower_space_depth};
    case OpKind::SpaceToBatch:
    case OpKind::BatchToSpace:
      return Family{refuses_move, lower_batch_space};
    case OpKind::Gather:
      return Family{refuses_gather, lower_gather};
    case OpKind::ResizeNearest:
      return Family{refuses_resize, lower_resize_nearest};
    case OpKind::ResizeBilinear:
      return Family{refuses_resize, lower_resize_bilinear};
    case OpKind::BatchMatmul:
      return Family{refuses_batch_matmul, lower_batch_matmul};
    case OpKind::ArgMax:
    case OpKind::ArgMin:
      return Family{refuses_arg, lower_arg};
    case OpKind::LogSoftmax:
      return Family{refuses_log_softmax, lower_log_softmax};
    case OpKind::L2Normalization:
      return Family{refuses_l2_normalization, lower_l2_normalization};
    case OpKind::Svdf:
      return Family{refuses_svdf, lower_svdf};
    case OpKind::Lstm:
      return Family{refuses_lstm, lower_lstm};
    case OpKind::L2Pool2d:
      return Family{refuses_l2_pool, lower_l2_pool2d};
    case OpKind::AddN:
      return Family{refuses_add_n, lower_add_n};
    case OpKind::Cumsum:
      return Family{refuses_cumsum, lower_cumsum};
    case OpKind::Pow:
    case OpKind::FloorDiv:
    case OpKind::FloorMod:
      return Family{refuses_float_pair, lower_float_pair};
    case OpKind::BroadcastTo:
      return Family{refuses_move, lower_broadcast_to};
    case OpKind::Tile:
      return Family{refuses_move, lower_tile};
    case OpKind::GatherNd:
      return Family{refuses_gather, lower_gather_nd};
    case OpKind::DynamicUpdateSlice:
      return Family{refuses_dynamic_update_slice, lower_dynamic_update_slice};
    case OpKind::Quantize:
      return Family{refuses_quantize, lower_quantize};
    case OpKind::Dequantize:
      return Family{refuses_dequantize, lower_dequantize};
    case OpKind::Relu:
      return Family{refuses_relu, lower_relu};
    default:
      return std::nullopt;
  }
}

Refusal refuses_operands(const OpView& view) {
  using graph::OpKind;
  const bool keeps_state = view.node.kind == OpKind::Svdf || view.node.kind == OpKind::Lstm ||
                           view.node.kind == OpKind::ReadVariable ||
                           view.node.kind == OpKind::AssignVariable;
  const auto unfit = [&](const graph::Tensor& tensor) -> Refusal {
    if (tensor.variable && !keeps_state)
      return "an operand is a variable that lives between invocations";
    if (byte_size(tensor.type, tensor.shape) > INT32_MAX) return "an operand exceeds 2 GB";
    return std::nullopt;
  };
  for (size_t i = 0; i < view.node.inputs.size(); ++i) {
    if (!view.has(i)) continue;
    if (Refusal refusal = unfit(view.in(i))) return refusal;
  }
  return unfit(view.out());
}

}  // namespace

namespace {

// The first operator inside of a branch or a loop, at any depth, that is not taken, and why. A function
// that many operators run is looked at once.
std::optional<std::string> refuses_inside(const graph::Module& module, const graph::Node& node) {
  std::vector<std::string> waiting = graph::functions_run_by(node);
  std::set<std::string> seen(waiting.begin(), waiting.end());
  for (size_t next = 0; next < waiting.size(); ++next) {
    const std::string name = waiting[next];
    const graph::Function* callee = module.find(name);
    INTARSIA_CHECK(callee != nullptr, "the callee of a verified module exists");
    for (const graph::Node& inner : callee->nodes) {
      const std::vector<std::string> run = graph::functions_run_by(inner);
      for (const std::string& function : run)
        if (seen.insert(function).second) waiting.push_back(function);
      if (!run.empty() && inner.kind != graph::OpKind::Call) continue;
      if (const auto reason = standard_lowering_refuses(module, *callee, inner))
        return fmt::format("'{}' ({}) in '{}': {}", inner.name, to_string(inner.kind), name,
                           *reason);
    }
  }
  return std::nullopt;
}

bool has_control_flow(const graph::Function& function) {
  return std::any_of(function.nodes.begin(), function.nodes.end(), [](const graph::Node& node) {
    return node.kind == graph::OpKind::If || node.kind == graph::OpKind::While;
  });
}

}  // namespace

std::optional<std::string> standard_lowering_refuses(const graph::Module& module,
                                                     const graph::Function& function,
                                                     const graph::Node& node) {
  const std::optional<Family> known = family(node.kind);
  if (node.kind == graph::OpKind::Compiled)
    return fmt::format("was compiled for {}, and only that can run it",
                       node.attrs<graph::CompiledAttrs>().device);
  if (node.kind == graph::OpKind::If || node.kind == graph::OpKind::While)
    return refuses_inside(module, node);
  if (!known) {
    return fmt::format("{} is not supported by the portable lowering", to_string(node.kind));
  }
  const OpView view{module, function, node};
  if (Refusal refusal = refuses_operands(view)) return refusal;
  return known->refuses(view);
}

Result<tir::LoweredFunction> standard_graph_to_tir(const graph::Module& module,
                                                   const graph::Function& function,
                                                   const LoweringOptions& options) {
  return standard_lowering::graph_to_tir(module, function, nullptr, options);
}

Result<tir::LoweredFunction> standard_lowering::graph_to_tir(const graph::Module& module,
                                                             const graph::Function& function,
                                                             const ChooseLeaf& choose,
                                                             const LoweringOptions& options) {
  Diagnostics problems;
  for (const graph::Node& node : function.nodes) {
    if (const auto reason = standard_lowering_refuses(module, function, node)) {
      problems.add(fmt::format("operator '{}' ({})", node.name, to_string(node.kind)), *reason);
    }
  }
  if (!problems.empty()) return problems;

  tir::LoweredFunction result;
  result.module.name = module.name;
  const ChooseLeaf leaf_of = [&](const OpView& view) -> LowerLeaf {
    const LowerLeaf own = choose ? choose(view) : nullptr;
    return own ? own : family(view.node.kind)->lower;
  };
  std::vector<striping::Option> stripes;
  if (options.ram_budget && !has_control_flow(function)) {
    stripes = plan_stripes(module, function, leaf_of, *options.ram_budget);
    std::erase_if(stripes, [](const striping::Option& part) { return part.step == 0; });
  }
  INTARSIA_TRY(result.entry, Schedule(module, function, result.module, leaf_of).run(stripes));
  return result;
}

}  // namespace intarsia
