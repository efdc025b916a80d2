// Convolutions and fully connected layers in single precision: device/float_conv.c.
#include <cstring>
#include <limits>

#include "depthwise.h"
#include "intarsia/plugin/quantization.h"
#include "intarsia/plugin/rounding.h"
#include "staged_conv.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kFloat = 4, kLanes = 4;

std::vector<float> floats_of(const OpView& v, size_t input) {
  const std::vector<uint8_t> bytes = v.stored_bytes(input);
  std::vector<float> values(bytes.size() / kFloat);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void append(std::vector<uint8_t>& bytes, float value) {
  uint8_t of_value[kFloat];
  std::memcpy(of_value, &value, sizeof value);
  bytes.insert(bytes.end(), of_value, of_value + sizeof value);
}

graph::Activation activation_of(const OpView& v) {
  switch (v.node.kind) {
    case graph::OpKind::Conv2d:
      return v.node.attrs<graph::Conv2dAttrs>().activation;
    case graph::OpKind::TransposeConv2d:
      return v.node.attrs<graph::TransposeConv2dAttrs>().activation;
    default:
      return v.node.attrs<graph::FullyConnectedAttrs>().activation;
  }
}

// A fully connected layer: rows are pixels.
StagedPart part_of_rows(const OpView& v) {
  const Shape& weights = v.in(1).shape;
  Staged s;
  s.batches = s.in_h = s.out_h = 1;
  s.in_w = s.out_w = element_count(v.in(0).shape) / weights[1];
  s.in_c = s.group_in = kFloat * weights[1];
  s.out_c = s.group_out = s.row_out = kFloat * weights[0];
  s.groups = s.row_step = s.column_step = s.phases = 1;
  s.row_stride = s.column_stride = s.tap_rows = s.tap_columns = 1;
  s.kernel_h = s.kernel_w = 1;
  return {s, {{{0}, {0}}}};
}

// Limits, which are used where `low` and `high` of the struct are not 0, and biases in blocks.
std::vector<uint8_t> table_of(const std::vector<float>& bias, size_t first, size_t count,
                              const FloatRange& range) {
  std::vector<uint8_t> bytes;
  append(bytes, range.low.value_or(0.0f));
  append(bytes, range.high.value_or(0.0f));
  for (size_t c = 0; c < static_cast<size_t>(round_up(static_cast<int64_t>(count), kLanes)); ++c)
    append(bytes, c < count && !bias.empty() ? bias[(first + c) % bias.size()] : 0.0f);
  return bytes;
}

// [block][element][lane].
std::vector<uint8_t> weights_of(const std::vector<std::vector<float>>& rows, size_t first,
                                size_t count) {
  std::vector<uint8_t> bytes;
  for (size_t block = 0; block < count; block += kLanes)
    for (size_t i = 0; i < rows[0].size(); ++i)
      for (size_t lane = block; lane < block + kLanes; ++lane)
        append(bytes, lane < count ? rows[first + lane][i] : 0.0f);
  return bytes;
}

std::optional<StagedCall> make_call(const OpView& v, const StagedPart& part) {
  StagedCall call{"intarsia_staged_conv_f32", part.staged, {}, {}, 0};
  Staged& s = call.staged;
  const std::optional<int64_t> scratch = choose_pieces(s, [](int64_t) { return kFloat; });
  if (!scratch) return std::nullopt;
  call.scratch = *scratch;
  Shape shape = v.in(1).shape;
  if (shape.size() == 2) shape = {shape[0], 1, 1, shape[1]};
  const std::vector<std::vector<float>> rows = staged_rows(part, shape, floats_of(v, 1));
  const std::vector<float> bias = v.has(2) ? floats_of(v, 2) : std::vector<float>{};
  const FloatRange range = activation_range(activation_of(v));
  s.low = range.low ? 1 : 0, s.high = range.high ? 1 : 0;
  const auto channels = static_cast<size_t>(s.group_out / kFloat);
  for (size_t first = 0; first < rows.size(); first += channels)
    append_group(call, weights_of(rows, first, channels), table_of(bias, first, channels, range));
  const int64_t columns = (s.pixels - 1) * s.column_stride + s.kernel_w;
  const bool fits = s.fits() && s.kernel_h * s.group_in <= std::numeric_limits<int16_t>::max() &&
                    s.band * columns <= std::numeric_limits<int16_t>::max();
  return fits ? std::optional(std::move(call)) : std::nullopt;
}

bool is_float_product(CoreClass core, const OpView& view) {
  const auto is_float = [&](size_t input) { return view.in(input).type == DataType::Float32; };
  return core >= CoreClass::Dsp && is_float(0) && is_float(1) && !view.is_constant(0) &&
         view.is_constant(1) && (!view.has(2) || (view.is_constant(2) && is_float(2)));
}

}  // namespace

LowerKernel float_kernel(CoreClass core, const OpView& view) {
  if (!is_float_product(core, view)) return nullptr;
  std::optional<std::vector<StagedCall>> calls;
  if (view.node.kind != graph::OpKind::FullyConnected)
    calls = cheapest_calls(core, view, kFloat,
                           [&](const StagedPart& part) { return make_call(view, part); });
  else if (std::optional<StagedCall> rows = make_call(view, part_of_rows(view)))
    calls = {std::move(*rows)};
  if (!calls) return nullptr;
  return [calls = std::move(*calls)](OpLowering& op) { return lower_staged(op, calls); };
}

Window float_depthwise_window(const OpView& view) {
  const auto& a = view.node.attrs<graph::DepthwiseConv2dAttrs>();
  const Shape &in = view.in(0).shape, &weights = view.in(1).shape, &out = view.out().shape;
  const FloatRange range = activation_range(a.activation);
  Window w;
  w.batches = in[0], w.in_h = in[1], w.in_w = in[2], w.in_c = in[3];
  w.out_h = out[1], w.out_w = out[2], w.out_c = out[3];
  w.kernel_h = weights[1], w.kernel_w = weights[2];
  w.stride_h = a.stride_h, w.stride_w = a.stride_w;
  w.dilation_h = a.dilation_h, w.dilation_w = a.dilation_w;
  w.pad_top = a.padding.top, w.pad_left = a.padding.left;
  w.low = range.low ? 1 : 0, w.high = range.high ? 1 : 0;
  return w;
}

LowerKernel float_depthwise_kernel(CoreClass core, const OpView& view) {
  if (!is_float_product(core, view)) return nullptr;
  const auto& a = view.node.attrs<graph::DepthwiseConv2dAttrs>();
  const Shape &in = view.in(0).shape, &out = view.out().shape;
  if (in[3] != out[3] || out[3] < kLanes) return nullptr;
  const FloatRange range = activation_range(a.activation);
  const Window w = float_depthwise_window(view);
  if (!w.fits()) return nullptr;
  return [w, range](OpLowering& op) {
    op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
               Shape{w.batches, w.out_h, w.out_w, w.out_c});
    const std::vector<float> bias = op.view.has(2) ? floats_of(op.view, 2) : std::vector<float>{};
    std::vector<uint8_t> table;
    append(table, range.low.value_or(0.0f)), append(table, range.high.value_or(0.0f));
    for (size_t c = 0; c < static_cast<size_t>(w.out_c); ++c)
      append(table, bias.empty() ? 0.0f : bias[c]);
    const BufferId filter =
        op.constant("weights", DataType::Float32, {w.kernel_h * w.kernel_w, w.out_c},
                    op.view.stored_bytes(1), tir::ConstantUse::Weights);
    const BufferId limits = op.constant("channels", DataType::Float32, {w.out_c + 2},
                                        std::move(table), tir::ConstantUse::Weights);
    return call_kernel(
        op.b.func(),
        {"intarsia_depthwise_f32", w.values(), {op.in(0)}, op.out(), {}, {filter, limits}});
  };
}

}  // namespace intarsia::targets::cortex_m
