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
  Staged,      // a convolution by stages
  Staging,     // of an element of the windows that it lays together
  Real,        // a convolution in single precision
  RealWindow,  // of an element of its windows
  RealDepthwise,
  RealRow,  // a fully connected layer of one row in single precision
  Matrices,
  Columns,  // of an element of the second matrix, and of a row of the first
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

// Grouped, or dilated by columns: conv_kernel leaves them.
bool is_staged(const OpView& view) {
  const Shape& weights = view.in(1).shape;
  return view.in(0).type == DataType::Int8 &&
         (weights[3] != view.in(0).shape[3] ||
          (view.node.attrs<graph::Conv2dAttrs>().dilation_w != 1 && weights[2] != 1));
}

// Channels that are computed from one window.
double channels_together(const OpView& view) {
  if (view.node.kind == graph::OpKind::FullyConnected)
    return static_cast<double>(view.out().shape.back());
  const int64_t out = view.out().shape[3];
  const auto* transposed = std::get_if<graph::TransposeConv2dAttrs>(&view.node.attributes);
  if (transposed == nullptr)
    return static_cast<double>(out * view.in(1).shape[3] / view.in(0).shape[3]);
  const int64_t stride = transposed->stride_w;
  const bool all = transposed->pad_left == 0 && view.in(1).shape[2] % stride == 0 &&
                   view.out().shape[2] % stride == 0;
  return static_cast<double>(all ? out * stride : out);
}

std::optional<Family> family_of(const OpView& view) {
  using enum graph::OpKind;
  const bool wide = view.in(0).type == DataType::Int16, real = view.in(0).type == DataType::Float32;
  switch (view.node.kind) {
    case Conv2d:
      if (real) return Family::Real;
      if (is_staged(view)) return Family::Staged;
      return wide ? Family::WideConvolution : Family::Convolution;
    case TransposeConv2d:
      return real ? Family::Real : Family::Staged;
    case FullyConnected:
      if (wide) return Family::WideConvolution;
      if (real)
        return element_count(view.out().shape) == view.out().shape.back() ? Family::RealRow
                                                                          : Family::Real;
      return element_count(view.out().shape) == view.out().shape.back() ? Family::Row
                                                                        : Family::Convolution;
    case DepthwiseConv2d:
      if (wide) return Family::WideDepthwise;
      if (real) return Family::RealDepthwise;
      return view.in(0).shape[3] == 1 ? Family::Convolution : Family::Depthwise;
    case AveragePool2d:
    case MaxPool2d:
      return Family::Window;
    case Add:
    case Sub:
      return Family::Sum;
    case Mul:
      return Family::Product;
    case BatchMatmul:
      return Family::Matrices;
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
  const auto cost_of = [&](Family wanted, double steps, double results) -> std::optional<double> {
    for (const Cost& cost : kCosts)
      if (cost.core == core && cost.family == wanted)
        return cost.per_step * steps + cost.per_result * results;
    return std::nullopt;
  };
  const double steps = steps_of(view, function, *family);
  std::optional<double> cycles =
      cost_of(*family, steps, static_cast<double>(element_count(view.out().shape)));
  if (cycles && *family == Family::Staged)
    *cycles += cost_of(Family::Staging, steps / channels_together(view), 0).value_or(0);
  if (cycles && *family == Family::Real)
    *cycles += cost_of(Family::RealWindow, steps / channels_together(view), 0).value_or(0);
  if (cycles && *family == Family::Matrices) {
    const Shape& out = view.out().shape;
    const auto rows = static_cast<double>(out[out.size() - 2]);
    *cycles +=
        cost_of(Family::Columns, steps / rows, element_count(out) / static_cast<double>(out.back()))
            .value_or(0);
  }
  return cycles;
}

}  // namespace intarsia::targets::cortex_m
