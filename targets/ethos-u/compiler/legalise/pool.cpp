// Pools, and sums and means, which are average pools with a scale of their own.
#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

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

std::vector<Run> runs_of(const WindowAxis& axis, int64_t most_stride) {
  std::vector<Run> runs;
  for (int64_t place = 0; place < axis.places; ++place) {
    const int64_t begin = place * axis.stride - axis.before;
    const int64_t from = std::max<int64_t>(begin, 0);
    const int64_t kernel = std::min(begin + axis.kernel, axis.extent) - from;
    const bool continues = !runs.empty() && axis.stride <= most_stride && kernel == axis.kernel &&
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
  bool lines = false;  // runs are places of a line, at whatever stride
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

// Windows on a line are the rows of an image, however far apart they begin: a window that sees one element of the other axis is one.
Pieces pieces_of(const PoolWindow& w) {
  constexpr int64_t kNone = 0, kAny = std::numeric_limits<int64_t>::max();
  Pieces least = {runs_of(w.y, kMostStride), runs_of(w.x, kMostStride)};
  const auto take_less = [&](Pieces lines) {
    if (lines.count() < least.count()) least = std::move(lines);
  };
  if (w.y.kernel == 1) take_less({runs_of(w.y, kNone), runs_of(w.x, kAny), true});
  if (w.x.kernel == 1) take_less({runs_of(w.y, kAny), runs_of(w.x, kNone), true});
  return least;
}

// A stride above the hardware's, of a maximum, in two strides: neighbouring maxima of the first pool make those of the second.
struct TwoPools {
  PoolWindow first, second;
};

std::optional<std::pair<WindowAxis, WindowAxis>> in_two(const WindowAxis& axis) {
  if (axis.step() <= kMostStride)
    return std::pair{axis, WindowAxis{axis.places, axis.places, 1, 1, 1, 0}};
  for (int64_t stride = kMostStride; stride > 1; --stride) {
    const int64_t rest = axis.stride / stride, kernel = axis.kernel / stride;
    if (axis.stride % stride != 0 || rest > kMostStride || kernel == 0) continue;
    const int64_t places = (axis.places - 1) * rest + kernel;
    const WindowAxis first = {axis.extent, places, axis.kernel - (kernel - 1) * stride,
                              stride,      1,      axis.before};
    return std::pair{first, WindowAxis{places, axis.places, kernel, rest, 1, 0}};
  }
  return std::nullopt;
}

std::optional<TwoPools> in_two(const PoolWindow& w, bool average) {
  constexpr size_t kFewPieces = 2;
  if (average || !check_strides(w.y, w.x) || pieces_of(w).count() <= kFewPieces)
    return std::nullopt;
  const auto y = in_two(w.y), x = in_two(w.x);
  if (!y || !x || check_pads(y->first, x->first)) return std::nullopt;
  return TwoPools{{y->first, x->first}, {y->second, x->second}};
}

Reason check_window(const PoolWindow& w, bool average) {
  if (Reason reason = check_size(w)) return reason;
  const Reason why = why_in_pieces(w, average);
  if (!why || in_two(w, average)) return std::nullopt;
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

// Rows of `count` elements of a line, which begin `apart` elements from each other.
struct LineRows {
  int64_t rows, count, apart;
};

Operand line_as_rows(const Program& program, Operand line, bool is_row, const LineRows& as) {
  const Extent& all = program.tensors.at(static_cast<size_t>(line.tensor)).extent;
  const Walk walk = line.walk.value_or(Walk{int64_t{all.width} * all.depth, all.depth});
  const int64_t each = is_row ? line.step.width * walk.x : line.step.height * walk.y;
  const int64_t first = line.origin.height * walk.y + line.origin.width * walk.x;
  line.origin = {0, 0, static_cast<int32_t>(line.origin.depth + first)};
  line.step = {1, 1, line.step.depth};
  line.extent = {static_cast<int32_t>(as.rows), static_cast<int32_t>(as.count), line.extent.depth};
  line.walk = Walk{as.apart * each, each};
  return line;
}

Pads pads_of(const PoolWindow& w) {
  return {static_cast<int32_t>(w.y.before), static_cast<int32_t>(w.x.before),
          static_cast<int32_t>(w.y.after()), static_cast<int32_t>(w.x.after())};
}

// One operation of the hardware's, but for what divides an average.
Operation in_one(Operation op, const PoolWindow& w) {
  op.ifm.extent.height = static_cast<int32_t>(w.y.read());
  op.ifm.extent.width = static_cast<int32_t>(w.x.read());
  op.kernel = kernel_of(w.y.kernel, w.x.kernel, w);
  op.pads = pads_of(w);
  return op;
}

void emit_two(Builder& builder, const Operation& whole, const TwoPools& pools) {
  const auto extent = [](int64_t y, int64_t x, int32_t depth) {
    return Extent{static_cast<int32_t>(y), static_cast<int32_t>(x), depth};
  };
  Operation first = whole, second = whole;
  first.ofm = second.ifm =
      builder.inner("first_maxima", builder.type_of(whole.ofm),
                    extent(pools.first.y.places, pools.first.x.places, whole.ofm.extent.depth));
  builder.emit(in_one(std::move(first), pools.first));
  builder.emit(in_one(std::move(second), pools.second));
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
      if (pieces.lines && y.count * x.count > 1) {
        const bool along_row = x.count > 1;
        const WindowAxis& axis = along_row ? w.x : w.y;
        const Run& run = along_row ? x : y;
        op.ifm = line_as_rows(builder.program(), op.ifm, along_row,
                              {run.count, run.kernel, axis.stride});
        op.ofm = line_as_rows(builder.program(), op.ofm, along_row, {run.count, 1, 1});
        op.kernel = {.height = 1, .width = static_cast<int32_t>(run.kernel)};
      }
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
    if (const auto two = in_two(w, average)) {
      emit_two(builder, op, *two);
      continue;
    }
    if (why_in_pieces(w, average)) {
      emit_pieces(builder, op, w);
      continue;
    }
    op = in_one(std::move(op), w);
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
