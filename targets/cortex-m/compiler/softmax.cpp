// Softmax and functions of one element: device/pool_softmax.h.
#include <algorithm>
#include <bit>
#include <limits>

#include "intarsia/plugin/every_result.h"
#include "intarsia/plugin/fixed_functions.h"
#include "intarsia/plugin/quantization.h"
#include "kernels.h"
#include "operators.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

constexpr int64_t kDifferences = 256;

// Of the difference from the largest element, a word each; 0 where it counts as too large.
std::vector<uint8_t> exponentials_of_differences(const SoftmaxScaling& scaling) {
  std::vector<uint8_t> table;
  for (int64_t difference = 0; difference < kDifferences; ++difference) {
    uint32_t value = 0;
    if (-difference >= scaling.diff_min) {
      const auto shifted =
          static_cast<int32_t>(-difference * (int64_t{1} << scaling.multiplier.shift));
      value = static_cast<uint32_t>(graph::exp_of_negative<5>(
          graph::doubling_high_product(shifted, scaling.multiplier.value)));
    }
    for (int byte = 0; byte < 4; ++byte) table.push_back(static_cast<uint8_t>(value >> (8 * byte)));
  }
  return table;
}

}  // namespace

LowerKernel softmax_kernel(CoreClass core, const OpView& view) {
  if (view.in(0).type != DataType::Int8 || view.out().type != DataType::Int8) return nullptr;
  const std::optional<SoftmaxScaling> scaling = softmax_scaling(
      view.in(0).quantization.scale[0], view.node.attrs<graph::SoftmaxAttrs>().beta);
  if (!scaling) return nullptr;
  std::vector<uint8_t> table = exponentials_of_differences(*scaling);
  const int64_t count = view.in(0).shape.back(), rows = element_count(view.in(0).shape) / count;
  // Elements of a row for each that is beside others, up to which they are sooner done together.
  constexpr int64_t kShortRow = 8, kTogether = 4;
  const bool together =
      core == CoreClass::Mve && rows > 1 && count <= kShortRow * std::min(rows, kTogether);
  // With the DSP extension elements of long rows are taken some at a time, where there are as many as that code is worth.
  constexpr int64_t kLongRow = 8, kFewestOfLongRows = 512;
  const bool by_some =
      core == CoreClass::Dsp && count >= kLongRow && rows * count >= kFewestOfLongRows;
  const std::string kernel =
      together || by_some ? "intarsia_softmax_rows_s8" : "intarsia_softmax_table_s8";
  return [table = std::move(table), kernel, rows, count](OpLowering& op) {
    op.declare({Shape{rows, count}}, Shape{rows, count});
    const BufferId exponentials = op.constant("exponentials", DataType::Int32, {kDifferences},
                                              table, tir::ConstantUse::Weights);
    return call_kernel(op.b.func(),
                       {kernel, {rows, count}, {op.in(0)}, op.out(), {}, {exponentials}});
  };
}

LowerKernel log_softmax_kernel(CoreClass core, const OpView& view) {
  if (core == CoreClass::Lanes || core == CoreClass::Rv32 || view.in(0).type != DataType::Int8)
    return nullptr;
  const std::optional<SoftmaxScaling> scaling =
      softmax_scaling(view.in(0).quantization.scale[0], 1);
  if (!scaling) return nullptr;
  const int64_t count = view.in(0).shape.back(), rows = element_count(view.in(0).shape) / count;
  return
      [table = exponentials_of_differences(*scaling), s = *scaling, rows, count](OpLowering& op) {
        op.declare({Shape{rows, count}}, Shape{rows, count});
        const BufferId exponentials = op.constant("exponentials", DataType::Int32, {kDifferences},
                                                  table, tir::ConstantUse::Weights);
        return call_kernel(op.b.func(),
                           {"intarsia_log_softmax_table_s8",
                            {rows, count, s.multiplier.value, s.multiplier.shift, s.diff_min},
                            {op.in(0)},
                            op.out(),
                            {},
                            {exponentials}});
      };
}

LowerKernel l2_normalization_kernel(CoreClass core, const OpView& view) {
  if (lacks_simd(core) || core == CoreClass::Lanes || view.in(0).type != DataType::Int8)
    return nullptr;
  const int64_t count = view.in(0).shape.back(), rows = element_count(view.in(0).shape) / count;
  return [rows, count, zero = view.in(0).quantization.zero_point[0]](OpLowering& op) {
    op.declare({Shape{rows, count}}, Shape{rows, count});
    return call_kernel(
        op.b.func(),
        {"intarsia_l2_normalize_rows_s8", {rows, count, zero}, {op.in(0)}, op.out(), {}, {}});
  };
}

LowerKernel wide_softmax_kernel(CoreClass core, const OpView& view) {
  if (lacks_simd(core) || core == CoreClass::Lanes || view.in(0).type != DataType::Int16 ||
      view.out().type != DataType::Int16)
    return nullptr;
  const Multiplier m = quantize_multiplier(
      graph::wide_softmax_factor(static_cast<double>(view.in(0).quantization.scale[0]),
                                 static_cast<double>(view.node.attrs<graph::SoftmaxAttrs>().beta)));
  // So that twice a difference of 17 bits fits 32 of them; a smaller factor is none for differences either.
  constexpr int kMostLeft = 14, kMostRight = 30;
  if (m.value < 0 || m.shift > kMostLeft || m.shift < -kMostRight) return nullptr;
  const int64_t count = view.in(0).shape.back(), rows = element_count(view.in(0).shape) / count;
  return [rows, count, m](OpLowering& op) {
    op.declare({Shape{rows, count}}, Shape{rows, count});
    return call_kernel(op.b.func(),
                       {"intarsia_softmax_rows_s16",
                        {rows, count, m.value, std::max(m.shift, 0), std::max(-m.shift, 0)},
                        {op.in(0)},
                        op.out(),
                        {},
                        {}});
  };
}

LowerKernel float_softmax_kernel(CoreClass core, const OpView& view) {
  const float beta = view.node.attrs<graph::SoftmaxAttrs>().beta;
  if ((core != CoreClass::Dsp && core != CoreClass::Mve) || view.out().type != DataType::Float32 ||
      !(beta > 0))
    return nullptr;
  const int64_t count = view.in(0).shape.back(), rows = element_count(view.in(0).shape) / count;
  return [rows, count, beta](OpLowering& op) {
    op.declare({Shape{rows, count}}, Shape{rows, count});
    return call_kernel(op.b.func(), {"intarsia_softmax_rows_f32",
                                     {rows, count, std::bit_cast<int32_t>(beta)},
                                     {op.in(0)},
                                     op.out(),
                                     {},
                                     {}});
  };
}

LowerKernel sigmoid_kernel(CoreClass core, const OpView& view) {
  if (lacks_simd(core) || core == CoreClass::Lanes || view.in(0).type != DataType::Int16 ||
      view.out().type != DataType::Int16)
    return nullptr;
  const bool is_tanh = view.node.kind == graph::OpKind::Tanh;
  const graph::SigmoidScaling s =
      graph::sigmoid_scaling(static_cast<double>(view.in(0).quantization.scale[0]), is_tanh);
  if (s.multiplier > std::numeric_limits<int16_t>::max()) return nullptr;  // a halfword
  const int64_t count = element_count(view.out().shape);
  return [is_tanh, s, count](OpLowering& op) {
    op.declare({Shape{count}}, Shape{count});
    op.allow_in_place();
    return call_kernel(op.b.func(),
                       {is_tanh ? "intarsia_each_tanh_s16" : "intarsia_each_sigmoid_s16",
                        {count, s.multiplier, s.shift},
                        {op.in(0)},
                        op.out(),
                        {},
                        {}});
  };
}

namespace {

// A table in a slow memory that is read so often that a copy of it is sooner read.
bool is_sooner_copied(const OpView& view, int64_t count, int64_t waits) {
  constexpr int64_t kTable = 256, kVector = 16, kWords = kVector / 4, kCall = 60, kCopied = 6;
  const int64_t copy = kCall + kTable / kVector * (kCopied + kWords * waits);
  return view.out().type == DataType::Int8 && count * waits > 2 * copy;
}

// Results depend on the elements of that operand alone.
LowerKernel looks_up(const OpView& view, size_t operand, int64_t waits) {
  if (view.in(operand).type != DataType::Int8 || bits(view.out().type) != 8 ||
      view.is_constant(operand))
    return nullptr;
  const int64_t count = element_count(view.out().shape);
  const bool copied = is_sooner_copied(view, count, waits);
  return [count, operand, copied](OpLowering& op) {
    std::vector<std::optional<Shape>> inputs(op.view.node.inputs.size());
    inputs[operand] = Shape{count};
    op.declare(std::move(inputs), Shape{count});
    op.allow_in_place();
    std::vector<uint8_t> results = results_of_every_int8(op.view, operand);
    std::rotate(results.begin(), results.begin() + 128, results.end());  // 0 first
    const DataType type = op.view.out().type;
    const BufferId table = op.raw_table("table", type == DataType::Bool ? DataType::UInt8 : type,
                                        {256}, std::move(results));
    const BufferId used = copied ? op.b.local("copy", type, {256}, 4) : table;
    const Stmt call = call_kernel(
        op.b.func(), {"intarsia_each_lookup_s8", {count}, {op.in(operand)}, op.out(), {}, {used}});
    if (!copied) return call;
    return tir::seq({copy_of_bytes(table, used, 256), call});
  };
}

}  // namespace

LowerKernel lookup_kernel(const OpView& view, int64_t waits) {
  return looks_up(view, 0, waits);
}

LowerKernel constant_lookup_kernel(const OpView& view, int64_t waits) {
  const Shape& out = view.out().shape;
  if (view.node.inputs.size() != 2 || element_count(out) < kWorthATable) return nullptr;
  for (const size_t operand : {size_t{0}, size_t{1}}) {
    const size_t other = 1 - operand;
    if (view.is_constant(other) && element_count(view.in(other).shape) == 1 &&
        element_count(view.in(operand).shape) == element_count(out))
      return looks_up(view, operand, waits);
  }
  return nullptr;
}

}  // namespace intarsia::targets::cortex_m
