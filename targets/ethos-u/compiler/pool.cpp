// Pools, and means, which are average pools with a scale of their own.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "limits.h"
#include "operators.h"
#include "scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

struct PoolWindow {
  WindowAxis y, x;
  bool padded() const { return y.before + x.before + y.after() + x.after() != 0; }
};

PoolWindow window_of(const Site& site) {
  const auto& a = site.node.attrs<graph::Pool2dAttrs>();
  const Shape &in = site.in().shape, &out = site.out().shape;
  return {{in.at(1), out.at(1), a.filter_h, a.stride_h, 1, a.padding.top},
          {in.at(2), out.at(2), a.filter_w, a.stride_w, 1, a.padding.left}};
}

Reason check_window(const PoolWindow& w) {
  if (Reason reason = check_strides(w.y, w.x)) return reason;
  if (w.y.kernel > kMostPoolHeight)
    return fmt::format("a window {} high is above {}", w.y.kernel, kMostPoolHeight);
  if (w.y.kernel * w.x.kernel > kMostPoolElements)
    return fmt::format("a window of {} x {} has more than {} elements", w.y.kernel, w.x.kernel,
                       kMostPoolElements);
  return check_pads(w.y, w.x);
}

// TFLite's rounded quotient: to nearest, ties away from zero.
int64_t rounded_quotient(int64_t sum, int64_t count) {
  return (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
}

// A scale that divides every sum of `count` elements exactly as TFLite does, where there is one.
// The candidates are 2^(31+k) / count rounded either way, with k the bits of the count.
std::optional<ChannelScale> divide_by(int64_t count, DataType type) {
  if (count == 1) return ChannelScale{.multiplier = 1};
  const int k = std::bit_width(static_cast<uint64_t>(count - 1));
  const Clamp range = range_of(type);
  const int64_t nearest = (int64_t{1} << (31 + k)) / count;
  for (const int64_t multiplier :
       {((int64_t{1} << (31 + k)) + (int64_t{1} << k)) / count, nearest + 1, nearest}) {
    if (multiplier >= int64_t{1} << 32) continue;
    const ChannelScale scale{.multiplier = static_cast<uint32_t>(multiplier), .shift = 31 + k};
    if (agree(
            range.low * count, range.high * count,
            [&](int64_t sum) { return scaled(sum, scale, Rounding::Tfl); },
            [&](int64_t sum) { return rounded_quotient(sum, count); }))
      return scale;
  }
  return std::nullopt;
}

void emit_pools(Builder& builder, const Node& node, OperationKind kind,
                const std::optional<ChannelScale>& scale) {
  const Site site{builder.module(), builder.function(), node};
  const PoolWindow w = window_of(site);
  const Operand ifm = builder.read(node.inputs.at(0)), ofm = builder.write(node.outputs.at(0));
  const Clamp clamp = clamp_of(node.attrs<graph::Pool2dAttrs>().activation, site.out());
  const int64_t images = site.out().shape.at(0);
  for (int64_t n = 0; n < images; ++n) {
    Operation op = builder.start(kind, image(ifm, n, images), image(ofm, n, images));
    op.ifm.zero_point = op.ofm.zero_point = 0;  // equal, and both reductions commute with a shift
    op.ifm.extent.height = static_cast<int32_t>(w.y.read());
    op.ifm.extent.width = static_cast<int32_t>(w.x.read());
    op.kernel = {static_cast<int32_t>(w.y.kernel),
                 static_cast<int32_t>(w.x.kernel),
                 static_cast<int32_t>(w.y.step()),
                 static_cast<int32_t>(w.x.step()),
                 1,
                 1};
    op.pads = {static_cast<int32_t>(w.y.before), static_cast<int32_t>(w.x.before),
               static_cast<int32_t>(w.y.after()), static_cast<int32_t>(w.x.after())};
    op.global_scale = scale;
    op.clamp_low = clamp.low;
    op.clamp_high = clamp.high;
    builder.emit(std::move(op));
  }
}

// The input seen as [outer, reduced, inner]: what is reduced lies in one piece.
struct Reduction {
  int64_t outer = 1, reduced = 1, inner = 1;
};

std::optional<Reduction> reduction_of(const Shape& shape, const std::vector<int64_t>& axes) {
  Reduction r;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i))) {
      if (r.inner != 1) return std::nullopt;
      r.reduced *= shape[i];
    } else {
      (r.reduced == 1 ? r.outer : r.inner) *= shape[i];
    }
  }
  return r;
}

// TFLM makes the division part of the factor: shifted left as far as the count lets it keep bits.
FixedFactor mean_factor(const Site& site, int64_t count) {
  FixedFactor factor = fixed_factor(scale_of(site.in()) / scale_of(site.out()));
  int shift = std::min(static_cast<int>(std::bit_width(static_cast<uint64_t>(count))) - 1, 32);
  shift = std::min(shift, 31 + factor.exponent);
  factor.value = static_cast<int32_t>((int64_t{factor.value} << shift) / count);
  factor.exponent -= shift;
  return factor;
}

}  // namespace

Reason refuses_max_pool2d(const Site& site) {
  return check_window(window_of(site));
}

Reason refuses_average_pool2d(const Site& site) {
  const PoolWindow w = window_of(site);
  if (Reason reason = check_window(w)) return reason;
  if (w.padded() && (w.y.kernel > kMostPaddedAverage || w.x.kernel > kMostPaddedAverage))
    return fmt::format("a padded average over {} x {} is above {} x {}", w.y.kernel, w.x.kernel,
                       kMostPaddedAverage, kMostPaddedAverage);
  if (!w.padded() && !divide_by(w.y.kernel * w.x.kernel, site.out().type))
    return fmt::format("no multiplier divides by {} as exactly as TFLite does",
                       w.y.kernel * w.x.kernel);
  return std::nullopt;
}

void legalise_max_pool2d(Builder& builder, const Node& node) {
  emit_pools(builder, node, OperationKind::MaxPool, std::nullopt);
}

void legalise_average_pool2d(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const PoolWindow w = window_of(site);
  emit_pools(builder, node, OperationKind::AveragePool,
             w.padded() ? std::nullopt : divide_by(w.y.kernel * w.x.kernel, site.out().type));
}

static Reason check_reduction(const Site& site) {
  const std::optional<Reduction> r =
      reduction_of(site.in().shape, site.node.attrs<graph::ReduceAttrs>().axes);
  if (!r) return std::string("the reduced axes do not lie beside each other");
  if (r->reduced > kMostPoolElements)
    return fmt::format("a reduction of {} elements is above {}", r->reduced, kMostPoolElements);
  if (r->outer > kMostExtent || r->inner > kMostExtent)
    return fmt::format("{} x {} reductions are above {} x {}", r->outer, r->inner, kMostExtent,
                       kMostExtent);
  return std::nullopt;
}

Reason refuses_reduce_max(const Site& site) {
  if (site.in().quantization != site.out().quantization)
    return std::string("input and output differ in quantisation");
  return check_reduction(site);
}

void legalise_reduce_max(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Reduction r = *reduction_of(site.in().shape, node.attrs<graph::ReduceAttrs>().axes);
  const Extent in = {static_cast<int32_t>(r.outer), static_cast<int32_t>(r.reduced),
                     static_cast<int32_t>(r.inner)};
  Operation op = builder.start(OperationKind::MaxPool, builder.read_as(node.inputs.at(0), in),
                               builder.write_as(node.outputs.at(0), {in.height, 1, in.depth}));
  op.ifm.zero_point = op.ofm.zero_point = 0;
  op.kernel.width = in.width;
  builder.emit(std::move(op));
}

Reason refuses_mean(const Site& site) {
  if (Reason reason = check_reduction(site)) return reason;
  const std::optional<Reduction> r =
      reduction_of(site.in().shape, site.node.attrs<graph::ReduceAttrs>().axes);
  if (!channel_scale(mean_factor(site, r->reduced)))
    return std::string("the scales of input and output are too far apart");
  return std::nullopt;
}

void legalise_mean(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Shape& shape = site.in().shape;
  const auto& axes = node.attrs<graph::ReduceAttrs>().axes;
  const Reduction r = *reduction_of(shape, axes);
  // Over height and width of one image the input can stay as it is.
  const bool as_it_is = shape.size() == 4 && shape[0] == 1 && axes == std::vector<int64_t>{1, 2} &&
                        shape[1] <= kMostPoolHeight;
  const Extent in = {static_cast<int32_t>(r.outer), static_cast<int32_t>(r.reduced),
                     static_cast<int32_t>(r.inner)};
  Operation op = builder.start(
      OperationKind::AveragePool,
      as_it_is ? builder.read(node.inputs.at(0)) : builder.read_as(node.inputs.at(0), in),
      builder.write_as(node.outputs.at(0), {in.height, 1, in.depth}));
  op.kernel.height = as_it_is ? op.ifm.extent.height : 1;
  op.kernel.width = op.ifm.extent.width;
  if (as_it_is) op.ofm = builder.reshaped(op.ofm, {1, 1, op.ifm.extent.depth});
  op.global_scale = *channel_scale(mean_factor(site, r.reduced));
  builder.emit(std::move(op));
}

}  // namespace intarsia::targets::ethos_u
