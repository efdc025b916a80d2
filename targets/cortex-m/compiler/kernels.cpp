#include "kernels.h"

#include <limits>

#include "intarsia/plugin/tir_build.h"

namespace intarsia::targets::cortex_m {

std::vector<int64_t> Window::values() const {
  return {
#define FIELD(name) name,
#include "intarsia/targets/cortex_m/window.def"
#undef FIELD
  };
}

bool Window::fits() const {
  for (const int64_t value : values())
    if (value < std::numeric_limits<int16_t>::min() || value > std::numeric_limits<int16_t>::max())
      return false;
  return true;
}

tir::Stmt call_kernel(const tir::Func& func, const KernelCall& call) {
  std::vector<std::variant<tir::BufferRun, tir::Expr>> operands;
  const auto whole = [&](tir::BufferId id, tir::Access access) {
    const Shape& extents = func.buffer(id).extents;
    operands.push_back(tir::BufferRun{id, std::vector<tir::Expr>(extents.size(), tir::int_imm(0)),
                                      element_count(extents), access});
  };
  for (const tir::BufferId id : call.read) whole(id, tir::Access::Read);
  for (const tir::BufferId id : call.updated) whole(id, tir::Access::ReadWrite);
  whole(call.written, tir::Access::Write);
  if (call.scratch.valid()) whole(call.scratch, tir::Access::Write);
  for (const tir::BufferId id : call.constants) whole(id, tir::Access::Read);
  for (const int64_t value : call.numbers) operands.push_back(tir::int_imm(value));
  return tir::intrinsic(call.kernel, std::move(operands));
}

ConstantStructs kernel_structs() {
  const ConstantStruct window{"struct intarsia_window",
                              "window",
                              {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/window.def"
#undef FIELD
                              }};
  ConstantStructs all;
#define KERNEL(name) all[#name] = window;
#include "intarsia/targets/cortex_m/kernels.def"
#undef KERNEL
  all["intarsia_each_add_s8"] = all["intarsia_each_lanes_add_s8"] = all["intarsia_each_add_s16"] =
      all["intarsia_each_sub_s16"] = all["intarsia_each_squared_difference_s8"] =
          all["intarsia_each_squared_difference_s16"] = {"struct intarsia_add",
                                                         "add",
                                                         {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/add.def"
#undef FIELD
                                                         }};
  all["intarsia_each_sum_s8"] = {"struct intarsia_sum",
                                 "sum",
                                 {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/sum.def"
#undef FIELD
                                 }};
  all["intarsia_each_lanes_sum_s8"] = {"struct intarsia_lanes_sum",
                                       "sum",
                                       {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/lanes_sum.def"
#undef FIELD
                                       }};
  all["intarsia_mean_s8"] = all["intarsia_mean_s16"] =
      all["intarsia_lanes_mean_s8"] = {"struct intarsia_mean",
                                       "mean",
                                       {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/mean.def"
#undef FIELD
                                       }};
  all["intarsia_each_product_s8"] = all["intarsia_each_product_s16"] =
      all["intarsia_each_lanes_product_s8"] = {"struct intarsia_mul",
                                               "mul",
                                               {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/mul.def"
#undef FIELD
                                               }};
  all["intarsia_each_prelu_s8"] = all["intarsia_each_prelu_s16"] =
      all["intarsia_each_leaky_relu_s16"] = {"struct intarsia_prelu",
                                             "prelu",
                                             {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/prelu.def"
#undef FIELD
                                             }};
  const ConstantStruct matmul{"struct intarsia_matmul",
                              "matmul",
                              {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/matmul.def"
#undef FIELD
                              }};
  all["intarsia_matmul_s8"] = all["intarsia_mve_matmul_s8"] = all["intarsia_matmul_s16"] =
      all["intarsia_matmul_f32"] = matmul;
  const ConstantStruct wide{"struct intarsia_wide",
                            "wide",
                            {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/wide.def"
#undef FIELD
                            }};
  const ConstantStruct staged{"struct intarsia_staged",
                              "staged",
                              {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/staged.def"
#undef FIELD
                              }};
#define KERNEL(name) all[#name] = staged;
#include "intarsia/targets/cortex_m/staged_kernels.def"
#undef KERNEL
  const ConstantStruct svdf{"struct intarsia_svdf",
                            "svdf",
                            {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/svdf.def"
#undef FIELD
                            }};
  const ConstantStruct lstm{"struct intarsia_lstm",
                            "lstm",
                            {
#define FIELD(name) #name,
#include "intarsia/targets/cortex_m/lstm.def"
#undef FIELD
                            }};
  all["intarsia_mve_depthwise_s16"] = all["intarsia_mve_depthwise_shared_s16"] = wide;
  all["intarsia_dsp_short_conv_s16"] = wide;
  for (const std::string core : {"intarsia_dsp_", "intarsia_mve_"}) {
    all[core + "wide_conv_s16"] = all[core + "wide_depthwise_s16"] = wide;
    all[core + "svdf_s8"] = all[core + "svdf_s16"] = svdf;
    all[core + "lstm_s8"] = all[core + "lstm_s16"] = all[core + "lstm_s16_short"] = lstm;
  }
  return all;
}

namespace {

// A constant of one element makes them functions of the other operand. With Helium sums are as fast as looking results up, and with SIMD
// extremes are faster.
bool is_worth_a_table(CoreClass core, graph::OpKind kind) {
  switch (kind) {
    case graph::OpKind::Add:
    case graph::OpKind::Sub:
      return core != CoreClass::Mve;
    case graph::OpKind::Maximum:
    case graph::OpKind::Minimum:
      return lacks_simd(core);
    case graph::OpKind::Div:
    case graph::OpKind::Equal:
    case graph::OpKind::Greater:
    case graph::OpKind::GreaterEqual:
    case graph::OpKind::Less:
    case graph::OpKind::LessEqual:
    case graph::OpKind::Mul:
    case graph::OpKind::NotEqual:
    case graph::OpKind::Prelu:
    case graph::OpKind::SquaredDifference:
      return true;
    default:
      return false;
  }
}

}  // namespace

LowerKernel choose_kernel(CoreClass core, const OpView& view, bool small, int64_t waits) {
  if (core == CoreClass::Lanes) return lane_kernel(view);
  if (!small && is_worth_a_table(core, view.node.kind)) {
    if (LowerKernel kernel = constant_lookup_kernel(view, waits)) return kernel;
  }
  const bool wide = view.in(0).type == DataType::Int16, real = view.in(0).type == DataType::Float32;
  switch (view.node.kind) {
    case graph::OpKind::Conv2d:
      if (real) return float_kernel(core, view);
      if (LowerKernel kernel = shifted_kernel(core, view, waits)) return kernel;
      if (wide) {
        if (LowerKernel kernel = wide_kernel(core, view, waits)) return kernel;
        return staged_wide_kernel(core, view);
      }
      if (view.in(1).shape[3] == view.in(0).shape[3]) {
        if (LowerKernel kernel = conv_kernel(core, view, small, waits)) return kernel;
      }
      return grouped_kernel(core, view, small, waits);
    case graph::OpKind::TransposeConv2d:
      if (real) return float_kernel(core, view);
      return wide ? staged_wide_kernel(core, view) : staged_kernel(core, view, small);
    case graph::OpKind::FullyConnected:
      if (real) return float_kernel(core, view);
      if (LowerKernel kernel = shifted_kernel(core, view, waits)) return kernel;
      return wide ? wide_kernel(core, view, waits) : conv_kernel(core, view, small, waits);
    case graph::OpKind::DepthwiseConv2d:
      if (real) return float_depthwise_kernel(core, view);
      return wide ? wide_kernel(core, view, waits) : depthwise_kernel(core, view, small, waits);
    case graph::OpKind::HybridConv2d:
    case graph::OpKind::HybridFullyConnected:
      return hybrid_kernel(core, view, waits);
    case graph::OpKind::HybridDepthwiseConv2d:
      return hybrid_depthwise_kernel(core, view);
    case graph::OpKind::QuantizeRows:
      return row_steps_kernel(core);
    case graph::OpKind::BroadcastTo:
    case graph::OpKind::Concat:
    case graph::OpKind::DepthToSpace:
    case graph::OpKind::Pack:
    case graph::OpKind::Pad:
    case graph::OpKind::PadV2:
    case graph::OpKind::ResizeNearest:
    case graph::OpKind::Slice:
    case graph::OpKind::SpaceToDepth:
    case graph::OpKind::Split:
    case graph::OpKind::Tile:
    case graph::OpKind::Transpose:
    case graph::OpKind::Unpack:
      return copy_kernel(core, view);
    case graph::OpKind::Add:
    case graph::OpKind::Sub:
      if (real) return float_binary_kernel(core, view);
      return sum_kernel(core, view);
    case graph::OpKind::SquaredDifference:
      return squared_difference_kernel(core, view);
    case graph::OpKind::BatchMatmul:
      return matmul_kernel(core, view);
    case graph::OpKind::Div:
      return small ? nullptr : quotient_kernel(core, view);
    case graph::OpKind::Equal:
    case graph::OpKind::Greater:
    case graph::OpKind::GreaterEqual:
    case graph::OpKind::Less:
    case graph::OpKind::LessEqual:
    case graph::OpKind::NotEqual:
      return small ? nullptr : comparison_kernel(core, view);
    case graph::OpKind::Mul:
      if (real) return float_binary_kernel(core, view);
      return mul_kernel(core, view);
    case graph::OpKind::Maximum:
    case graph::OpKind::Minimum:
      return extreme_kernel(core, view);
    case graph::OpKind::LeakyRelu:
      return wide ? wide_leaky_relu_kernel(core, view) : lookup_kernel(view, waits);
    case graph::OpKind::Prelu:
      return prelu_kernel(core, view);
    case graph::OpKind::Mean:
    case graph::OpKind::Sum:  // loops are less code
      return small ? nullptr : mean_kernel(core, view);
    case graph::OpKind::AveragePool2d:
    case graph::OpKind::MaxPool2d:
      return pool_kernel(core, view, small);
    case graph::OpKind::ReduceMax:
      return small ? nullptr : reduce_max_kernel(core, view);
    case graph::OpKind::ResizeBilinear:
      return resize_kernel(core, view);
    case graph::OpKind::Softmax:  // a table of 1 kB instead of less code
      if (real) return float_softmax_kernel(core, view);
      if (wide) return wide_softmax_kernel(core, view);
      return small ? nullptr : softmax_kernel(core, view);
    case graph::OpKind::LogSoftmax:
      return small ? nullptr : log_softmax_kernel(core, view);
    case graph::OpKind::L2Normalization:
      return small ? nullptr : l2_normalization_kernel(core, view);
    case graph::OpKind::Logistic:
    case graph::OpKind::Tanh:
      if (real) return float_curve_kernel(core, view);
      return wide ? sigmoid_kernel(core, view) : lookup_kernel(view, waits);
    case graph::OpKind::HardSwish:
      if (real) return float_curve_kernel(core, view);
      return wide ? hard_swish_kernel(core, view) : lookup_kernel(view, waits);
    case graph::OpKind::Dequantize:
      return float_steps_kernel(core, view);
    case graph::OpKind::Quantize:  // a table of 256 bytes instead of less code
      if (real) return float_steps_kernel(core, view);
      if (wide || view.out().type == DataType::Int16) return rescale_kernel(core, view);
      return small ? nullptr : lookup_kernel(view, waits);
    case graph::OpKind::Relu:
      return relu_kernel(core, view, small);
    case graph::OpKind::Abs:
    case graph::OpKind::Log:
    case graph::OpKind::Lookup:
    case graph::OpKind::Rsqrt:
    case graph::OpKind::Sqrt:
      return lookup_kernel(view, waits);
    case graph::OpKind::Elu:
    case graph::OpKind::Exp:
    case graph::OpKind::Gelu:
      return real ? float_curve_kernel(core, view) : lookup_kernel(view, waits);
    case graph::OpKind::Svdf:
      return svdf_kernel(core, view);
    case graph::OpKind::Lstm:
      return lstm_kernel(core, view);
    default:
      return nullptr;
  }
}

}  // namespace intarsia::targets::cortex_m
