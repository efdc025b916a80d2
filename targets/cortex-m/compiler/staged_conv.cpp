// Grouped convolution, convolution dilated by columns, and transposed convolution, all made of plain ones:
// device/staged_conv.h.
#include <algorithm>
#include <limits>
#include <numeric>

#include "kernel_costs.h"
#include "operators.h"
#include "staged_conv.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kWord = 4, kVector = 16;

// How results of one axis, one in every `step` of them, see the input.
struct Phase {
  int64_t first, step;          // of the output
  int64_t start;                // position of the first tap for the first result
  std::vector<int64_t> kernel;  // positions in the kernel, in the order of the input; -1: none
};

std::vector<Phase> phases_of(int64_t kernel, int64_t stride, int64_t pad, int64_t out) {
  std::vector<Phase> phases;
  for (int64_t first = 0; first < std::min(stride, out); ++first) {
    const int64_t remainder = (first + pad) % stride;
    Phase phase{first, stride, 0, {}};
    for (int64_t k = remainder; k < kernel; k += stride)
      phase.kernel.insert(phase.kernel.begin(), k);
    if (phase.kernel.empty()) phase.kernel.push_back(-1);
    phase.start = (first + pad) / stride - (static_cast<int64_t>(phase.kernel.size()) - 1);
    phases.push_back(std::move(phase));
  }
  return phases;
}

std::vector<int64_t> all_taps(int64_t count) {
  std::vector<int64_t> taps(static_cast<size_t>(count));
  std::iota(taps.begin(), taps.end(), 0);
  return taps;
}

Staged whole_image(const OpView& v, int64_t bytes) {
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  Staged s;
  s.batches = in[0], s.in_h = in[1], s.in_w = in[2], s.in_c = bytes * in[3];
  s.out_h = out[1], s.out_w = out[2], s.out_c = bytes * out[3];
  s.groups = 1, s.group_in = s.in_c, s.group_out = s.row_out = s.out_c;
  s.row_step = s.column_step = s.phases = 1;
  s.row_stride = s.column_stride = s.tap_rows = s.tap_columns = 1;
  return s;
}

// All results of a window of the input at once, where they are as many for every input column, or row. Columns are neighbours in the
// output, which is one of fewer columns with more channels then.
bool go_together(const std::vector<Phase>& phases, int64_t stride, int64_t out) {
  return out % stride == 0 && std::all_of(phases.begin(), phases.end(), [&](const Phase& phase) {
           return phase.start == phases[0].start && phase.kernel.size() == phases[0].kernel.size();
         });
}

// Windows as wide as all of them, with taps that have no weights.
void widen_together(std::vector<Phase>& phases) {
  int64_t start = phases[0].start, end = start;
  for (const Phase& phase : phases) {
    start = std::min(start, phase.start);
    end = std::max(end, phase.start + static_cast<int64_t>(phase.kernel.size()));
  }
  for (Phase& phase : phases) {
    phase.kernel.insert(phase.kernel.begin(), static_cast<size_t>(phase.start - start), -1);
    phase.kernel.resize(static_cast<size_t>(end - start), -1);
    phase.start = start;
  }
}

std::vector<StagedPart> parts_of_transposed(const OpView& v, int64_t bytes, Joined joined) {
  const auto& a = v.node.attrs<graph::TransposeConv2dAttrs>();
  const Shape &weights = v.in(1).shape, &out = v.out().shape;
  std::vector<StagedPart> parts;
  std::vector<Phase> columns = phases_of(weights[2], a.stride_w, a.pad_left, out[2]),
                     rows = phases_of(weights[1], a.stride_h, a.pad_top, out[1]);
  if (joined.widened) widen_together(columns);
  if (joined.widened && joined.rows) widen_together(rows);
  const bool together = go_together(columns, a.stride_w, out[2]),
             rows_together = joined.rows && go_together(rows, a.stride_h, out[1]);
  for (const Phase& y : rows)
    for (const Phase& x : columns) {
      if ((together && x.first != 0) || (rows_together && y.first != 0)) {
        StagedPart& part = together ? parts.back() : parts[static_cast<size_t>(x.first)];
        part.taps.push_back({y.kernel, x.kernel});
        continue;
      }
      Staged s = whole_image(v, bytes);
      s.row_first = y.first, s.row_step = y.step, s.top = y.start;
      s.column_first = x.first, s.column_step = x.step, s.left = x.start;
      s.kernel_h = static_cast<int64_t>(y.kernel.size());
      s.kernel_w = static_cast<int64_t>(x.kernel.size());
      if (together) {
        s.out_w /= a.stride_w, s.out_c *= a.stride_w;
        s.group_out = s.row_out = s.out_c, s.column_step = 1;
      }
      if (rows_together) s.group_out *= a.stride_h;
      parts.push_back({s, {{y.kernel, x.kernel}}});
    }
  return parts;
}

std::vector<StagedPart> parts_of_convolution(const OpView& v, int64_t bytes) {
  const auto& a = v.node.attrs<graph::Conv2dAttrs>();
  const Shape &weights = v.in(1).shape, &out = v.out().shape;
  Staged s = whole_image(v, bytes);
  s.groups = v.in(0).shape[3] / weights[3], s.group_in = bytes * weights[3],
  s.group_out = s.row_out = s.out_c / s.groups;
  s.top = -a.padding.top, s.left = -a.padding.left;
  s.row_stride = a.stride_h, s.tap_rows = a.dilation_h;
  s.kernel_h = weights[1], s.kernel_w = weights[2];
  // Results whose taps are the same columns modulo the dilation share their staged columns.
  const int64_t dilation = weights[2] == 1 ? 1 : a.dilation_w;
  const int64_t common = std::gcd(dilation, a.stride_w);
  s.tap_columns = dilation, s.column_stride = a.stride_w / common;
  s.phase_shift = a.stride_w;
  s.column_step = dilation / common, s.phases = std::min(s.column_step, out[2]);
  return {{s, {{all_taps(weights[1]), all_taps(weights[2])}}}};
}

// Bytes that the convolution itself works in.
int64_t own_scratch(CoreClass core, const Staged& s, bool vectors, int64_t pixels) {
  constexpr int64_t kLongBlock = 6, kDspBlock = 4;
  const int64_t bytes = s.kernel_h * s.kernel_w * s.group_in, run = round_up(bytes, kWord);
  if (vectors) return kWord;
  switch (core) {
    case CoreClass::Lanes:  // has kernels of its own
    case CoreClass::Rv32:
    case CoreClass::Thumb:
      return run;
    case CoreClass::Long:
      return pixels >= kLongBlock ? 14 * run : run;
    default:
      return run * ((pixels >= kDspBlock ? 8 : 2) + (s.kernel_h * s.group_in % kWord != 0 ? 1 : 0));
  }
}

int64_t staged_bytes(const Staged& s) {
  const int64_t columns = (s.pixels - 1) * s.column_stride + s.kernel_w;
  return round_up(s.band * columns * s.kernel_h * s.group_in + kVector, kWord);
}
bool lies_together(const Staged& s) {
  return s.group_out == s.out_c && s.column_step == 1 && s.row_step == 1;
}

int64_t place_scratch(Staged& s, const std::function<int64_t(int64_t)>& own) {
  s.results_at = staged_bytes(s);
  s.scratch_at =
      s.results_at + (lies_together(s) ? 0 : round_up(s.band * s.pixels * s.group_out, kWord));
  return s.scratch_at + own(s.band * s.pixels);
}

ConvConstants constants_of(CoreClass core, bool vectors, const Conv& conv,
                           const Channels& channels) {
  if (vectors) return mve_conv_constants(conv, channels);
  if (core >= CoreClass::Dsp) return dsp_conv_constants(conv, channels);
  return {filled_rows(conv.rows, round_up(conv.window.kernel_w * conv.window.in_c, kWord)),
          channels.table()};
}

// Of each group; by four channels where all groups can be.
struct GroupConstants {
  std::string dsp_kernel;
  std::vector<ConvConstants> groups;
};

GroupConstants group_constants(CoreClass core, bool vectors, Conv conv, const WeightRows& rows,
                               const Channels& channels) {
  const int64_t count = conv.window.out_c;
  const auto all_by = [&](const auto& constants) {
    std::vector<ConvConstants> made;
    for (size_t first = 0; first < rows.size(); first += static_cast<size_t>(count)) {
      const auto slice = [&](const auto& all) {
        const auto from = all.begin() + static_cast<ptrdiff_t>(first);
        return std::decay_t<decltype(all)>(from, from + static_cast<ptrdiff_t>(count));
      };
      conv.rows = slice(rows);
      Channels own = channels;
      own.list = slice(channels.list);
      std::optional<ConvConstants> of_group = constants(conv, own);
      if (!of_group) return std::vector<ConvConstants>{};
      made.push_back(std::move(*of_group));
    }
    return made;
  };
  if (core >= CoreClass::Dsp && !vectors) {
    std::vector<ConvConstants> by_four = all_by(dsp_conv_by_four_constants);
    if (!by_four.empty()) return {"intarsia_staged_dsp_conv_by_four", std::move(by_four)};
  }
  return {"intarsia_staged_dsp_conv", all_by([&](const Conv& group, const Channels& own) {
            return std::optional(constants_of(core, vectors, group, own));
          })};
}

std::string kernel_of(CoreClass core, bool vectors, const std::string& dsp_kernel,
                      const Channels& channels, const Window& w, int64_t pixels) {
  constexpr int64_t kLongBlock = 6;
  if (vectors) return "intarsia_staged_mve_conv_s8";
  if (core >= CoreClass::Dsp) return dsp_kernel_for(dsp_kernel, channels, w);
  const bool pairs = core == CoreClass::Long && pixels >= kLongBlock;
  return kernel_for(pairs ? "intarsia_staged_long_conv" : "intarsia_staged_thumb_conv", channels,
                    w);
}

std::optional<StagedCall> make_call(CoreClass core, const OpView& v, const StagedPart& part,
                                    Range range, bool small) {
  StagedCall call{{}, part.staged, {}, {}, 0};
  const std::vector<int64_t> values = v.values(1);
  const WeightRows rows =
      staged_rows(part, v.in(1).shape, std::vector<int8_t>(values.begin(), values.end()));
  Staged& s = call.staged;
  std::optional<Channels> channels = make_channels(
      v, rows, conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization));
  if (!channels) return std::nullopt;
  channels->shared = small;
  // Without SIMD, staging an element costs as much as leaving its products to the loops where fewer channels share it.
  constexpr int64_t kShared = 4;
  if (lacks_simd(core) && s.group_out < kShared) return std::nullopt;
  const bool vectors = core == CoreClass::Mve && channels->quick;
  s.in_zero = zero_point(v.in(0)), s.out_zero = zero_point(v.out());
  s.low = range.low, s.high = range.high;
  const std::optional<int64_t> scratch =
      choose_pieces(s, [&](int64_t pixels) { return own_scratch(core, s, vectors, pixels); });
  if (!scratch) return std::nullopt;
  call.scratch = *scratch;
  // One group as the kernels see it.
  Conv conv;
  conv.window.in_c = s.kernel_h * s.group_in, conv.window.kernel_h = 1;
  conv.window.kernel_w = s.kernel_w, conv.window.out_c = s.group_out;
  conv.window.low = s.low, conv.window.high = s.high, conv.window.out_zero = s.out_zero;
  conv.window.in_w = (s.pixels - 1) * s.column_stride + s.kernel_w;
  conv.window.in_h = s.band + kVector;
  if (!vectors && core >= CoreClass::Dsp)
    s.row_bytes = conv.window.strip_w = round_up(s.kernel_h * s.kernel_w * s.group_in, kWord);
  const GroupConstants made = group_constants(core, vectors, conv, rows, *channels);
  call.kernel =
      kernel_of(core, vectors, made.dsp_kernel, *channels, conv.window, s.band * s.pixels);
  for (const ConvConstants& group : made.groups) append_group(call, group.weights, group.channels);
  return conv.window.fits() && s.fits() ? std::optional(std::move(call)) : std::nullopt;
}

}  // namespace

bool Staged::fits() const {
  const std::vector<int64_t> all = values();
  return std::all_of(all.begin(), all.end(), [](int64_t value) {
    return value >= std::numeric_limits<int16_t>::min() &&
           value <= std::numeric_limits<int16_t>::max();
  });
}

std::vector<StagedPart> staged_parts(const OpView& view, int64_t bytes, Joined joined) {
  return view.node.kind == graph::OpKind::TransposeConv2d ? parts_of_transposed(view, bytes, joined)
                                                          : parts_of_convolution(view, bytes);
}

std::optional<int64_t> choose_pieces(Staged& s, const std::function<int64_t(int64_t)>& own) {
  constexpr int64_t kScratch = 4096, kEnough = 32, kBlock = 4;
  const int64_t rows = ceil_div(s.out_h - s.row_first, s.row_step),
                row = ceil_div(s.out_w - s.column_first, s.column_step);
  const auto bytes = [&](int64_t band, int64_t pixels) {
    s.band = band, s.pixels = pixels;
    return place_scratch(s, own);
  };
  int64_t pixels = row;
  while (pixels > kBlock && bytes(1, pixels) > kScratch) pixels = round_up(pixels, kBlock) - kBlock;
  int64_t band = 1;
  while (pixels == row && band < rows && band * row < kEnough && bytes(band + 1, row) <= kScratch)
    ++band;
  const int64_t needed = bytes(band, pixels);
  return needed <= kMostScratch ? std::optional(needed) : std::nullopt;
}

void append_group(StagedCall& call, const std::vector<uint8_t>& weights,
                  const std::vector<uint8_t>& channels) {
  call.weights.insert(call.weights.end(), weights.begin(), weights.end());
  call.channels.insert(call.channels.end(), channels.begin(), channels.end());
  Staged& s = call.staged;
  if (s.groups == 1) return;
  s.weights_step = static_cast<int64_t>(weights.size()) / kWord;
  s.channels_step = static_cast<int64_t>(channels.size()) / kWord;
}

std::optional<double> cycles_of_calls(CoreClass core, const std::vector<StagedCall>& calls) {
  std::vector<KernelWork> work;
  for (const StagedCall& call : calls)
    for (KernelWork& part : staged(core, call.kernel, call.staged.values()))
      work.push_back(std::move(part));
  return cycles_of_work(core_of_class(core), work);
}

Stmt lower_staged(OpLowering& op, const std::vector<StagedCall>& calls) {
  const Shape in = op.view.in(0).shape, out = op.view.out().shape;
  const bool real = op.view.out().type == DataType::Float32;
  op.declare({in}, out);
  int64_t bytes = 0;
  for (const StagedCall& call : calls) bytes = std::max(bytes, call.scratch);
  const BufferId scratch = op.b.local("scratch", DataType::Int8, {bytes}, kWord);
  std::vector<Stmt> steps;
  for (const StagedCall& call : calls) {
    const auto size = static_cast<int64_t>(call.weights.size()) / (real ? kWord : 1);
    const BufferId weights = op.constant("weights", real ? DataType::Float32 : DataType::Int8,
                                         {size}, call.weights, tir::ConstantUse::Weights);
    std::vector<BufferId> constants = {weights};
    const auto words = static_cast<int64_t>(call.channels.size()) / kWord;
    if (words > 0)
      constants.push_back(op.constant("channels", real ? DataType::Float32 : DataType::Int32,
                                      {words}, call.channels, tir::ConstantUse::Weights));
    steps.push_back(
        call_kernel(op.b.func(),
                    {call.kernel, call.staged.values(), {op.in(0)}, op.out(), scratch, constants}));
  }
  return tir::seq(std::move(steps));
}

std::optional<std::vector<StagedCall>> cheapest_calls(
    CoreClass core, const OpView& view, int64_t bytes,
    const std::function<std::optional<StagedCall>(const StagedPart&)>& make) {
  constexpr size_t kMostParts = 16;
  const auto made_of = [&](Joined joined) -> std::optional<std::vector<StagedCall>> {
    const std::vector<StagedPart> parts = staged_parts(view, bytes, joined);
    if (parts.size() > kMostParts) return std::nullopt;
    std::vector<StagedCall> calls;
    for (const StagedPart& part : parts) {
      std::optional<StagedCall> call = make(part);
      if (!call) return std::nullopt;
      calls.push_back(std::move(*call));
    }
    return calls;
  };
  std::optional<std::vector<StagedCall>> best = made_of({});
  if (view.node.kind != graph::OpKind::TransposeConv2d || (best && best->size() == 1)) return best;
  const bool real = view.out().type == DataType::Float32;
  for (const Joined joined :
       {Joined{.widened = false, .rows = true}, Joined{.widened = true, .rows = false},
        Joined{.widened = true, .rows = true}}) {
    if (joined.widened && real) continue;
    std::optional<std::vector<StagedCall>> calls = made_of(joined);
    if (!calls || (best && calls->size() == best->size())) continue;
    const std::optional<double> cycles = cycles_of_calls(core, *calls),
                                least = best ? cycles_of_calls(core, *best) : std::nullopt;
    if (!best || (cycles && least && *cycles < *least)) best = std::move(calls);
  }
  return best;
}

LowerKernel staged_kernel(CoreClass core, const OpView& view, bool small) {
  if (!is_int8_dot_product(view)) return nullptr;
  const bool transposed = view.node.kind == graph::OpKind::TransposeConv2d;
  const graph::Activation activation =
      transposed ? view.node.attrs<graph::TransposeConv2dAttrs>().activation
                 : view.node.attrs<graph::Conv2dAttrs>().activation;
  const Range range = output_range(view, activation);
  std::optional<std::vector<StagedCall>> calls = cheapest_calls(
      core, view, 1,
      [&](const StagedPart& part) { return make_call(core, view, part, range, small); });
  if (!calls) return nullptr;
  return [calls = std::move(*calls)](OpLowering& op) { return lower_staged(op, calls); };
}

}  // namespace intarsia::targets::cortex_m
