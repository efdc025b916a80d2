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
// Of a mirrored pad, whose edges are single rows and columns: more where these are longer on average than what a CPU writes in the
// hundred cycles that an operation takes to begin.
constexpr int64_t kMostMirrored = 1024, kLongOnAverage = 128;

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
  int64_t copies = 0, mirrored = 0;  // and elements of single rows and columns
  Shape shape = site.in().shape;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t padding = a.before[axis] + a.after[axis];
    if (padding == 0) continue;
    mirrored += padding * (element_count(shape) / shape[axis]);
    const Shape padded = with(shape, axis, shape[axis] + padding);
    for (const Line& line : lines_of(a, axis, shape[axis]))
      if (!band(shape, axis, line.from, line.count) || !band(padded, axis, line.to, line.count))
        return std::string("an axis of several images is padded");
    copies += padding + 1;
    shape = padded;
  }
  const int64_t most = mirrored >= copies * kLongOnAverage ? kMostMirrored : kMostCopies;
  if (copies > most)
    return fmt::format("mirroring takes {} copies of {} elements on average, more than {}", copies,
                       mirrored / copies, most);
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

// A copy that reads what lies behind an axis again for each place along it: what it writes, and the steps in which it reads.
struct Rereading {
  Extent extent;
  Walk walk;
};

static std::vector<Rereading> rereadings(const Shape& shape, size_t axis, int64_t factor) {
  const Shape seen = around(shape, axis);
  const int64_t outer = seen[0], inner = seen[1] * seen[2], channels = shape.back();
  std::vector<Rereading> result;
  const auto add = [&](const Shape& extents, const Walk& walk) {
    if (std::ranges::max(extents) <= kMostExtent) result.push_back({extent_of(extents), walk});
  };
  add({outer, factor, inner}, {inner, 0});
  if (outer == 1) add({factor, inner / channels, channels}, {0, channels});
  return result;
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
    const bool at_once = is_single_channel(shape, axis) || !rereadings(shape, axis, factor).empty();
    copies += at_once ? 1 : factor;
    shape[axis] *= factor;
    const auto [whole, along] = seen_along(shape, axis);
    if (!at_once && std::ranges::max(whole) > kMostExtent)
      return fmt::format("[{}] repeats as [{}] along an axis of {} images of {} elements",
                         fmt::join(in, ","), fmt::join(out, ","), whole[0], whole[2]);
  }
  if (copies > kMostCopies)
    return fmt::format("repeating [{}] as [{}] takes {} copies, more than {}", fmt::join(in, ","),
                       fmt::join(out, ","), copies, kMostCopies);
  return std::nullopt;
}

// The operand `factor` times along an axis, into `out` where it has the extent that is written, or may have any.
class Repeater {
 public:
  Repeater(Builder& builder, const Operand& in, const std::optional<Operand>& out,
           bool out_is_in_one_piece)
      : builder_(builder),
        type_(builder.type_of(in)),
        zero_point_(in.zero_point),
        out_(out),
        out_is_in_one_piece_(out_is_in_one_piece) {}

  // `shape` before; the last one may go into `out`.
  Operand along(const Operand& from, const Shape& shape, size_t axis, int64_t factor,
                bool is_last) const {
    // Arm's compiler never reads an element again as the next one.
    std::vector<Rereading> ways;
    if (!is_single_channel(shape, axis) && !builder_.confirmed_only())
      ways = rereadings(shape, axis, factor);
    if (ways.empty()) return in_copies(from, shape, axis, factor, is_last);
    const auto writes_out = [&](const Rereading& way) { return is_last && is_out(way.extent); };
    const auto good = std::ranges::find_if(ways, writes_out);
    const Rereading& way = good == ways.end() ? ways.front() : *good;
    const Operand to = target(way.extent, is_last);
    const int64_t elements = from.extent.elements(), channels = shape.back();
    Operand again =
        builder_.in_one_piece(builder_.reshaped(from, extent(1, elements / channels, channels)));
    again.walk = way.walk;
    again.extent = way.extent;
    builder_.copy(again, to);
    return to;
  }

 private:
  bool is_out(const Extent& extent) const {
    return out_ && (out_is_in_one_piece_ || out_->extent == extent);
  }
  Operand target(const Extent& extent, bool is_last) const {
    if (is_last && is_out(extent)) return builder_.reshaped(*out_, extent);
    return builder_.inner("repeated", type_, extent, zero_point_);
  }

  Operand in_copies(const Operand& from, Shape shape, size_t axis, int64_t factor,
                    bool is_last) const {
    const int64_t each = shape[axis];
    const bool single = is_single_channel(shape, axis);
    shape[axis] *= factor;
    const auto [whole, along] = seen_along(shape, axis);
    const Operand to = target(extent_of(whole), is_last);
    const Operand once = builder_.reshaped(from, extent_of(with(whole, along, each)));
    if (single) repeat_channel(builder_, once, to);
    for (int64_t i = 0; !single && i < factor; ++i)
      builder_.copy(once, box_in(to, *band(whole, along, i * each, each)));
    return to;
  }

  Builder& builder_;
  DataType type_;
  int32_t zero_point_;
  std::optional<Operand> out_;
  bool out_is_in_one_piece_;
};

// From the innermost axis on, each into a tensor of its own.
static Operand repeat_into(const Repeater& repeater, const Operand& in, const Shape& in_shape,
                           const Shape& out_shape) {
  const Shape factors = *factors_of(in_shape, out_shape);
  Operand from = in;
  Shape shape(out_shape.size());
  for (size_t i = 0; i < shape.size(); ++i) shape[i] = out_shape[i] / factors[i];
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (factors[axis] == 1) continue;
    const Shape before = shape;
    shape[axis] *= factors[axis];
    from = repeater.along(from, before, axis, factors[axis], shape == out_shape);
  }
  return from;
}

Operand repeated(Builder& builder, const Operand& in, const Shape& in_shape,
                 const Shape& out_shape) {
  // The last step may have seen it with other axes beside each other.
  const Repeater repeater(builder, in, std::nullopt, false);
  return builder.reshaped(repeat_into(repeater, in, in_shape, out_shape), extent_of(out_shape));
}

Reason refuses_repeat(const Site& site) {
  if (Reason reason = same_quantization(site)) return reason;
  return refuses_repeats(site.in().shape, site.out().shape);
}

void legalise_repeat(Builder& builder, const Node& node) {
  const graph::TensorId in = node.inputs.at(0), out = node.outputs.at(0);
  const Operand from = builder.read(in), to = builder.write(out);
  const bool in_one_piece = builder.lies_in_one_piece(out);
  const Operand made = repeat_into(Repeater(builder, from, to, in_one_piece), from,
                                   builder.tensor(in).shape, builder.tensor(out).shape);
  const Operand there = in_one_piece ? builder.reshaped(to, made.extent) : to;
  if (made.tensor != there.tensor || made.origin != there.origin)
    builder.copy(builder.reshaped(made, to.extent), to);
}

}  // namespace intarsia::targets::ethos_u
