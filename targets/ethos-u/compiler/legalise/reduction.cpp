// Sums, means and extremes over axes: pools whose window is what is reduced.
#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/hardware.h"
#include "hardware/limits.h"
#include "intarsia/targets/ethos_u/timing.h"
#include "legalise/operators.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

// The input seen as [outer, first, between, second, inner], of which `first` and `second` are reduced. Where what is
// reduced lies in one piece, `between` and `second` are 1.
struct Reduction {
  int64_t outer = 1, first = 1, between = 1, second = 1, inner = 1;
  int64_t parts =
      1;  // of `inner`, where that is longer than channels are; one window goes through all of them

  int64_t reduced() const { return first * second; }
  // One window for each of these where the reduced axes do not lie beside each other: windows have two axes, of rows and of
  // columns, and these are taken by `first` and `second`.
  int64_t windows() const { return outer * between; }
  bool in_one_piece() const { return second == 1; }
};

constexpr int64_t kMostWindows = 64;

// As few as there are of which none is longer than channels are; 1 where there are none.
int64_t parts_of(int64_t inner) {
  for (int64_t parts = 1; parts <= kMostExtent; ++parts)
    if (inner % parts == 0 && inner / parts <= kMostExtent) return parts;
  return 1;
}

// Nothing where the reduced axes lie in three pieces or more.
std::optional<Reduction> reduction_of(const Shape& shape, const std::vector<int64_t>& axes) {
  Reduction r;
  int64_t Reduction::*last = &Reduction::outer;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    const bool reduces = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
    const bool reduced_before = last == &Reduction::first || last == &Reduction::second;
    if (reduces != reduced_before) {
      if (last == &Reduction::inner) return std::nullopt;
      last = last == &Reduction::outer     ? &Reduction::first
             : last == &Reduction::first   ? &Reduction::between
             : last == &Reduction::between ? &Reduction::second
                                           : &Reduction::inner;
    }
    r.*last *= shape[i];
  }
  // Nothing is reduced behind what seemed to lie between.
  if (last == &Reduction::between) std::swap(r.between, r.inner);
  if (r.in_one_piece()) r.parts = parts_of(r.inner);
  return r;
}

// A sum's factor. TFLM makes a mean's division part of it: shifted left as far as the count lets it keep bits.
FixedFactor sum_factor(const Site& site, int64_t count) {
  FixedFactor factor = fixed_factor(scale_of(site.in()) / scale_of(site.out()));
  if (site.node.kind == graph::OpKind::Sum) return factor;
  int shift = std::min(static_cast<int>(std::bit_width(static_cast<uint64_t>(count))) - 1, 32);
  shift = std::min(shift, 31 + factor.exponent);
  factor.value = static_cast<int32_t>((int64_t{factor.value} << shift) / count);
  factor.exponent -= shift;
  return factor;
}

// -1 - x, which has no overflow and turns the least into the largest.
void reverse(Builder& builder, const Operand& from, const Operand& to) {
  Operation op = builder.start(OperationKind::Sub, from, to);
  op.ifm.zero_point = op.ofm.zero_point = 0;
  op.ifm2_scalar = -1;
  op.ifm2_type = builder.type_of(from);
  op.reverse_operands = true;
  op.global_scale = op.ifm_scale = op.ifm2_scale = ChannelScale{.multiplier = 1};
  builder.emit(std::move(op));
}

// The largest of the largest: where few channels are left, most of a micro-block would be idle, so that neighbours become
// channels first, as many as a brick has, and are reduced in the end.
std::vector<Reduction> stages_of(const Reduction& r) {
  if (!r.in_one_piece() || r.inner >= kBrickDepth) return {r};
  int64_t beside = kBrickDepth / r.inner;
  while (r.first % beside != 0) --beside;
  const Reduction first = {.outer = r.outer, .first = r.first / beside, .inner = beside * r.inner},
                  second = {.outer = r.outer, .first = beside, .inner = r.inner};
  const int64_t saved = r.outer * (r.first - first.first - second.first);
  if (saved <= 3 * isa::ethos_u::kAssumed.command_start) return {r};
  return {first, second};
}

// What a pool reads, writes, and the height and width of its window.
struct ReducedWindow {
  Operand from, to;
  int32_t height, width;
};

// Rows are the parts, and columns what is reduced: none of them lies beside the next one.
std::vector<ReducedWindow> windows_of_parts(const Operand& from, const Operand& to,
                                            const Reduction& r) {
  const auto parts = static_cast<int32_t>(r.parts), first = static_cast<int32_t>(r.first),
             depth = static_cast<int32_t>(r.inner / r.parts);
  std::vector<ReducedWindow> windows;
  for (int32_t o = 0; o < r.outer; ++o) {
    ReducedWindow w{from, box(to, {o * parts, 0, 0}, {parts, 1, depth}), 1, first};
    w.from.walk = Walk{depth, r.inner};
    w.from.origin = {0, o * first, 0};
    w.from.extent = {parts, first, depth};
    windows.push_back(w);
  }
  return windows;
}

// `to` has the extent [outer * between, 1, inner], and where `inner` has parts [outer * parts, 1, inner / parts].
std::vector<ReducedWindow> windows_of(Builder& builder, const Operand& from, const Operand& to,
                                      const Reduction& r) {
  const auto whole = [](int64_t value) { return static_cast<int32_t>(value); };
  if (r.parts > 1) return windows_of_parts(builder.in_one_piece(from), to, r);
  if (r.in_one_piece())
    return {{builder.reshaped(from, {whole(r.outer), whole(r.first), whole(r.inner)}), to, 1,
             whole(r.first)}};
  std::vector<ReducedWindow> windows;
  const Operand rows = builder.reshaped(
      from, {whole(r.outer * r.first * r.between), whole(r.second), whole(r.inner)});
  for (int64_t o = 0; o < r.outer; ++o)
    for (int64_t k = 0; k < r.between; ++k) {
      ReducedWindow w{rows, box(to, {whole(o * r.between + k), 0, 0}, {1, 1, whole(r.inner)}),
                      whole(r.first), whole(r.second)};
      if (r.first <= kMostPoolHeight) {
        w.from = box(rows, {whole(o * r.first * r.between + k), 0, 0},
                     {whole(r.first), whole(r.second), whole(r.inner)});
        w.from.step.height = whole(r.between);
      } else {
        // A window of many rows and few columns is read column by column.
        std::swap(w.height, w.width);
        w.from.walk = Walk{r.inner, r.between * r.second * r.inner};
        w.from.origin = {whole(k * r.second), whole(o * r.first), 0};
        w.from.extent = {w.height, w.width, whole(r.inner)};
      }
      windows.push_back(w);
    }
  return windows;
}

}  // namespace

static Reason check_reduction(const Site& site) {
  const auto& axes = site.node.attrs<graph::ReduceAttrs>().axes;
  const std::optional<Reduction> r = reduction_of(site.in().shape, axes);
  const auto text = [&] {
    return fmt::format("the reduced axes {} of [{}]", fmt::join(axes, ", "),
                       fmt::join(site.in().shape, ","));
  };
  if (!r) return fmt::format("{} lie in more than two pieces", text());
  if (r->reduced() > kMostPoolElements)
    return fmt::format("a reduction of {} elements is above {}", r->reduced(), kMostPoolElements);
  if (r->parts > 1 && r->outer > kMostWindows)
    return fmt::format("{} take {} operations, more than {}", text(), r->outer, kMostWindows);
  if (!r->in_one_piece() && r->windows() > kMostWindows)
    return fmt::format("{} do not lie beside each other and take {} operations, more than {}",
                       text(), r->windows(), kMostWindows);
  if (std::min(r->first, r->second) > kMostPoolHeight)
    return fmt::format("{} are a window of {} x {}, higher than {}", text(), r->first, r->second,
                       kMostPoolHeight);
  if (r->windows() * r->parts > kMostExtent || r->inner / r->parts > kMostExtent)
    return fmt::format("{} x {} reductions are above {} x {}", r->windows(), r->inner, kMostExtent,
                       kMostExtent);
  if (!r->in_one_piece() && r->outer * r->first * r->between > kMostExtent)
    return fmt::format("{} are taken from {} rows, above {}", text(),
                       r->outer * r->first * r->between, kMostExtent);
  return std::nullopt;
}

Reason refuses_extreme(const Site& site) {
  if (site.in().quantization != site.out().quantization)
    return std::string("input and output differ in quantisation");
  return check_reduction(site);
}

static Extent extent_of_result(const Reduction& r) {
  return {static_cast<int32_t>(r.windows() * r.parts), 1, static_cast<int32_t>(r.inner / r.parts)};
}

// The least is the largest of the reversed.
void legalise_extreme(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Reduction r = *reduction_of(site.in().shape, node.attrs<graph::ReduceAttrs>().axes);
  const DataType type = site.in().type;
  Operand from = builder.read(node.inputs.at(0));
  const Operand to = builder.write_as(node.outputs.at(0), extent_of_result(r));
  const bool least = node.kind == graph::OpKind::ReduceMin;
  if (least) {
    const Operand reversed = builder.inner("reversed", type, from.extent);
    reverse(builder, from, reversed);
    from = reversed;
  }
  const std::vector<Reduction> stages = stages_of(r);
  for (const Reduction& stage : stages) {
    const bool is_last = &stage == &stages.back();
    const Operand largest =
        is_last && !least ? to : builder.inner("largest", type, extent_of_result(stage));
    for (const ReducedWindow& w : windows_of(builder, from, largest, stage)) {
      Operation op = builder.start(OperationKind::MaxPool, w.from, w.to);
      op.ifm.zero_point = op.ofm.zero_point = 0;
      op.kernel.height = w.height;
      op.kernel.width = w.width;
      builder.emit(std::move(op));
    }
    from = largest;
  }
  if (least) reverse(builder, from, to);
}

Reason refuses_sum(const Site& site) {
  if (Reason reason = check_reduction(site)) return reason;
  const std::optional<Reduction> r =
      reduction_of(site.in().shape, site.node.attrs<graph::ReduceAttrs>().axes);
  if (!channel_scale(sum_factor(site, r->reduced())))
    return std::string("the scales of input and output are too far apart");
  return std::nullopt;
}

void legalise_sum(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Shape& shape = site.in().shape;
  const auto& axes = node.attrs<graph::ReduceAttrs>().axes;
  const Reduction r = *reduction_of(shape, axes);
  const Operand from = builder.read(node.inputs.at(0));
  const Operand to = builder.write_as(node.outputs.at(0), extent_of_result(r));
  // Over height and width of one image the input can stay as it is.
  const bool as_it_is = shape.size() == 4 && shape[0] == 1 && axes == std::vector<int64_t>{1, 2} &&
                        shape[1] <= kMostPoolHeight;
  const std::vector<ReducedWindow> windows =
      as_it_is ? std::vector<ReducedWindow>{{from, builder.reshaped(to, {1, 1, from.extent.depth}),
                                             from.extent.height, from.extent.width}}
               : windows_of(builder, from, to, r);
  for (const ReducedWindow& w : windows) {
    Operation op = builder.start(OperationKind::AveragePool, w.from, w.to);
    op.kernel.height = w.height;
    op.kernel.width = w.width;
    op.global_scale = *channel_scale(sum_factor(site, r.reduced()));
    builder.emit(std::move(op));
  }
}

}  // namespace intarsia::targets::ethos_u
