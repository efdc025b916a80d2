// The kernels in device/: what the compiler hands over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intarsia/plugin/c_function.h"
#include "intarsia/plugin/kernel_functions.h"

namespace intarsia::targets::cortex_m {

using operators::OpLowering;
using operators::OpView;
using standard_lowering::LowerKernel;

// Lanes: 64-bit cores with vectors, of Arm and x86. Those of RISC-V have products of single elements, as Thumb and Long do, and twice the registers.
enum class CoreClass { Rv32, Thumb, Long, Dsp, Mve, Lanes };
constexpr bool lacks_simd(CoreClass core) {
  return core <= CoreClass::Long;
}

// struct intarsia_window.
struct Window {
#define FIELD(name) int64_t name = 0;
#include "intarsia/targets/cortex_m/window.def"
#undef FIELD

  int64_t pixels() const {
    return batches * out_h * out_w;
  }
  std::vector<int64_t> values() const;
  bool fits() const;  // every field in 16 bits
};

// Of a dilated window by stride 1: what it is on every dilation-th row and column, from the row y and the column x of the output on.
Window dilated_grid(const Window& w, int64_t y, int64_t x);

// One call of a kernel over whole buffers: `kernel(&window, input, output, scratch, weights, channels)`.
struct KernelCall {
  std::string kernel;
  std::vector<int64_t> numbers;  // the fields of its struct
  std::vector<tir::BufferId> read;
  tir::BufferId written;
  tir::BufferId scratch;  // may be invalid
  std::vector<tir::BufferId> constants;
  std::vector<tir::BufferId> updated = {};  // state: read and written, behind what is read
};
tir::Stmt call_kernel(const tir::Func& func, const KernelCall& call);

// The structs that kernels take, for the C writer.
ConstantStructs kernel_structs();

// The kernel a class of cores has for the operator; empty where the portable loops serve as well.
// Small: kernels that several operators can share rather than the fastest for each. Waits: cycles by which a read of four
// bytes of constants takes longer than one of scratch.
LowerKernel choose_kernel(CoreClass core, const OpView& view, bool small, int64_t waits = 0);

// A shape as [outer, count, inner], of which a reduction takes the middle axis; none where its axes are no neighbours.
struct ReducedShape {
  int64_t outer = 1, count = 1, inner = 1;
};
std::optional<ReducedShape> reduced_shape(const OpView& view);

// An operator of int8 with fewer elements is sooner computed than looked up: a table has 256.
constexpr int64_t kWorthATable = 128;

// "intarsia_turn_" and the type of what it moves (device/copy_rows.h); null where there is none.
const char* turn_of(DataType type);

// Families. Each returns an empty kernel for what its kernels do not cover.
// Of cores with lanes: int8 convolution, depthwise convolution and fully connected layers.
LowerKernel lane_kernel(const OpView& view);
LowerKernel conv_kernel(CoreClass core, const OpView& view, bool small, int64_t waits);
// Grouped, dilated by columns, transposed: made of plain convolutions.
LowerKernel staged_kernel(CoreClass core, const OpView& view, bool small);
// The same, or a grouped one as a convolution of all channels where that takes less time.
LowerKernel grouped_kernel(CoreClass core, const OpView& view, bool small, int64_t waits);
// The same of int16, where estimates say that it takes fewer than so many cycles.
LowerKernel staged_wide_kernel(CoreClass core, const OpView& view,
                               std::optional<double> below = std::nullopt);
// In single precision: convolutions of all kinds but depthwise ones, and fully connected layers.
LowerKernel float_kernel(CoreClass core, const OpView& view);
// Of floats made int8 as the model runs, by integer weights: convolutions but depthwise ones, and fully connected layers.
LowerKernel hybrid_kernel(CoreClass core, const OpView& view, int64_t waits);
// Of int8 by weights of nine bits: Conv2d, FullyConnected.
LowerKernel shifted_kernel(CoreClass core, const OpView& view, int64_t waits);
LowerKernel hybrid_depthwise_kernel(CoreClass core, const OpView& view);
LowerKernel row_steps_kernel(CoreClass core);  // of QuantizeRows
LowerKernel float_depthwise_kernel(CoreClass core, const OpView& view);
// Of two activations of int8 (device/pair_tables.h).
LowerKernel comparison_kernel(CoreClass core, const OpView& view);
LowerKernel quotient_kernel(CoreClass core, const OpView& view);
LowerKernel depthwise_kernel(CoreClass core, const OpView& view, bool small, int64_t waits);
LowerKernel sum_kernel(CoreClass core, const OpView& view);  // of Add and Sub
LowerKernel squared_difference_kernel(CoreClass core, const OpView& view);
LowerKernel mean_kernel(CoreClass core, const OpView& view);  // of Mean and Sum
LowerKernel matmul_kernel(CoreClass core, const OpView& view);
LowerKernel mul_kernel(CoreClass core, const OpView& view);
LowerKernel pool_kernel(CoreClass core, const OpView& view, bool small);
LowerKernel reduce_max_kernel(CoreClass core, const OpView& view);  // as a pooling of all
LowerKernel relu_kernel(CoreClass core, const OpView& view, bool small);
LowerKernel extreme_kernel(CoreClass core, const OpView& view);  // of Maximum and Minimum
LowerKernel prelu_kernel(CoreClass core, const OpView& view);
LowerKernel wide_leaky_relu_kernel(CoreClass core, const OpView& view);
LowerKernel wide_relu_kernel(CoreClass core, const OpView& view);
LowerKernel wide_softmax_kernel(CoreClass core, const OpView& view);
LowerKernel resize_kernel(CoreClass core, const OpView& view);  // bilinear
LowerKernel softmax_kernel(CoreClass core, const OpView& view);
LowerKernel log_softmax_kernel(CoreClass core, const OpView& view);
LowerKernel l2_normalization_kernel(CoreClass core, const OpView& view);
LowerKernel lookup_kernel(const OpView& view, int64_t waits = 0);  // of what loops look up as well
// Of operators with two operands, one of which is a constant of one element: a function of the other.
LowerKernel constant_lookup_kernel(const OpView& view, int64_t waits = 0);
LowerKernel sigmoid_kernel(CoreClass core, const OpView& view);  // of Logistic and Tanh of int16
// Between int16 tensors: Quantize, and what converters leave of HardSwish.
LowerKernel rescale_kernel(CoreClass core, const OpView& view);
LowerKernel hard_swish_kernel(CoreClass core, const OpView& view);
LowerKernel float_softmax_kernel(CoreClass core, const OpView& view);
LowerKernel float_curve_kernel(CoreClass core,
                               const OpView& view);  // Exp, HardSwish, Logistic, Tanh
// Of Add, Sub, Mul in single precision.
LowerKernel float_binary_kernel(CoreClass core, const OpView& view);
// What moves rows of elements: what is joined, taken apart, cut, turned, padded, repeated, spaces that become depth.
LowerKernel copy_kernel(CoreClass core, const OpView& view);
LowerKernel float_steps_kernel(CoreClass core,
                               const OpView& view);  // Quantize of floats, Dequantize
// Int16 activations with int8 weights: convolution, depthwise convolution, fully connected.
LowerKernel wide_kernel(CoreClass core, const OpView& view, int64_t waits);
LowerKernel svdf_kernel(CoreClass core, const OpView& view);
LowerKernel lstm_kernel(CoreClass core, const OpView& view);

}  // namespace intarsia::targets::cortex_m
