// Operators that bring elements into another order, or repeat them, by copies of boxes.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/limits.h"
#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

constexpr int64_t kMostCopies = 64;

Reason same_quantization(const Site& site) {
  if (site.in().quantization != site.out().quantization)
    return std::string("input and output differ in quantisation");
  return std::nullopt;
}

Shape with(Shape shape, size_t axis, int64_t extent) {
  shape[axis] = extent;
  return shape;
}

// Elements first .. first + count - 1 along an axis, all of the others.
std::optional<Box> band(const Shape& shape, size_t axis, int64_t first, int64_t count) {
  return box_of(shape, with(Shape(shape.size(), 0), axis, first), with(shape, axis, count));
}

Operand box_in(const Operand& whole, const Box& part) {
  return box(whole, part.origin, part.extent);
}

// Where each element along an axis of a mirrored pad comes from: runs of neighbours, and single ones.
struct Line {
  int64_t to, from, count;
};

std::vector<Line> lines_of(const graph::MirrorPadAttrs& a, size_t axis, int64_t extent) {
  const int64_t before = a.before[axis], after = a.after[axis], edge = a.symmetric ? 0 : 1;
  std::vector<Line> lines = {{before, 0, extent}};
  for (int64_t i = 0; i < before; ++i) lines.push_back({i, before - 1 - i + edge, 1});
  for (int64_t i = 0; i < after; ++i)
    lines.push_back({before + extent + i, extent - 1 - i - edge, 1});
  return lines;
}

// How often the elements repeat along each axis; nothing where that is no whole number.
std::optional<Shape> factors_of(const Shape& in, const Shape& out) {
  if (in.size() > out.size()) return std::nullopt;
  Shape factors(out.size());
  const size_t missing = out.size() - in.size();
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t extent = i < missing ? 1 : in[i - missing];
    if (out[i] % extent != 0) return std::nullopt;
    factors[i] = out[i] / extent;
  }
  return factors;
}

}  // namespace

Reason refuses_blocks(const Site& site) {
  if (Reason reason = same_quantization(site)) return reason;
  const int64_t block = site.node.attrs<graph::BlockAttrs>().block;
  if (block > kMostCopies)
    return fmt::format("blocks of {} take more than {} copies", block, kMostCopies);
  return std::nullopt;
}

// A row of a block is a piece of memory on both sides: as many copies as a block has rows.
void legalise_blocks(Builder& builder, const Node& node) {
  const auto block = static_cast<int32_t>(node.attrs<graph::BlockAttrs>().block);
  const bool to_depth = node.kind == graph::OpKind::SpaceToDepth;
  const graph::TensorId in = node.inputs.at(0), out = node.outputs.at(0);
  const Extent space = extent_of(builder.tensor(to_depth ? in : out).shape);
  const Extent as_rows = {space.height, space.width / block, space.depth * block};
  const Operand from = to_depth ? builder.read_as(in, as_rows) : builder.read(in);
  const Operand to = to_depth ? builder.write(out) : builder.write_as(out, as_rows);
  for (int32_t row = 0; row < block; ++row) {
    const Extent part = {space.height / block, space.width / block, as_rows.depth};
    const auto of_space = [&](const Operand& operand) {
      Operand rows = box(operand, {row, 0, 0}, part);
      rows.step.height *= block;
      return rows;
    };
    const auto of_depth = [&](const Operand& operand) {
      return box(operand, {0, 0, row * as_rows.depth}, part);
    };
    builder.copy(to_depth ? of_space(from) : of_depth(from),
                 to_depth ? of_depth(to) : of_space(to));
  }
}

Reason refuses_mirror_pad(const Site& site) {
  if (Reason reason = same_quantization(site)) return reason;
  const auto& a = site.node.attrs<graph::MirrorPadAttrs>();
  int64_t copies = 0;
  Shape shape = site.in().shape;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t padding = a.before[axis] + a.after[axis];
    if (padding == 0) continue;
    const Shape padded = with(shape, axis, shape[axis] + padding);
    for (const Line& line : lines_of(a, axis, shape[axis]))
      if (!band(shape, axis, line.from, line.count) || !band(padded, axis, line.to, line.count))
        return std::string("an axis of several images is padded");
    copies += padding + 1;
    shape = padded;
  }
  if (copies > kMostCopies)
    return fmt::format("mirroring takes {} copies, more than {}", copies, kMostCopies);
  return std::nullopt;
}

// Axis by axis, from one tensor into the next: what an axis mirrors has the padding of those before.
void legalise_mirror_pad(Builder& builder, const Node& node) {
  const auto& a = node.attrs<graph::MirrorPadAttrs>();
  const graph::TensorId in = node.inputs.at(0), out = node.outputs.at(0);
  Operand from = builder.read(in);
  Shape shape = builder.tensor(in).shape;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t padding = a.before[axis] + a.after[axis];
    if (padding == 0) continue;
    const Shape padded = with(shape, axis, shape[axis] + padding);
    const Operand to = padded == builder.tensor(out).shape
                           ? builder.write(out)
                           : builder.inner("mirrored", builder.tensor(in).type, extent_of(padded));
    for (const Line& line : lines_of(a, axis, shape[axis]))
      builder.copy(box_in(from, *band(shape, axis, line.from, line.count)),
                   box_in(to, *band(padded, axis, line.to, line.count)));
    from = to;
    shape = padded;
  }
  if (shape == builder.tensor(in).shape) builder.copy(from, builder.write(out));
}

// One channel becomes many by a convolution with weights of one.
static bool is_single_channel(const Shape& shape, size_t axis) {
  return axis + 1 == shape.size() && shape[axis] == 1;
}

static void repeat_channel(Builder& builder, const Operand& from, const Operand& to) {
  Operation op = builder.start(OperationKind::Conv, from, to);
  op.ifm.zero_point = op.ofm.zero_point = 0;
  op.weights = Weights(static_cast<size_t>(to.extent.depth), 1);
  op.scales.assign(static_cast<size_t>(to.extent.depth), ChannelScale{.multiplier = 1});
  builder.emit(std::move(op));
}

// The shape in which `axis` has whatever lies before it as rows and whatever lies behind it as channels: a box of it is one
// of every image, too.
static Shape around(const Shape& shape, size_t axis) {
  Shape whole = {1, shape[axis], 1};
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != axis) whole[i < axis ? 0 : 2] *= shape[i];
  return whole;
}

// How the elements along `axis` are best seen for taking some of them; with the axis that they are along then.
static std::pair<Shape, size_t> seen_along(const Shape& shape, size_t axis) {
  if (band(shape, axis, 0, 1)) return {shape, axis};
  return {around(shape, axis), 1};
}

Reason refuses_repeats(const Shape& in, const Shape& out) {
  const std::optional<Shape> factors = factors_of(in, out);
  if (!factors)
    return fmt::format("[{}] is no repetition of [{}]", fmt::join(out, ","), fmt::join(in, ","));
  Shape shape(out.size());
  int64_t copies = 0;
  for (size_t i = 0; i < out.size(); ++i) shape[i] = out[i] / (*factors)[i];
  for (size_t axis = out.size(); axis-- > 0;) {
    const int64_t factor = (*factors)[axis];
    if (factor == 1) continue;
    copies += is_single_channel(shape, axis) ? 1 : factor;
    shape[axis] *= factor;
    const auto [whole, along] = seen_along(shape, axis);
    if (std::ranges::max(whole) > kMostExtent)
      return fmt::format("[{}] repeats as [{}] along an axis of {} images of {} elements",
                         fmt::join(in, ","), fmt::join(out, ","), whole[0], whole[2]);
  }
  if (copies > kMostCopies)
    return fmt::format("repeating [{}] as [{}] takes {} copies, more than {}", fmt::join(in, ","),
                       fmt::join(out, ","), copies, kMostCopies);
  return std::nullopt;
}

// From the innermost axis on, each into a tensor of its own.
static Operand repeat_into(Builder& builder, const Operand& in, const Shape& in_shape,
                           const Shape& out_shape, const std::optional<Operand>& out) {
  const Shape factors = *factors_of(in_shape, out_shape);
  Operand from = in;
  Shape shape(out_shape.size());
  for (size_t i = 0; i < shape.size(); ++i) shape[i] = out_shape[i] / factors[i];
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (factors[axis] == 1) continue;
    const int64_t each = shape[axis];
    const bool single = is_single_channel(shape, axis);
    shape[axis] *= factors[axis];
    const auto [whole, along] = seen_along(shape, axis);
    const bool is_result = shape == out_shape && whole == shape && out;
    Operand to =
        is_result ? *out
                  : builder.inner("repeated", builder.type_of(in), extent_of(whole), in.zero_point);
    from = builder.reshaped(from, extent_of(with(whole, along, each)));
    if (single) repeat_channel(builder, from, to);
    for (int64_t i = 0; !single && i < factors[axis]; ++i)
      builder.copy(from, box_in(to, *band(whole, along, i * each, each)));
    from = to;
  }
  return from;
}

Operand repeated(Builder& builder, const Operand& in, const Shape& in_shape,
                 const Shape& out_shape) {
  // The last step may have seen it with other axes beside each other.
  return builder.reshaped(repeat_into(builder, in, in_shape, out_shape, std::nullopt),
                          extent_of(out_shape));
}

Reason refuses_repeat(const Site& site) {
  if (Reason reason = same_quantization(site)) return reason;
  return refuses_repeats(site.in().shape, site.out().shape);
}

void legalise_repeat(Builder& builder, const Node& node) {
  const graph::TensorId in = node.inputs.at(0), out = node.outputs.at(0);
  const Operand to = builder.write(out);
  const Operand made = repeat_into(builder, builder.read(in), builder.tensor(in).shape,
                                   builder.tensor(out).shape, to);
  if (made.tensor != to.tensor || made.origin != to.origin)
    builder.copy(builder.reshaped(made, to.extent), to);
}

}  // namespace intarsia::targets::ethos_u
