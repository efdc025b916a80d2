// Integer weights that meet floats, of which the running model makes int8 with a scale for each image or row: device/hybrid.h.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "conv.h"
#include "depthwise.h"
#include "intarsia/plugin/quantization.h"
#include "staged_conv.h"
#include "wide_weights.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr size_t kHybridBias = 2, kHybridScales = 3, kHybridZeros = 4;
constexpr int64_t kResult = 4;  // bytes of a float

void append_hybrid_float(std::vector<uint8_t>& bytes, float value) {
  append_word(bytes, std::bit_cast<int32_t>(value));
}

// As the kernel ends the sums of a channel.
struct HybridChannel {
  int32_t weights = 0;  // their sum
  float scale = 0, bias = 0;
};

std::vector<HybridChannel> hybrid_channels(const OpView& v, const WeightRows& rows) {
  const std::vector<float>& scales = v.in(1).quantization.scale;
  std::vector<float> biases;
  if (v.has(kHybridBias)) {
    const std::vector<uint8_t> bytes = v.stored_bytes(kHybridBias);
    biases.resize(bytes.size() / sizeof(float));
    std::memcpy(biases.data(), bytes.data(), bytes.size());
  }
  std::vector<HybridChannel> channels;
  for (size_t c = 0; c < rows.size(); ++c)
    // No sum changes where -0 is added.
    channels.push_back({std::accumulate(rows[c].begin(), rows[c].end(), 0),
                        scales[scales.size() == 1 ? 0 : c], biases.empty() ? -0.0f : biases[c]});
  return channels;
}

std::vector<uint8_t> dsp_hybrid_table(const std::vector<HybridChannel>& channels) {
  std::vector<uint8_t> bytes;
  for (const HybridChannel& channel : channels) {
    append_word(bytes, 0), append_word(bytes, channel.weights);
    append_hybrid_float(bytes, channel.scale), append_hybrid_float(bytes, channel.bias);
  }
  constexpr size_t kPair = 32;
  bytes.resize((bytes.size() + kPair - 1) / kPair * kPair);
  return bytes;
}

std::vector<uint8_t> mve_hybrid_table(std::vector<HybridChannel> channels) {
  constexpr size_t kQuad = 4;
  channels.resize((channels.size() + kQuad - 1) / kQuad * kQuad);
  std::vector<uint8_t> bytes;
  for (size_t first = 0; first < channels.size(); first += kQuad) {
    for (size_t c = first; c < first + kQuad; ++c) append_word(bytes, channels[c].weights);
    for (size_t c = first; c < first + kQuad; ++c) append_hybrid_float(bytes, channels[c].scale);
    for (size_t c = first; c < first + kQuad; ++c) append_hybrid_float(bytes, channels[c].bias);
  }
  return bytes;
}

// [channel / 4][run / 16][4][16].
std::vector<uint8_t> mve_hybrid_weights(const WeightRows& rows) {
  constexpr size_t kQuad = 4, kVector = 16;
  std::vector<uint8_t> bytes;
  for (size_t first = 0; first < rows.size(); first += kQuad)
    for (size_t at = 0; at < rows[0].size(); at += kVector)
      for (size_t c = first; c < first + kQuad; ++c)
        for (size_t i = at; i < at + kVector; ++i)
          bytes.push_back(c < rows.size() && i < rows[c].size() ? static_cast<uint8_t>(rows[c][i])
                                                                : 0);
  return bytes;
}

// A fully connected layer: rows are pixels, which have scales of their own.
StagedPart hybrid_rows(const OpView& v) {
  const Shape& weights = v.in(1).shape;
  Staged s;
  s.batches = s.in_h = s.out_h = 1;
  s.in_w = s.out_w = element_count(v.in(0).shape) / weights[1];
  s.in_c = s.group_in = weights[1];
  s.out_c = s.group_out = s.row_out = weights[0];
  s.groups = s.row_step = s.column_step = s.phases = 1;
  s.row_stride = s.column_stride = s.tap_rows = s.tap_columns = 1;
  s.kernel_h = s.kernel_w = 1, s.out_zero = 1;
  return {s, {{{0}, {0}}}};
}

// With Helium and constants in a slow memory: so many channels at a time that scratch has room for their constants, which serve all
// pixels of a piece from there. The bytes of it.
int64_t choose_copies(Staged& s, int64_t table_bytes, int64_t result_bytes, int64_t waits) {
  constexpr int64_t kMostOfAll = 4096, kQuad = 4, kVector = 16, kFewestPixels = 8;
  if (waits == 0 || s.band * s.pixels < kFewestPixels) return 0;
  const int64_t quads = ceil_div(s.group_out / result_bytes, kQuad);
  const int64_t each =
      kQuad * (round_up(s.kernel_h * s.kernel_w * s.group_in, kVector) + table_bytes);
  const int64_t most = std::min(quads, (kMostOfAll - s.scratch_at) / each);
  if (most <= 0) return 0;
  const int64_t groups = ceil_div(quads, most),
                together = ceil_div(quads, groups);  // groups of one size
  // Pairs of pixels are begun again for each group.
  constexpr int64_t kPairOfGroup = 200, kCopied = 6;
  const int64_t words = quads * each / 4, pairs = s.band * s.pixels / 2;
  const int64_t copying = words / 4 * kCopied + words * waits + (groups - 1) * pairs * kPairOfGroup;
  if (pairs * words * waits <= copying) return 0;
  s.row_bytes = kQuad * together;
  return each * together;
}

std::optional<StagedCall> hybrid_call(CoreClass core, const OpView& v, const StagedPart& part,
                                      graph::Activation activation, int64_t waits) {
  const bool vectors = core == CoreClass::Mve;
  StagedCall call{vectors ? "intarsia_staged_mve_hybrid" : "intarsia_staged_dsp_hybrid",
                  part.staged,
                  {},
                  {},
                  0};
  Staged& s = call.staged;
  s.out_c *= kResult, s.group_out *= kResult, s.row_out *= kResult;
  const int64_t run = round_up(s.kernel_h * s.kernel_w * s.group_in, int64_t{4});
  const std::optional<int64_t> scratch = choose_pieces(
      s, [&](int64_t pixels) { return vectors ? kResult : run * (pixels >= 4 ? 8 : 2); });
  if (!scratch) return std::nullopt;
  call.scratch = *scratch;
  if (vectors) {
    constexpr int64_t kTable = 12;
    call.scratch = std::max(call.scratch, s.scratch_at + choose_copies(s, kTable, kResult, waits));
  }
  Shape shape = v.in(1).shape;
  if (shape.size() == 2) shape = {shape[0], 1, 1, shape[1]};
  const std::vector<int64_t> values = v.values(1);
  const WeightRows rows =
      staged_rows(part, shape, std::vector<int8_t>(values.begin(), values.end()));
  const FloatRange range = activation_range(activation);
  s.low = range.low ? 1 : 0, s.high = range.high ? 1 : 0;
  append_hybrid_float(call.channels, range.low.value_or(0.0f));
  append_hybrid_float(call.channels, range.high.value_or(0.0f));
  append_word(call.channels, 0), append_word(call.channels, 0);
  const std::vector<HybridChannel> channels = hybrid_channels(v, rows);
  const auto count = s.group_out / kResult;
  for (auto first = int64_t{0}; first < static_cast<int64_t>(rows.size()); first += count) {
    const WeightRows own(rows.begin() + first, rows.begin() + first + count);
    const std::vector<HybridChannel> of_group(channels.begin() + first,
                                              channels.begin() + first + count);
    append_group(call, vectors ? mve_hybrid_weights(own) : paired_rows(own, run),
                 vectors ? mve_hybrid_table(of_group) : dsp_hybrid_table(of_group));
  }
  const int64_t columns = (s.pixels - 1) * s.column_stride + s.kernel_w;
  constexpr int64_t kMost = std::numeric_limits<int16_t>::max();
  const bool fits = s.fits() && s.kernel_h * s.group_in <= kMost && s.band * columns <= kMost;
  return fits ? std::optional(std::move(call)) : std::nullopt;
}

// ---- weights of nine bits ------------------------------------------------------------------------

// What all weights of a channel have more than an int8; none where they are further apart.
std::optional<int32_t> shift_of(const std::vector<int16_t>& row) {
  const auto [least, most] = std::minmax_element(row.begin(), row.end());
  if (*most - *least > 255) return std::nullopt;
  return *least + 128;
}

std::vector<uint8_t> shifted_table(const Channels& channels, const std::vector<int32_t>& shifts,
                                   bool vectors) {
  std::vector<uint8_t> bytes;
  if (!vectors) {
    constexpr size_t kPair = 32;
    bytes = channels.table();
    bytes.resize((bytes.size() + kPair - 1) / kPair * kPair);
    for (const int32_t shift : shifts) append_word(bytes, shift);
    return bytes;
  }
  constexpr size_t kQuad = 4, kBlock = 64;
  const std::vector<uint8_t> blocks = channels.block_table({0, 1, 2, 3});
  for (size_t block = 0; block * kBlock < blocks.size(); ++block) {
    const auto from = blocks.begin() + static_cast<ptrdiff_t>(block * kBlock);
    bytes.insert(bytes.end(), from, from + kBlock);
    for (size_t c = block * kQuad; c < (block + 1) * kQuad; ++c)
      append_word(bytes, c < shifts.size() ? shifts[c] : 0);
  }
  return bytes;
}

std::optional<StagedCall> shifted_call(CoreClass core, const OpView& v, const StagedPart& part,
                                       graph::Activation activation, int64_t waits) {
  constexpr int64_t kSums = 512;
  StagedCall call{{}, part.staged, {}, {}, 0};
  Staged& s = call.staged;
  Shape shape = v.in(1).shape;
  if (shape.size() == 2) shape = {shape[0], 1, 1, shape[1]};
  const std::vector<int64_t> values = v.values(1);
  const std::vector<std::vector<int16_t>> rows =
      staged_rows(part, shape, std::vector<int16_t>(values.begin(), values.end()));
  const std::optional<Channels> channels = make_channels(
      v, rows, conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization));
  if (!channels) return std::nullopt;
  WeightRows less;
  std::vector<int32_t> shifts;
  for (const std::vector<int16_t>& row : rows) {
    const std::optional<int32_t> shift = shift_of(row);
    if (!shift) return std::nullopt;
    shifts.push_back(*shift);
    less.emplace_back();
    for (const int16_t weight : row) less.back().push_back(static_cast<int8_t>(weight - *shift));
  }
  const bool vectors = core == CoreClass::Mve && channels->quick;
  call.kernel = vectors ? "intarsia_staged_mve_shifted_s8" : "intarsia_staged_dsp_shifted_s8";
  const Range range = output_range(v, activation);
  s.in_zero = zero_point(v.in(0)), s.out_zero = zero_point(v.out());
  s.low = range.low, s.high = range.high, s.row_bytes = channels->quick && !vectors ? 1 : 0;
  const int64_t run = round_up(s.kernel_h * s.kernel_w * s.group_in, int64_t{4});
  const std::optional<int64_t> scratch = choose_pieces(
      s, [&](int64_t pixels) { return vectors ? kResult : kSums + run * (pixels >= 4 ? 8 : 2); });
  if (!scratch) return std::nullopt;
  call.scratch = *scratch;
  if (vectors) {
    constexpr int64_t kTable = 20;
    call.scratch = std::max(call.scratch, s.scratch_at + choose_copies(s, kTable, 1, waits));
  }
  for (auto first = int64_t{0}; first < static_cast<int64_t>(rows.size()); first += s.group_out) {
    const auto own = [&](const auto& all) {
      return std::decay_t<decltype(all)>(all.begin() + first, all.begin() + first + s.group_out);
    };
    Channels of_group = *channels;
    of_group.list = own(channels->list);
    append_group(call, vectors ? mve_hybrid_weights(own(less)) : paired_rows(own(less), run),
                 shifted_table(of_group, own(shifts), vectors));
  }
  constexpr int64_t kMost = std::numeric_limits<int16_t>::max();
  const int64_t columns = (s.pixels - 1) * s.column_stride + s.kernel_w;
  const bool fits = s.fits() && s.kernel_h * s.group_in <= kMost && s.band * columns <= kMost;
  return fits ? std::optional(std::move(call)) : std::nullopt;
}

bool is_hybrid_product(CoreClass core, const OpView& view) {
  return (core == CoreClass::Dsp || core == CoreClass::Mve) && !view.is_constant(0) &&
         view.is_constant(1) && (!view.has(kHybridBias) || view.is_constant(kHybridBias));
}

void declare_hybrid(OpLowering& op) {
  const Shape& scales = op.view.in(kHybridScales).shape;
  op.declare({op.view.in(0).shape, std::nullopt, std::nullopt, scales, scales},
             op.view.out().shape);
}

tir::Stmt call_hybrid(OpLowering& op, const std::string& kernel, std::vector<int64_t> numbers,
                      tir::BufferId scratch, std::vector<uint8_t> weights,
                      std::vector<uint8_t> table) {
  const auto bytes = static_cast<int64_t>(weights.size()),
             words = static_cast<int64_t>(table.size() / 4);
  const BufferId values = op.constant("weights", DataType::Int8, {bytes}, std::move(weights),
                                      tir::ConstantUse::Weights);
  const BufferId channels = op.constant("channels", DataType::Int32, {words}, std::move(table),
                                        tir::ConstantUse::Weights);
  return call_kernel(op.b.func(), {kernel,
                                   std::move(numbers),
                                   {op.in(0), op.in(kHybridScales), op.in(kHybridZeros)},
                                   op.out(),
                                   scratch,
                                   {values, channels}});
}

}  // namespace

LowerKernel hybrid_kernel(CoreClass core, const OpView& view, int64_t waits) {
  if (!is_hybrid_product(core, view)) return nullptr;
  const bool rows = view.node.kind == graph::OpKind::HybridFullyConnected;
  const graph::Activation activation =
      rows ? view.node.attrs<graph::FullyConnectedAttrs>().activation
           : view.node.attrs<graph::Conv2dAttrs>().activation;
  const StagedPart part = rows ? hybrid_rows(view) : staged_parts(view, 1)[0];
  const std::optional<StagedCall> call = hybrid_call(core, view, part, activation, waits);
  if (!call) return nullptr;
  return [call = *call](OpLowering& op) {
    declare_hybrid(op);
    const BufferId scratch = op.b.local("scratch", DataType::Int8, {call.scratch}, 4);
    return call_hybrid(op, call.kernel, call.staged.values(), scratch, call.weights, call.channels);
  };
}

LowerKernel shifted_kernel(CoreClass core, const OpView& view, int64_t waits) {
  if ((core != CoreClass::Dsp && core != CoreClass::Mve) ||
      !is_int8_dot_product(view, DataType::Int16))
    return nullptr;
  const bool rows = view.node.kind == graph::OpKind::FullyConnected;
  StagedPart part = rows ? hybrid_rows(view) : staged_parts(view, 1)[0];
  const std::optional<StagedCall> call =
      shifted_call(core, view, part,
                   rows ? view.node.attrs<graph::FullyConnectedAttrs>().activation
                        : view.node.attrs<graph::Conv2dAttrs>().activation,
                   waits);
  if (!call) return nullptr;
  return [call = *call](OpLowering& op) { return lower_staged(op, {call}); };
}

LowerKernel row_steps_kernel(CoreClass core) {
  if (core != CoreClass::Dsp && core != CoreClass::Mve) return nullptr;
  return [](OpLowering& op) {
    const auto& a = op.view.node.attrs<graph::QuantizeRowsAttrs>();
    const int64_t count = element_count(op.view.in(0).shape) / a.rows;
    if (a.together) {
      const int64_t all = a.rows * count;
      op.declare({Shape{all}}, {Shape{all}, Shape{a.rows}, Shape{a.rows}});
      const std::vector<Expr> start{tir::int_imm(0)};
      return tir::intrinsic("intarsia_rows_to_steps_together",
                            {tir::BufferRun{op.in(0), start, all, tir::Access::Read},
                             tir::BufferRun{op.out(), start, all, tir::Access::Write},
                             tir::BufferRun{op.out(1), start, a.rows, tir::Access::Write},
                             tir::BufferRun{op.out(2), start, a.rows, tir::Access::Write},
                             tir::int_imm(a.rows), tir::int_imm(all)});
    }
    const std::string kernel =
        a.asymmetric ? "intarsia_row_to_steps_asymmetric" : "intarsia_row_to_steps";
    op.declare({Shape{a.rows, count}}, {Shape{a.rows, count}, Shape{a.rows}, Shape{a.rows}});
    return op.b.loop("row", a.rows, [&](const Expr& row) {
      const std::vector<Expr> start{row, tir::int_imm(0)};
      return tir::intrinsic(
          kernel, {tir::BufferRun{op.in(0), start, count, tir::Access::Read},
                   tir::BufferRun{op.out(), start, count, tir::Access::Write},
                   tir::BufferRun{op.out(1), {row}, 1, tir::Access::Write},
                   tir::BufferRun{op.out(2), {row}, 1, tir::Access::Write}, tir::int_imm(count)});
    });
  };
}

LowerKernel hybrid_depthwise_kernel(CoreClass core, const OpView& view) {
  constexpr int64_t kFewest = 4;
  const auto& a = view.node.attrs<graph::DepthwiseConv2dAttrs>();
  const Shape &in = view.in(0).shape, &out = view.out().shape;
  if (!is_hybrid_product(core, view) || in[3] != out[3] || out[3] < kFewest) return nullptr;
  const FloatRange range = activation_range(a.activation);
  const Window w = float_depthwise_window(view);
  if (!w.fits()) return nullptr;
  std::vector<uint8_t> table;
  append_hybrid_float(table, range.low.value_or(0.0f));
  append_hybrid_float(table, range.high.value_or(0.0f));
  const std::vector<HybridChannel> channels =
      hybrid_channels(view, WeightRows(static_cast<size_t>(out[3])));
  for (const HybridChannel& channel : channels) append_hybrid_float(table, channel.scale);
  for (const HybridChannel& channel : channels) append_hybrid_float(table, channel.bias);
  return [w, table](OpLowering& op) {
    declare_hybrid(op);
    return call_hybrid(op, "intarsia_hybrid_depthwise", w.values(), {}, op.view.stored_bytes(1),
                       table);
  };
}

}  // namespace intarsia::targets::cortex_m
