// Operators that only move elements.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/limits.h"
#include "legalise/operators.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {

using graph::Node;

namespace {

// Copies between boxes of as many elements, whatever extents they have.
void copy_box(Builder& builder, const Operand& from, const Operand& to) {
  if (builder.are_same_bytes(from, to)) return;  // it is there already
  builder.copy(builder.reshaped(from, to.extent), to);
}

}  // namespace

// The builder made the output a view of the input, or the other way round; what is left to do is a
// copy where both have a place of their own.
void legalise_reshape(Builder& builder, const Node& node) {
  copy_box(builder, builder.read(node.inputs.at(0)), builder.write(node.outputs.at(0)));
}

bool is_beside_taken(const Site& site) {
  using graph::OpKind;
  // Reads are taken for what is made of them, and assignments for what they are given, which may be another variable.
  const auto may_decide = [&](OpKind kind) {
    return kind == OpKind::ReadVariable ? site.node.kind == OpKind::AssignVariable
                                        : kind != OpKind::AssignVariable;
  };
  const auto taken = [&](const Node& node) {
    return may_decide(node.kind) && find_rule(node.kind) != nullptr &&
           !refuses({site.module, site.function, node});
  };
  const graph::TensorId in = site.node.inputs.at(0), out = site.node.outputs.at(0);
  return std::any_of(site.function.nodes.begin(), site.function.nodes.end(), [&](const Node& node) {
    const bool produces =
        std::find(node.outputs.begin(), node.outputs.end(), in) != node.outputs.end();
    const bool reads = std::find(node.inputs.begin(), node.inputs.end(), out) != node.inputs.end();
    return (produces || reads) && (node.kind == OpKind::Reshape || taken(node));
  });
}

// On its own a reshape costs a copy, which a CPU does not need.
Reason refuses_reshape(const Site& site) {
  if (is_beside_taken(site)) return std::nullopt;
  return std::string("no operator beside it runs on the NPU");
}

// What the border holds: the zero point, or a constant operand.
static int64_t pad_value(const Site& site) {
  if (!site.has(1)) return zero_point_of(site.out());
  const std::vector<uint8_t>& bytes = site.module.constant(site.in(1).constant).bytes;
  const auto low = static_cast<int64_t>(bytes.at(0));
  if (site.in(1).type == DataType::Int8) return static_cast<int8_t>(low);
  return static_cast<int16_t>(low | bytes.at(1) << 8);
}

namespace {

// A pad with as few axes as say what it does: those of one element are dropped, and one that nothing is added to is one with the
// axis before it where nothing is added to that either.
struct PaddedShape {
  Shape in, out, before;

  PaddedShape(const Shape& from, const Shape& to, const graph::PadAttrs& a) {
    for (size_t axis = 0; axis < to.size(); ++axis) {
      if (to[axis] == 1) continue;
      const bool is_whole = from[axis] == to[axis];
      if (is_whole && !in.empty() && in.back() == out.back()) {
        in.back() *= from[axis];
        out.back() *= from[axis];
      } else {
        in.push_back(from[axis]);
        out.push_back(to[axis]);
        before.push_back(a.before[axis]);
      }
    }
  }
  bool is_box() const {
    return box_of(out, before, in) && out.size() <= 3 &&
           std::ranges::all_of(out, [](int64_t extent) { return extent <= kMostExtent; });
  }

  // Else an axis at a time, in the middle of what lies before and behind it.
  std::vector<PaddedShape> axis_by_axis() const {
    std::vector<PaddedShape> steps;
    Shape now = in;
    for (size_t axis = 0; axis < now.size(); ++axis) {
      if (in[axis] == out[axis]) continue;
      PaddedShape step;
      step.in = {1, now[axis], 1};
      for (size_t i = 0; i < now.size(); ++i)
        if (i != axis) step.in[i < axis ? 0 : 2] *= now[i];
      step.out = step.in;
      now[axis] = step.out[1] = out[axis];
      step.before = {0, before[axis], 0};
      steps.push_back(step);
    }
    return steps;
  }

 private:
  PaddedShape() = default;
};

std::vector<PaddedShape> pad_steps(const Site& site) {
  const Shape &in = site.in().shape, &out = site.out().shape;
  const PaddedShape merged(in, out, site.node.attrs<graph::PadAttrs>());
  return merged.is_box() ? std::vector{merged} : merged.axis_by_axis();
}

Operand box_in(const Operand& whole, const Shape& shape, const Shape& begin, const Shape& size) {
  const Box part = *box_of(shape, begin, size);
  return box(whole, part.origin, part.extent);
}

// `from` goes into the middle; the rest is filled axis by axis, from the outermost on.
void pad_into(Builder& builder, const Operand& from, const Operand& to, const Shape& in,
              const Shape& out, const Shape& before, int64_t value) {
  const Operand middle = box_in(to, out, before, in);
  if (from.tensor != middle.tensor || from.origin != middle.origin) builder.copy(from, middle);
  Shape begin(out.size(), 0), size = out;
  const auto fill = [&](size_t axis, int64_t first, int64_t count) {
    if (count == 0) return;
    Shape at = begin, of = size;
    at[axis] = first;
    of[axis] = count;
    const Operand border = box_in(to, out, at, of);
    builder.copy(builder.filled(builder.type_of(to), border.extent, value), border);
  };
  for (size_t axis = 0; axis < out.size(); ++axis) {
    fill(axis, 0, before[axis]);
    fill(axis, before[axis] + in[axis], out[axis] - before[axis] - in[axis]);
    begin[axis] = before[axis];
    size[axis] = in[axis];
  }
}

}  // namespace

Reason refuses_pad(const Site& site) {
  if (site.has(1) && !site.in(1).constant.valid())
    return std::string("the value to pad with is not constant");
  const auto& a = site.node.attrs<graph::PadAttrs>();
  if (site.in().quantization != site.out().quantization)
    return std::string("input and output differ in quantisation");
  if (box_of(site.out().shape, a.before, site.in().shape)) return std::nullopt;
  for (const PaddedShape& step : pad_steps(site))
    if (!step.is_box())
      return fmt::format("padding [{}] to [{}] has an extent of {}, above {}",
                         fmt::join(site.in().shape, ","), fmt::join(site.out().shape, ","),
                         std::ranges::max(step.out), kMostExtent);
  return std::nullopt;
}

void legalise_pad(Builder& builder, const Node& node) {
  const auto& a = node.attrs<graph::PadAttrs>();
  const Site site{builder.module(), builder.function(), node};
  const Shape &in = site.in().shape, &out = site.out().shape;
  const int64_t value = pad_value(site);
  const graph::TensorId to = node.outputs.at(0);
  Operand from = builder.read(node.inputs.at(0));
  if (box_of(out, a.before, in))
    return pad_into(builder, from, builder.write(to), in, out, a.before, value);
  const std::vector<PaddedShape> steps = pad_steps(site);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Extent extent = extent_of(steps[i].out);
    const Operand padded = i + 1 == steps.size()
                               ? builder.write_as(to, extent)
                               : builder.inner("padded", site.in().type, extent, from.zero_point);
    pad_into(builder, builder.reshaped(from, extent_of(steps[i].in)), padded, steps[i].in,
             steps[i].out, steps[i].before, value);
    from = padded;
  }
}

namespace {

Shape with_axis(Shape shape, int64_t axis, int64_t extent) {
  shape.at(static_cast<size_t>(axis)) = extent;
  return shape;
}

// Copies whose commands are few whatever they move.
constexpr int64_t kMostMovedPieces = 64;

// Why a step along this axis is none that the NPU's strides take; null: it is one.
const char* refuses_step(const Shape& whole, const Shape& size, const Shape& stride, size_t axis) {
  if (size[axis] == 1 || stride[axis] == 1) return nullptr;
  if (stride[axis] < 0) return "the NPU does not read backwards";
  if (axis + 1 == stride.size()) return "the NPU does not skip channels";
  const size_t rank = whole.size();
  if (axis + 2 < rank && element_count(whole) != whole[axis] * whole[rank - 1] * whole[rank - 2])
    return "images are skipped beside rows";
  return nullptr;
}

// A slice in one piece, or place by place along the one axis whose steps are none of the NPU's.
std::vector<Part> slices_of(graph::TensorId out, const Shape& whole, const graph::SliceAttrs& a) {
  const Part all{out, a.begin, a.size, a.stride};
  std::vector<Part> parts;
  for (size_t axis = 0; axis < a.stride.size(); ++axis) {
    if (refuses_step(whole, a.size, a.stride, axis) == nullptr) continue;
    if (a.size[axis] > kMostMovedPieces || !parts.empty() || !a.drop.empty()) return {all};
    for (int64_t i = 0; i < a.size[axis]; ++i) {
      Part& part = parts.emplace_back(all);
      part.begin[axis] += i * a.stride[axis];
      part.size[axis] = part.stride[axis] = 1;
      part.at = with_axis(Shape(a.size.size(), 0), static_cast<int64_t>(axis), i);
    }
  }
  return parts.empty() ? std::vector<Part>{all} : parts;
}

// A box of the whole with as few axes as say which elements it has: those of one place are dropped, and one that is whole is one with
// the axis before it. Of a tensor that is read, its elements may be seen so where they are no box otherwise.
Part with_merged_axes(const Part& part, const Shape& whole) {
  Part merged{part.tensor, {}, {}, {}};
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    const int64_t stride = part.stride.empty() ? 1 : part.stride[axis];
    const bool is_whole = part.begin[axis] == 0 && part.size[axis] == whole[axis] && stride == 1;
    if (whole[axis] == 1) continue;
    if (is_whole && !merged.of.empty() && (merged.stride.back() == 1 || merged.size.back() == 1)) {
      for (Shape* each : {&merged.of, &merged.begin, &merged.size}) each->back() *= whole[axis];
      merged.stride.back() = 1;
    } else {
      merged.of.push_back(whole[axis]);
      merged.begin.push_back(part.begin[axis]);
      merged.size.push_back(part.size[axis]);
      merged.stride.push_back(stride);
    }
  }
  return merged;
}

// What the rules below take: the box as it is, or with merged axes.
Part as_box(const Part& part, const Shape& whole) {
  constexpr int64_t kMostExtent = 65536;
  if (box_of(whole, part.begin, part.size)) return part;
  Part merged = with_merged_axes(part, whole);
  bool fits = merged.of.size() <= 3;
  for (size_t axis = 0; axis < merged.of.size(); ++axis)
    fits &= merged.of[axis] <= kMostExtent &&
            refuses_step(merged.of, merged.size, merged.stride, axis) == nullptr;
  return fits ? merged : part;
}

}  // namespace

std::vector<Part> parts_of(const graph::Function& function, const Node& node) {
  using graph::OpKind;
  std::vector<Part> parts;
  const auto shape = [&](graph::TensorId id) -> const Shape& { return function.tensor(id).shape; };
  const bool joins = node.kind == OpKind::Concat || node.kind == OpKind::Pack;
  const graph::TensorId whole = joins ? node.outputs.at(0) : node.inputs.at(0);
  if (node.kind == OpKind::Slice) {
    const auto& a = node.attrs<graph::SliceAttrs>();
    const Part merged = as_box({node.outputs.at(0), a.begin, a.size, a.stride}, shape(whole));
    return merged.of.empty() ? slices_of(node.outputs.at(0), shape(whole), a) : std::vector{merged};
  }
  int64_t axis = 0, next = 0;
  if (node.kind == OpKind::Split)
    axis = node.attrs<graph::SplitAttrs>().axis;
  else
    axis = node.attrs<graph::AxisAttrs>().axis;
  const bool drops_axis = node.kind == OpKind::Pack || node.kind == OpKind::Unpack;
  for (const graph::TensorId id : joins ? node.inputs : node.outputs) {
    const int64_t extent = drops_axis ? 1 : shape(id).at(static_cast<size_t>(axis));
    parts.push_back({id,
                     with_axis(Shape(shape(whole).size(), 0), axis, next),
                     with_axis(shape(whole), axis, extent),
                     {}});
    parts.back() = as_box(parts.back(), shape(whole));
    next += extent;
  }
  return parts;
}

Reason refuses_parts(const Site& site) {
  using graph::OpKind;
  const bool joins = site.node.kind == OpKind::Concat || site.node.kind == OpKind::Pack;
  for (const Part& part : parts_of(site.function, site.node)) {
    const Shape& whole = !part.of.empty() ? part.of : joins ? site.out().shape : site.in().shape;
    for (size_t axis = 0; axis < part.stride.size(); ++axis)
      if (const char* reason = refuses_step(whole, part.size, part.stride, axis)) return reason;
    if (!box_of(whole, part.begin, part.size) ||
        (!part.at.empty() && !box_of(site.out().shape, part.at, part.size)))
      return std::string("a piece is no box of one image");
  }
  return std::nullopt;
}

void legalise_parts(Builder& builder, const Node& node) {
  using graph::OpKind;
  const bool joins = node.kind == OpKind::Concat || node.kind == OpKind::Pack;
  std::optional<Operand> merged;  // the whole with fewer axes: all parts go into the same one
  for (const Part& part : parts_of(builder.function(), node)) {
    if (joins && !part.of.empty()) {
      if (!merged) merged = builder.write_as(node.outputs.at(0), extent_of(part.of));
      copy_box(builder, builder.read(part.tensor), box_in(*merged, part.of, part.begin, part.size));
      continue;
    }
    if (joins) {
      copy_box(builder, builder.read(part.tensor),
               builder.part(node.outputs.at(0), part.begin, part.size));
      continue;
    }
    const Operand from =
        builder.part(node.inputs.at(0), part.begin, part.size, part.stride, part.of);
    copy_box(builder, from,
             part.at.empty() ? builder.write_as(part.tensor, from.extent)
                             : builder.part(part.tensor, part.at, part.size));
  }
}

}  // namespace intarsia::targets::ethos_u
