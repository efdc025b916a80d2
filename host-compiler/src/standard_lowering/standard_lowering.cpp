#include "intarsia/standard_lowering.h"

#include <fmt/format.h>

#include "intarsia/check.h"
#include "standard_lowering/families.h"
#include "standard_lowering/schedule.h"

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
      return Family{refuses_binary, lower_add};
    case OpKind::Mul:
      return Family{refuses_binary, lower_mul};
    case OpKind::Reshape:
      return Family{refuses_reshape, lower_copy};
    case OpKind::Softmax:
      return Family{refuses_softmax, lower_softmax};
    case OpKind::Pad:
      return Family{refuses_pad, lower_pad};
    case OpKind::Mean:
      return Family{refuses_mean, lower_mean};
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
  const auto unfit = [](const graph::Tensor& tensor) -> Refusal {
    if (tensor.variable) return "an operand is a variable that lives between invocations";
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

std::optional<std::string> standard_lowering_refuses(const graph::Module& module,
                                                     const graph::Function& function,
                                                     const graph::Node& node) {
  const std::optional<Family> known = family(node.kind);
  if (!known) {
    return fmt::format("{} is not supported by the portable lowering", to_string(node.kind));
  }
  const OpView view{module, function, node};
  if (Refusal refusal = refuses_operands(view)) return refusal;
  return known->refuses(view);
}

Result<tir::LoweredFunction> standard_graph_to_tir(const graph::Module& module,
                                                   const graph::Function& function) {
  Diagnostics problems;
  for (const graph::Node& node : function.nodes) {
    if (const auto reason = standard_lowering_refuses(module, function, node)) {
      problems.add(fmt::format("operator '{}' ({})", node.name, to_string(node.kind)), *reason);
    }
  }
  if (!problems.empty()) return problems;

  tir::LoweredFunction result;
  result.module.name = module.name;
  Schedule schedule(module, function, result.module);
  for (const graph::Node& node : function.nodes) {
    if (schedule.needs_no_code(node)) continue;
    schedule.add_leaf(node, family(node.kind)->lower);
  }
  result.entry = schedule.finish();
  return result;
}

}  // namespace intarsia
