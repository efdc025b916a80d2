// Operators that move bytes, as splits and concatenations of images of one column, whose channels may begin anywhere.
#include <algorithm>
#include <numeric>

#include "legalise/rewrites.h"
#include "legalise/rewriting_builder.h"

namespace intarsia::targets::ethos_n {
namespace {

using graph::OpKind;
using graph::TensorId;

constexpr int64_t kMostParts = 64;  // copies that one operator may become

// A tensor around an axis: outer x size x inner.
struct Around {
  int64_t outer = 1, size = 1, inner = 1;
};
Around around(const Shape& shape, int64_t axis) {
  const auto product = [&](size_t begin, size_t end) {
    return std::accumulate(shape.begin() + static_cast<ptrdiff_t>(begin),
                           shape.begin() + static_cast<ptrdiff_t>(end), int64_t{1},
                           std::multiplies<>());
  };
  const auto at = static_cast<size_t>(axis);
  return {product(0, at), shape.at(at), product(at + 1, shape.size())};
}

// The axis that is cut: rows where they are one piece, else channels.
struct Cut {
  int64_t outer, inner;
  int64_t axis() const { return outer == 1 ? 1 : 3; }
  Shape shape(int64_t size) const {
    return outer == 1 ? Shape{1, size, 1, inner} : Shape{1, outer, 1, size * inner};
  }
  int64_t extent(int64_t size) const { return outer == 1 ? size : size * inner; }
};

std::vector<TensorId> split(RewritingBuilder& make, TensorId whole, const Cut& cut,
                            const std::vector<int64_t>& sizes) {
  std::vector<TensorId> parts;
  graph::SplitAttrs attributes{cut.axis(), {}};
  for (const int64_t size : sizes) {
    parts.push_back(make.between(whole, cut.shape(size)));
    attributes.sizes.push_back(cut.extent(size));
  }
  make.node(OpKind::Split, attributes, {whole}, parts);
  return parts;
}
void concat(RewritingBuilder& make, const std::vector<TensorId>& parts, TensorId whole,
            const Cut& cut) {
  make.node(OpKind::Concat, graph::AxisAttrs{cut.axis()}, parts, {whole});
}

// The same bytes as an image of another shape.
TensorId reshaped(RewritingBuilder& make, TensorId from, const Shape& shape) {
  if (make.tensor(from).shape == shape) return from;
  const TensorId to = make.between(from, shape);
  make.node(OpKind::Reshape, graph::ReshapeAttrs{shape}, {from}, {to});
  return to;
}

std::optional<Rewriting> concatenation(const graph::Function& function, const graph::Node& node) {
  const auto axis = node.attrs<graph::AxisAttrs>().axis;
  const bool packs = node.kind == OpKind::Pack;
  const Around whole = around(function.tensor(node.outputs[0]).shape, axis);
  const Cut cut{whole.outer, whole.inner};
  RewritingBuilder make(function, node);
  std::vector<TensorId> parts;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    parts.push_back(make.operand(
        i, cut.shape(packs ? 1
                           : function.tensor(node.inputs[i]).shape.at(static_cast<size_t>(axis)))));
  concat(make, parts, make.result(0, cut.shape(whole.size)), cut);
  return make.finish();
}

std::optional<Rewriting> division(const graph::Function& function, const graph::Node& node) {
  const bool unpacks = node.kind == OpKind::Unpack;
  const auto axis =
      unpacks ? node.attrs<graph::AxisAttrs>().axis : node.attrs<graph::SplitAttrs>().axis;
  const Around whole = around(function.tensor(node.inputs[0]).shape, axis);
  const Cut cut{whole.outer, whole.inner};
  RewritingBuilder make(function, node);
  const TensorId input = make.operand(0, cut.shape(whole.size));
  graph::SplitAttrs attributes{cut.axis(), {}};
  std::vector<TensorId> parts;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const int64_t size = unpacks ? 1 : node.attrs<graph::SplitAttrs>().sizes.at(i);
    attributes.sizes.push_back(cut.extent(size));
    parts.push_back(make.result(i, cut.shape(size)));
  }
  make.node(OpKind::Split, attributes, {input}, parts);
  return make.finish();
}

// Elements [begin, begin + size) of an axis.
TensorId taken(RewritingBuilder& make, TensorId from, const Around& whole, int64_t begin,
               int64_t size) {
  if (size == whole.size) return from;
  const Cut cut{whole.outer, whole.inner};
  std::vector<int64_t> sizes;
  if (begin > 0) sizes.push_back(begin);
  sizes.push_back(size);
  if (begin + size < whole.size) sizes.push_back(whole.size - begin - size);
  return split(make, reshaped(make, from, cut.shape(whole.size)), cut, sizes).at(begin > 0 ? 1 : 0);
}

// Axis by axis: the range, and of every `stride` elements one.
std::optional<Rewriting> slice(const graph::Function& function, const graph::Node& node) {
  const auto& attributes = node.attrs<graph::SliceAttrs>();
  Shape shape = function.tensor(node.inputs[0]).shape;
  RewritingBuilder make(function, node);
  TensorId at = make.operand(0, {1, element_count(shape), 1, 1});
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t begin = attributes.begin.at(axis), size = attributes.size.at(axis),
                  stride = size == 1 ? 1 : attributes.stride.at(axis);
    if (stride < 1) return std::nullopt;
    // Whole groups of `stride` elements, of each the same.
    const int64_t from = std::min(begin, shape[axis] - size * stride), place = begin - from;
    if (from < 0 || place >= stride) return std::nullopt;
    const Around whole = around(shape, static_cast<int64_t>(axis));
    at = taken(make, at, whole, from, size * stride);
    if (stride > 1) at = taken(make, at, {whole.outer * size, stride, whole.inner}, place, 1);
    shape[axis] = size;
  }
  make.result_is(0, at);
  return make.finish();
}

// outer x a x b x inner becomes outer x b x a x inner.
TensorId swapped(RewritingBuilder& make, TensorId from, int64_t outer, int64_t a, int64_t b,
                 int64_t inner) {
  const Cut images{1, a * b * inner};
  const std::vector<TensorId> ones =
      outer == 1 ? std::vector{from}
                 : split(make, reshaped(make, from, images.shape(outer)), images,
                         std::vector<int64_t>(static_cast<size_t>(outer), 1));
  std::vector<TensorId> made;
  for (const TensorId one : ones) {
    // Rows of which each becomes a column, or columns of which each becomes rows: the fewer of the two.
    const Cut in = a <= b ? Cut{1, b * inner} : Cut{a, inner},
              out = a <= b ? Cut{b, inner} : Cut{1, a * inner};
    const int64_t parts = std::min(a, b);
    std::vector<TensorId> pieces = split(make, reshaped(make, one, in.shape(parts)), in,
                                         std::vector<int64_t>(static_cast<size_t>(parts), 1));
    for (TensorId& piece : pieces) piece = reshaped(make, piece, out.shape(1));
    made.push_back(make.between(from, out.shape(parts)));
    concat(make, pieces, made.back(), out);
  }
  if (outer == 1) return made[0];
  for (TensorId& one : made) one = reshaped(make, one, images.shape(1));
  const TensorId whole = make.between(from, images.shape(outer));
  concat(make, made, whole, images);
  return whole;
}

// One block of axes after the other is brought to its place.
std::optional<Rewriting> permuted(const graph::Function& function, const graph::Node& node,
                                  const Shape& shape, const std::vector<int64_t>& permutation) {
  std::vector<int64_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  RewritingBuilder make(function, node);
  TensorId at = make.operand(0, {1, element_count(shape), 1, 1});
  int64_t parts = 0;
  const auto product = [&](size_t begin, size_t end) {
    int64_t elements = 1;
    for (size_t i = begin; i < end; ++i) elements *= shape[static_cast<size_t>(order[i])];
    return elements;
  };
  for (size_t i = 0; i < order.size(); ++i) {
    const auto j =
        static_cast<size_t>(std::find(order.begin(), order.end(), permutation[i]) - order.begin());
    if (j == i) continue;
    size_t end = j + 1;  // those that stay together
    while (end < order.size() && order[end] == permutation[i + end - j]) ++end;
    const int64_t outer = product(0, i), a = product(i, j), b = product(j, end),
                  inner = product(end, order.size());
    std::rotate(order.begin() + static_cast<ptrdiff_t>(i),
                order.begin() + static_cast<ptrdiff_t>(j),
                order.begin() + static_cast<ptrdiff_t>(end));
    if (a == 1 || b == 1) continue;
    parts += outer * std::min(a, b);
    if (parts > kMostParts) return std::nullopt;
    at = swapped(make, at, outer, a, b, inner);
  }
  make.result_is(0, at);
  return make.finish();
}

// Of a batch: its images are one.
std::optional<Rewriting> reshape(const graph::Function& function, const graph::Node& node) {
  const Shape flat = flat_shape(element_count(function.tensor(node.inputs[0]).shape));
  RewritingBuilder make(function, node);
  make.result_is(0, make.operand(0, flat));
  return make.finish();
}

}  // namespace

std::optional<Rewriting> rewrite_move(const graph::Function& function, const graph::Node& node) {
  const Shape& in = function.tensor(node.inputs[0]).shape;
  const Shape& out = function.tensor(node.outputs[0]).shape;
  switch (node.kind) {
    case OpKind::Concat:
    case OpKind::Pack:
      return concatenation(function, node);
    case OpKind::Split:
    case OpKind::Unpack:
      return division(function, node);
    case OpKind::Reshape:
      return reshape(function, node);
    case OpKind::Slice:
      return slice(function, node);
    case OpKind::Transpose:
      return permuted(function, node, in, node.attrs<graph::TransposeAttrs>().permutation);
    case OpKind::SpaceToDepth: {
      const int64_t block = node.attrs<graph::BlockAttrs>().block;
      return permuted(function, node, {out[0] * out[1], block, out[2], block * in[3]},
                      {0, 2, 1, 3});
    }
    case OpKind::DepthToSpace: {
      const int64_t block = node.attrs<graph::BlockAttrs>().block;
      return permuted(function, node, {in[0] * in[1], in[2], block, block * out[3]}, {0, 2, 1, 3});
    }
    default:
      return std::nullopt;
  }
}

}  // namespace intarsia::targets::ethos_n
