// Pools, and sums and means, which are average pools with a scale of their own.
#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/limits.h"
#include "legalise/operators.h"
#include "legalise/window_axis.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

struct PoolWindow {
  WindowAxis y, x;
  bool padded() const { return y.before + x.before + y.after() + x.after() != 0; }
};

PoolWindow pool_window_of(const Site& site) {
  const auto& a = site.node.attrs<graph::Pool2dAttrs>();
  const Shape &in = site.in().shape, &out = site.out().shape;
  return {{in.at(1), out.at(1), a.filter_h, a.stride_h, 1, a.padding.top},
          {in.at(2), out.at(2), a.filter_w, a.stride_w, 1, a.padding.left}};
}

Reason check_size(const PoolWindow& w) {
  if (w.y.kernel > kMostPoolHeight)
    return fmt::format("a window {} high is above {}", w.y.kernel, kMostPoolHeight);
  if (w.y.kernel * w.x.kernel > kMostPoolElements)
    return fmt::format("a window of {} x {} has more than {} elements", w.y.kernel, w.x.kernel,
                       kMostPoolElements);
  return std::nullopt;
}

// Neighbouring places of a window along an axis that one operation makes: at all of them the same elements
// of the window lie inside of the input.
struct Run {
  int64_t first, count;  // places
  int64_t from, kernel;  // the first input element, and how many the window sees
};

std::vector<Run> runs_of(const WindowAxis& axis) {
  std::vector<Run> runs;
  for (int64_t place = 0; place < axis.places; ++place) {
    const int64_t begin = place * axis.stride - axis.before;
    const int64_t from = std::max<int64_t>(begin, 0);
    const int64_t kernel = std::min(begin + axis.kernel, axis.extent) - from;
    const bool continues = !runs.empty() && axis.stride <= kMostStride && kernel == axis.kernel &&
                           runs.back().kernel == kernel;
    if (continues)
      ++runs.back().count;
    else
      runs.push_back({place, 1, from, kernel});
  }
  return runs;
}

// Pools that the hardware does not make in one operation become several without padding.
struct Pieces {
  std::vector<Run> y, x;
  size_t count() const { return y.size() * x.size(); }
};
constexpr size_t kMostPoolPieces = 128;

Reason why_in_pieces(const PoolWindow& w, bool average) {
  if (Reason reason = check_strides(w.y, w.x)) return reason;
  if (average && w.padded() && (w.y.kernel > kMostPaddedAverage || w.x.kernel > kMostPaddedAverage))
    return fmt::format("a padded average over {} x {} is above {} x {}", w.y.kernel, w.x.kernel,
                       kMostPaddedAverage, kMostPaddedAverage);
  return check_pads(w.y, w.x);
}

Pieces pieces_of(const PoolWindow& w) {
  return {runs_of(w.y), runs_of(w.x)};
}

Reason check_window(const PoolWindow& w, bool average) {
  if (Reason reason = check_size(w)) return reason;
  const Reason why = why_in_pieces(w, average);
  if (!why) return std::nullopt;
  const Pieces pieces = pieces_of(w);
  if (pieces.count() > kMostPoolPieces)
    return fmt::format("{}, and without padding it is {} x {} pools, more than {}", *why,
                       pieces.y.size(), pieces.x.size(), kMostPoolPieces);
  for (const std::vector<Run>* axis : {&pieces.y, &pieces.x})
    for (const Run& run : *axis)
      if (run.kernel <= 0) return fmt::format("{}, and a window sees nothing but padding", *why);
  return std::nullopt;
}

// Whether a scale divides every sum of `count` elements as TFLite does, to nearest, ties away from zero: both
// never decrease, so that the least and the largest sum of each quotient settle it.
bool divides(const ChannelScale& scale, int64_t count, const Clamp& range) {
  const int64_t half = count / 2;
  const auto least = [&](int64_t quotient) {
    return quotient > 0 ? quotient * count - half : (quotient - 1) * count + half + 1;
  };
  for (int64_t quotient = range.low; quotient <= range.high; ++quotient) {
    const int64_t first = std::max(least(quotient), range.low * count);
    const int64_t last = std::min(-least(-quotient), range.high * count);
    if (scaled(first, scale, Rounding::Tfl) != quotient ||
        scaled(last, scale, Rounding::Tfl) != quotient)
      return false;
  }
  return true;
}

// A scale that divides so, where there is one. The candidates are 2^(31+k) / count rounded either way, with k
// the bits of the count.
std::optional<ChannelScale> divide_by(int64_t count, DataType type) {
  if (count == 1) return ChannelScale{.multiplier = 1};
  const int k = std::bit_width(static_cast<uint64_t>(count - 1));
  const int64_t nearest = (int64_t{1} << (31 + k)) / count;
  for (const int64_t multiplier :
       {((int64_t{1} << (31 + k)) + (int64_t{1} << k)) / count, nearest + 1, nearest}) {
    if (multiplier >= int64_t{1} << 32) continue;
    const ChannelScale scale{.multiplier = static_cast<uint32_t>(multiplier), .shift = 31 + k};
    if (divides(scale, count, range_of(type))) return scale;
  }
  return std::nullopt;
}

Kernel kernel_of(int64_t height, int64_t width, const PoolWindow& w) {
  return {.height = static_cast<int32_t>(height),
          .width = static_cast<int32_t>(width),
          .stride_y = static_cast<int32_t>(w.y.step()),
          .stride_x = static_cast<int32_t>(w.x.step())};
}

// Of one image, both operands without zero points: they are equal, and both reductions commute with a shift.
void emit_pieces(Builder& builder, const Operation& whole, const PoolWindow& w) {
  const Pieces pieces = pieces_of(w);
  const auto extent = [](const Run& run, const WindowAxis& axis) {
    return static_cast<int32_t>((run.count - 1) * axis.step() + run.kernel);
  };
  const auto at = [](const Run& y, const Run& x, int64_t Run::*place) {
    return Extent{static_cast<int32_t>(y.*place), static_cast<int32_t>(x.*place), 0};
  };
  const int32_t depth = whole.ofm.extent.depth;
  for (const Run& y : pieces.y)
    for (const Run& x : pieces.x) {
      Operation op = whole;
      op.ifm = box(whole.ifm, at(y, x, &Run::from), {extent(y, w.y), extent(x, w.x), depth});
      op.ofm = box(whole.ofm, at(y, x, &Run::first),
                   {static_cast<int32_t>(y.count), static_cast<int32_t>(x.count), depth});
      op.kernel = kernel_of(y.kernel, x.kernel, w);
      if (y.count == 1) op.kernel.stride_y = 1;
      if (x.count == 1) op.kernel.stride_x = 1;
      if (whole.kind == OperationKind::AveragePool)
        op.global_scale = divide_by(y.kernel * x.kernel, builder.type_of(whole.ofm));
      builder.emit(std::move(op));
    }
}

void emit_pools(Builder& builder, const Node& node, OperationKind kind) {
  const Site site{builder.module(), builder.function(), node};
  const PoolWindow w = pool_window_of(site);
  const bool average = kind == OperationKind::AveragePool;
  const Operand ifm = builder.read(node.inputs.at(0)), ofm = builder.write(node.outputs.at(0));
  const Clamp clamp = clamp_of(node.attrs<graph::Pool2dAttrs>().activation, site.out());
  const int64_t images = site.out().shape.at(0);
  for (int64_t n = 0; n < images; ++n) {
    Operation op = builder.start(kind, image(ifm, n, images), image(ofm, n, images));
    op.ifm.zero_point = op.ofm.zero_point = 0;
    op.clamp_low = clamp.low;
    op.clamp_high = clamp.high;
    if (why_in_pieces(w, average)) {
      emit_pieces(builder, op, w);
      continue;
    }
    op.ifm.extent.height = static_cast<int32_t>(w.y.read());
    op.ifm.extent.width = static_cast<int32_t>(w.x.read());
    op.kernel = kernel_of(w.y.kernel, w.x.kernel, w);
    op.pads = {static_cast<int32_t>(w.y.before), static_cast<int32_t>(w.x.before),
               static_cast<int32_t>(w.y.after()), static_cast<int32_t>(w.x.after())};
    if (average && !w.padded())
      op.global_scale = divide_by(w.y.kernel * w.x.kernel, site.out().type);
    builder.emit(std::move(op));
  }
}

}  // namespace

Reason refuses_max_pool2d(const Site& site) {
  return check_window(pool_window_of(site), false);
}

Reason refuses_average_pool2d(const Site& site) {
  const PoolWindow w = pool_window_of(site);
  if (Reason reason = check_window(w, true)) return reason;
  const auto check = [&](int64_t count) -> Reason {
    if (divide_by(count, site.out().type)) return std::nullopt;
    return fmt::format("no multiplier divides by {} as exactly as TFLite does", count);
  };
  if (!why_in_pieces(w, true)) return w.padded() ? std::nullopt : check(w.y.kernel * w.x.kernel);
  const Pieces pieces = pieces_of(w);
  for (const Run& y : pieces.y)
    for (const Run& x : pieces.x)
      if (Reason reason = check(y.kernel * x.kernel)) return reason;
  return std::nullopt;
}

void legalise_max_pool2d(Builder& builder, const Node& node) {
  emit_pools(builder, node, OperationKind::MaxPool);
}

void legalise_average_pool2d(Builder& builder, const Node& node) {
  emit_pools(builder, node, OperationKind::AveragePool);
}

}  // namespace intarsia::targets::ethos_u
