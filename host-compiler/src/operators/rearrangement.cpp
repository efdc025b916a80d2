// The same elements in another order or shape, or repeated.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "intarsia/plugin/rounding.h"
#include "operators/evaluation/moved_elements.h"
#include "operators/families.h"
#include "operators/lowering/strided_copy.h"
#include "operators/operand_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_reshape(OpCheck& check) {
  const Shape& shape = check.node.attrs<ReshapeAttrs>().shape;
  const Tensor &input = check.in(0), &output = check.out();
  check.require(input.type == output.type,
                fmt::format("has no arithmetic for the types {}", check.types_text()),
                "input and output have to have one type");
  const std::string problem = shape_problem(input.type, shape);
  if (check.require(problem.empty(), "the attribute 'shape': " + problem))
    check.require(element_count(shape) == element_count(input.shape),
                  fmt::format("cannot reshape [{}] to [{}]", fmt::join(input.shape, ","),
                              fmt::join(shape, ",")));
  return {shape};
}

Shapes infer_transpose(OpCheck& check) {
  const auto& permutation = check.node.attrs<TransposeAttrs>().permutation;
  const Shape& input = check.in(0).shape;
  if (!moves(check) || !per_axis(check, "permutation", permutation, input.size())) return {};
  const std::set<int64_t> axes(permutation.begin(), permutation.end());
  const bool whole = axes.size() == input.size() &&
                     (axes.empty() || (*axes.begin() == 0 &&
                                       *axes.rbegin() == static_cast<int64_t>(input.size()) - 1));
  if (!check.require(whole, fmt::format("[{}] is no permutation of the axes 0 .. {}",
                                        fmt::join(permutation, ","), input.size() - 1)))
    return {};
  Shape result;
  for (const int64_t axis : permutation) result.push_back(input[static_cast<size_t>(axis)]);
  return {result};
}

Shapes infer_space_depth(OpCheck& check) {
  const int64_t block = check.node.attrs<BlockAttrs>().block;
  if (!(moves(check) & check.rank(0, 4, "input")) || !check.in_range("block", block, 1)) return {};
  const Shape& in = check.in(0).shape;
  if (check.node.kind == OpKind::SpaceToDepth) {
    check.require(in[1] % block == 0 && in[2] % block == 0,
                  fmt::format("{}x{} is no multiple of the block {}", in[1], in[2], block));
    if (!check.ok()) return {};
    return {{in[0], in[1] / block, in[2] / block, in[3] * block * block}};
  }
  check.require(block <= 1024 && in[3] % (block * block) == 0,
                fmt::format("{} channels are no multiple of {} squared", in[3], block));
  if (!check.ok()) return {};
  return {{in[0], in[1] * block, in[2] * block, in[3] / (block * block)}};
}

Shapes infer_batch_space(OpCheck& check) {
  const auto& a = check.node.attrs<BatchSpaceAttrs>();
  const bool to_batch = check.node.kind == OpKind::SpaceToBatch;
  Shape shape = check.in(0).shape;
  const size_t axes = a.block.size();
  if (!moves(check) || !per_axis(check, "before", a.before, axes) ||
      !per_axis(check, "after", a.after, axes))
    return {};
  if (!check.require(axes >= 1 && axes < shape.size(),
                     fmt::format("has {} blocks for rank {}", axes, shape.size())))
    return {};
  for (size_t i = 0; i < axes; ++i) {
    if (!check.in_range("block", a.block[i], 1) || !check.in_range("before", a.before[i], 0) ||
        !check.in_range("after", a.after[i], 0))
      return {};
    int64_t& extent = shape[i + 1];
    // So that no product of the blocks is beyond all numbers.
    const int64_t largest = to_batch ? shape[0] : extent;
    if (!check.require(largest <= kMaxTensorBytes / a.block[i],
                       fmt::format("the block {} makes axis {} longer than any tensor", a.block[i],
                                   to_batch ? 0 : i + 1)))
      return {};
    if (to_batch) {
      extent += a.before[i] + a.after[i];
      check.require(extent % a.block[i] == 0,
                    fmt::format("the padded axis {} of {} is no multiple of the block {}", i + 1,
                                extent, a.block[i]));
      extent /= a.block[i];
      shape[0] *= a.block[i];
    } else {
      extent = extent * a.block[i] - a.before[i] - a.after[i];
      check.require(extent >= 1, fmt::format("crops axis {} away", i + 1));
      check.require(
          shape[0] % a.block[i] == 0,
          fmt::format("{} batches cannot be divided by the block {}", shape[0], a.block[i]));
      shape[0] /= a.block[i];
    }
  }
  return {shape};
}

Shapes infer_broadcast_to(OpCheck& check) {
  const Shape& shape = check.node.attrs<ShapeAttrs>().shape;
  if (!moves_one_type(check)) return {};
  const std::string problem = shape_problem(check.in(0).type, shape);
  if (!check.require(problem.empty(), "the attribute 'shape': " + problem)) return {};
  const Shape both = broadcast_shape(check, check.in(0).shape, shape);
  if (check.ok())
    check.require(both == shape,
                  fmt::format("cannot broadcast [{}] to [{}]", fmt::join(check.in(0).shape, ","),
                              fmt::join(shape, ",")));
  return {shape};
}

Shapes infer_tile(OpCheck& check) {
  const auto& multiples = check.node.attrs<TileAttrs>().multiples;
  Shape shape = check.in(0).shape;
  if (!moves_one_type(check) ||
      !check.require(multiples.size() == shape.size(),
                     fmt::format("has {} multiples for {} axes", multiples.size(), shape.size())))
    return {};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!check.in_range("multiple", multiples[i], 1)) return {};
    shape[i] *= multiples[i];
  }
  return {shape};
}

Result<void> eval_transpose(const Invocation& call) {
  const auto& permutation = call.node.attrs<TransposeAttrs>().permutation;
  gather_elements(call, 0, 0, [&](const Shape& at) {
    Shape from(at.size());
    for (size_t axis = 0; axis < at.size(); ++axis)
      from[static_cast<size_t>(permutation[axis])] = at[axis];
    return place_of(from, call.in().shape);
  });
  return {};
}

Result<void> eval_space_depth(const Invocation& call) {
  const int64_t block = call.node.attrs<BlockAttrs>().block;
  const Shape &in = call.in().shape, &out = call.out().shape;
  gather_elements(call, 0, 0, [&](const Shape& at) {
    if (call.node.kind == OpKind::SpaceToDepth) {
      const int64_t tile = at[3] / in[3];
      return place_of(
          {at[0], at[1] * block + tile / block, at[2] * block + tile % block, at[3] % in[3]}, in);
    }
    const int64_t tile = at[1] % block * block + at[2] % block;
    return place_of({at[0], at[1] / block, at[2] / block, tile * out[3] + at[3]}, in);
  });
  return {};
}

// Batch b of the many holds the pixels whose remainders by the block sizes make up b's high digits.
Result<void> eval_batch_space(const Invocation& call) {
  const int64_t zero = call.out().quantization.present() ? call.out_zero_point() : 0;
  const auto* fill = reinterpret_cast<const uint8_t*>(&zero);  // little-endian: the low bytes
  const auto& a = call.node.attrs<BatchSpaceAttrs>();
  const Shape &in = call.in().shape, &out = call.out().shape;
  const auto source = [&](Shape at) -> int64_t {
    if (call.node.kind == OpKind::SpaceToBatch) {
      int64_t tile = at[0] / in[0];
      at[0] %= in[0];
      for (size_t i = a.block.size(); i-- > 0; tile /= a.block[i]) {
        at[i + 1] = at[i + 1] * a.block[i] + tile % a.block[i] - a.before[i];
        if (at[i + 1] < 0 || at[i + 1] >= in[i + 1]) return -1;
      }
      return place_of(at, in);
    }
    int64_t tile = 0;
    for (size_t i = 0; i < a.block.size(); ++i) {
      at[i + 1] += a.before[i];
      tile = tile * a.block[i] + at[i + 1] % a.block[i];
      at[i + 1] /= a.block[i];
    }
    at[0] += tile * out[0];
    return place_of(at, in);
  };
  gather_elements(call, 0, 0, source, fill);
  return {};
}

// Repeated along axes of one element that the output has more of, and along axes that are not there.
Result<void> eval_broadcast_to(const Invocation& call) {
  const Shape& in = call.in().shape;
  gather_elements(call, 0, 0, [&](const Shape& at) {
    Shape from(at.end() - static_cast<int64_t>(in.size()), at.end());
    for (size_t axis = 0; axis < in.size(); ++axis)
      if (in[axis] == 1) from[axis] = 0;
    return place_of(from, in);
  });
  return {};
}

Result<void> eval_tile(const Invocation& call) {
  const Shape& in = call.in().shape;
  gather_elements(call, 0, 0, [&](Shape at) {
    for (size_t axis = 0; axis < in.size(); ++axis) at[axis] %= in[axis];
    return place_of(at, in);
  });
  return {};
}

Stmt lower_transpose(OpLowering& op) {
  const OpView& v = op.view;
  const std::vector<int64_t> strides = dense_strides(v.in(0).shape);
  StridedCopy copy{v.out().shape, 0, {}, 0, dense_strides(v.out().shape)};
  for (const int64_t axis : v.node.attrs<TransposeAttrs>().permutation)
    copy.from_strides.push_back(strides[static_cast<size_t>(axis)]);
  declare_flat(op);
  return strided_copy(op.b, op.in(0), op.out(), copy);
}

// [N, H, W, C] in blocks, and the same elements as [N, H/b, W/b, b, b, C].
Stmt lower_space_depth(OpLowering& op) {
  const OpView& v = op.view;
  const bool to_depth = v.node.kind == OpKind::SpaceToDepth;
  const int64_t block = v.node.attrs<BlockAttrs>().block;
  const Shape& space = to_depth ? v.in(0).shape : v.out().shape;
  const int64_t h = space[1], w = space[2], c = space[3];
  const Shape blocks{space[0], h / block, w / block, block, block, c};
  const std::vector<int64_t> in_space{h * w * c, block * w * c, block * c, w * c, c, 1};
  const std::vector<int64_t> in_depth = dense_strides(blocks);
  declare_flat(op);
  return strided_copy(op.b, op.in(0), op.out(),
                      to_depth ? StridedCopy{blocks, 0, in_space, 0, in_depth}
                               : StridedCopy{blocks, 0, in_depth, 0, in_space});
}

Stmt fill(OpLowering& op, const Expr& value) {
  return op.b.loop("i", element_count(op.view.out().shape),
                   [&](const Expr& i) { return op.b.store(op.out(), {i}, value); });
}

// One copy per position inside of a block: pixel p of the space is element (p + before) / block of
// batch tile (p + before) mod block.
Stmt lower_batch_space(OpLowering& op) {
  const OpView& v = op.view;
  const auto& attrs = v.node.attrs<BatchSpaceAttrs>();
  const bool to_batch = v.node.kind == OpKind::SpaceToBatch;
  const Shape& space = to_batch ? v.in(0).shape : v.out().shape;
  const Shape& batch = to_batch ? v.out().shape : v.in(0).shape;
  const std::vector<int64_t> in_space = dense_strides(space), in_batch = dense_strides(batch);
  const size_t axes = attrs.block.size();
  const int64_t tiles = element_count(attrs.block);
  declare_flat(op);
  std::vector<Stmt> copies;
  if (to_batch) copies.push_back(fill(op, zero_of(v.out())));
  for (int64_t tile = 0; tile < tiles; ++tile) {
    StridedCopy to_tile{space, 0, in_space, tile * space[0] * in_batch[0], in_batch};
    int64_t rest = tile;
    bool empty = false;
    for (size_t i = axes; i-- > 0; rest /= attrs.block[i]) {
      const size_t axis = i + 1;
      const int64_t block = attrs.block[i], phase = rest % block - attrs.before[i];
      // Elements e of the tile with 0 <= e * block + phase < extent.
      const int64_t first = phase < 0 ? ceil_div(-phase, block) : 0;
      const int64_t last = std::min(batch[axis], ceil_div(space[axis] - phase, block));
      empty |= first >= last;
      to_tile.extents[axis] = last - first;
      to_tile.from_offset += (first * block + phase) * in_space[axis];
      to_tile.from_strides[axis] = block * in_space[axis];
      to_tile.to_offset += first * in_batch[axis];
    }
    if (empty) continue;
    if (!to_batch) {
      std::swap(to_tile.from_offset, to_tile.to_offset);
      std::swap(to_tile.from_strides, to_tile.to_strides);
    }
    copies.push_back(strided_copy(op.b, op.in(0), op.out(), to_tile));
  }
  return tir::seq(std::move(copies));
}

Stmt lower_broadcast_to(OpLowering& op) {
  const OpView& v = op.view;
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  const std::vector<int64_t> strides = dense_strides(in);
  StridedCopy copy{out, 0, std::vector<int64_t>(out.size(), 0), 0, dense_strides(out)};
  for (size_t axis = 0; axis < in.size(); ++axis)
    if (in[axis] != 1) copy.from_strides[out.size() - in.size() + axis] = strides[axis];
  op.declare({Shape{element_count(in)}}, Shape{element_count(out)});
  return strided_copy(op.b, op.in(0), op.out(), copy);
}

// Every axis becomes two: which copy, and where in it.
Stmt lower_tile(OpLowering& op) {
  const OpView& v = op.view;
  const Shape& in = v.in(0).shape;
  const auto& multiples = v.node.attrs<TileAttrs>().multiples;
  const std::vector<int64_t> strides = dense_strides(in);
  StridedCopy copy{{}, 0, {}, 0, {}};
  for (size_t axis = 0; axis < in.size(); ++axis) {
    copy.extents.insert(copy.extents.end(), {multiples[axis], in[axis]});
    copy.from_strides.insert(copy.from_strides.end(), {0, strides[axis]});
  }
  copy.to_strides = dense_strides(copy.extents);
  op.declare({Shape{element_count(in)}}, Shape{element_count(v.out().shape)});
  return strided_copy(op.b, op.in(0), op.out(), copy);
}

// Of elements smaller than a byte.
Refusal refuses_part_bytes(const OpView& view) {
  if (bits(view.out().type) < 8) return unsupported_types_text(view);
  return std::nullopt;
}

// The last axis may become part of a longer one, or be split.
ChannelRule reshaped_channels(const Function& function, const Node& node) {
  if (is_constant(function, node, 0)) return {};
  const int64_t in = channel_count(function.tensor(node.inputs[0]));
  const int64_t out = channel_count(function.tensor(node.outputs[0]));
  if (in % out != 0 && out % in != 0) return {};
  ChannelRule rule{ChannelFlow::Tied, {}, {}};
  for (int64_t k = 0; k < std::max(in, out); ++k) rule.ties.push_back({0, k % in, k % out});
  return rule;
}

constexpr Operator kRearrangementOperators[] = {
    {.kind = OpKind::Reshape,
     .infer = infer_reshape,
     .evaluate = eval_reshape,
     .lower = lower_copy,
     .refuses = refuses_part_bytes,
     .channels = reshaped_channels},
    {.kind = OpKind::Transpose,
     .infer = infer_transpose,
     .evaluate = eval_transpose,
     .lower = lower_transpose},
    {.kind = OpKind::SpaceToDepth,
     .infer = infer_space_depth,
     .evaluate = eval_space_depth,
     .lower = lower_space_depth},
    {.kind = OpKind::DepthToSpace,
     .infer = infer_space_depth,
     .evaluate = eval_space_depth,
     .lower = lower_space_depth},
    {.kind = OpKind::SpaceToBatch,
     .infer = infer_batch_space,
     .evaluate = eval_batch_space,
     .lower = lower_batch_space},
    {.kind = OpKind::BatchToSpace,
     .infer = infer_batch_space,
     .evaluate = eval_batch_space,
     .lower = lower_batch_space},
    {.kind = OpKind::BroadcastTo,
     .infer = infer_broadcast_to,
     .evaluate = eval_broadcast_to,
     .lower = lower_broadcast_to},
    {.kind = OpKind::Tile, .infer = infer_tile, .evaluate = eval_tile, .lower = lower_tile},
};

}  // namespace

std::span<const Operator> rearrangement_operators() {
  return kRearrangementOperators;
}

}  // namespace intarsia::operators
