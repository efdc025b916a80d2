#include "kernel_costs.h"

#include <variant>

#include "intarsia/plugin/standard_lowering.h"

namespace intarsia::targets::cortex_m {
namespace {

enum class Family {
  Convolution,
  Depthwise,
  Row,  // a fully connected layer of one row
  Window,
  Sum,
  Product,
  Reduction,
  Softmax,
  WideConvolution,
  WideDepthwise,
  Recurrent,
};

struct Cost {
  CoreClass core;
  Family family;
  double per_step, per_result;
};

constexpr Cost kCosts[] = {
#define COST(core, family, per_step, per_result) \
  {CoreClass::core, Family::family, per_step, per_result},
#include "intarsia/targets/cortex_m/kernel_costs.def"
#undef COST
};

std::optional<Family> family_of(const OpView& view) {
  using enum graph::OpKind;
  const bool wide = view.in(0).type == DataType::Int16;
  switch (view.node.kind) {
    case Conv2d:
      return wide ? Family::WideConvolution : Family::Convolution;
    case FullyConnected:
      if (wide) return Family::WideConvolution;
      return element_count(view.out().shape) == view.out().shape.back() ? Family::Row
                                                                        : Family::Convolution;
    case DepthwiseConv2d:
      if (wide) return Family::WideDepthwise;
      return view.in(0).shape[3] == 1 ? Family::Convolution : Family::Depthwise;
    case AveragePool2d:
    case MaxPool2d:
      return Family::Window;
    case Add:
    case Sub:
      return Family::Sum;
    case Mul:
      return Family::Product;
    case Mean:
    case Sum:
      return Family::Reduction;
    case Softmax:
      return Family::Softmax;
    case Svdf:
    case Lstm:
      return Family::Recurrent;
    default:
      return std::nullopt;
  }
}

double steps_of(const OpView& view, const graph::Function& function, Family family) {
  if (family == Family::Reduction) return static_cast<double>(element_count(view.in(0).shape));
  if (const auto* pool = std::get_if<graph::Pool2dAttrs>(&view.node.attributes))
    return static_cast<double>(element_count(view.out().shape) * pool->filter_h * pool->filter_w);
  return static_cast<double>(graph::mac_count(function, view.node));
}

// Sums are not tried out: finding their numbers takes a millisecond each, and fails for few scales.
bool has_kernel(CoreClass core, const OpView& view, Family family) {
  if (family == Family::Sum) return is_sum_of_activations(view);
  return choose_kernel(core, view, /*small=*/false) != nullptr;
}

}  // namespace

std::optional<double> kernel_cycles(CoreClass core, const graph::Module& module,
                                    const graph::Function& function, const graph::Node& node) {
  if (standard_lowering_refuses(module, function, node)) return std::nullopt;
  const OpView view{module, function, node};
  const std::optional<Family> family = family_of(view);
  if (!family || !has_kernel(core, view, *family)) return std::nullopt;
  for (const Cost& cost : kCosts)
    if (cost.core == core && cost.family == *family)
      return cost.per_step * steps_of(view, function, *family) +
             cost.per_result * static_cast<double>(element_count(view.out().shape));
  return std::nullopt;
}

}  // namespace intarsia::targets::cortex_m
