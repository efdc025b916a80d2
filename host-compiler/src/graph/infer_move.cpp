// Rules of the operators that only move elements.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "graph/op_check.h"

namespace intarsia::graph {
namespace {

using enum DataType;

// Every operand and output has one type of whole bytes.
bool moves(OpCheck& check) {
  const DataType type = check.in(0).type;
  bool same = bits(type) >= 8;
  for (size_t i = 0; i < check.node.inputs.size(); ++i) same &= check.in(i).type == type;
  for (size_t i = 0; i < check.node.outputs.size(); ++i) same &= check.out(i).type == type;
  return check.require(same, fmt::format("cannot move the types {}", check.types_text()),
                       "operands and outputs have to have one type of whole bytes");
}

bool is_axis(OpCheck& check, int64_t axis, size_t rank) {
  return check.require(axis >= 0 && axis < static_cast<int64_t>(rank),
                       rank == 0
                           ? "a scalar has no axes"
                           : fmt::format("axis {} is not a number of 0 .. {}", axis, rank - 1));
}

bool per_axis(OpCheck& check, std::string_view what, const std::vector<int64_t>& values,
              size_t rank) {
  return check.require(values.size() == rank,
                       fmt::format("has {} values of '{}' for {} axes", values.size(), what, rank));
}

bool image(OpCheck& check) {
  return moves(check) & check.rank(0, 4, "input");
}

}  // namespace

Shapes infer_concat(OpCheck& check) {
  const int64_t axis = check.node.attrs<AxisAttrs>().axis;
  Shape result = check.in(0).shape;
  if (!moves(check) || !is_axis(check, axis, result.size())) return {};
  const auto along = static_cast<size_t>(axis);
  for (size_t i = 1; i < check.node.inputs.size(); ++i) {
    Shape shape = check.in(i).shape;
    if (shape.size() != result.size()) {
      check.fail(
          fmt::format("input {} has rank {}, but input 0 has {}", i, shape.size(), result.size()));
      return {};
    }
    const int64_t extent = shape[along];
    shape[along] = result[along];
    check.require(
        shape == result,
        fmt::format("input {} has the shape [{}], which differs from input 0's [{}] in "
                    "more than axis {}",
                    i, fmt::join(check.in(i).shape, ","), fmt::join(check.in(0).shape, ","), axis));
    result[along] += extent;
  }
  return {result};
}

Shapes infer_pack(OpCheck& check) {
  const int64_t axis = check.node.attrs<AxisAttrs>().axis;
  Shape result = check.in(0).shape;
  if (!moves(check) || !is_axis(check, axis, result.size() + 1)) return {};
  for (size_t i = 1; i < check.node.inputs.size(); ++i)
    check.require(check.in(i).shape == result,
                  fmt::format("input {} has the shape [{}], but input 0 has [{}]", i,
                              fmt::join(check.in(i).shape, ","), fmt::join(result, ",")));
  result.insert(result.begin() + axis, static_cast<int64_t>(check.node.inputs.size()));
  return {result};
}

Shapes infer_split(OpCheck& check) {
  const auto& a = check.node.attrs<SplitAttrs>();
  const Shape& input = check.in(0).shape;
  if (!moves(check) || !is_axis(check, a.axis, input.size())) return {};
  if (!check.require(
          a.sizes.size() == check.node.outputs.size(),
          fmt::format("has {} sizes for {} outputs", a.sizes.size(), check.node.outputs.size())))
    return {};
  Shapes shapes;
  int64_t sum = 0;
  for (const int64_t size : a.sizes) {
    if (!check.in_range("size", size, 1)) return {};
    sum += size;
    shapes.push_back(input);
    shapes.back()[static_cast<size_t>(a.axis)] = size;
  }
  const int64_t extent = input[static_cast<size_t>(a.axis)];
  check.require(sum == extent,
                fmt::format("its sizes add up to {}, but axis {} has {}", sum, a.axis, extent));
  return shapes;
}

Shapes infer_unpack(OpCheck& check) {
  const int64_t axis = check.node.attrs<AxisAttrs>().axis;
  Shape shape = check.in(0).shape;
  if (!moves(check) || !is_axis(check, axis, shape.size())) return {};
  const auto along = static_cast<size_t>(axis);
  check.require(static_cast<int64_t>(check.node.outputs.size()) == shape[along],
                fmt::format("has {} outputs, but axis {} has {} elements",
                            check.node.outputs.size(), axis, shape[along]));
  shape.erase(shape.begin() + axis);
  return Shapes(check.node.outputs.size(), shape);
}

Shapes infer_slice(OpCheck& check) {
  const auto& a = check.node.attrs<SliceAttrs>();
  const Shape& input = check.in(0).shape;
  const bool complete = moves(check) & per_axis(check, "begin", a.begin, input.size()) &
                        per_axis(check, "size", a.size, input.size()) &
                        per_axis(check, "stride", a.stride, input.size());
  if (!complete) return {};
  Shape result;
  for (size_t i = 0; i < input.size(); ++i) {
    if (!check.in_range("size", a.size[i], 1)) return {};
    const int64_t first = a.begin[i];
    const bool sane = a.stride[i] != 0 && a.stride[i] >= -kMostWindow && a.stride[i] <= kMostWindow;
    if (!check.require(sane, fmt::format("has the stride {} along axis {}", a.stride[i], i)))
      return {};
    const int64_t last = first + (a.size[i] - 1) * a.stride[i];
    check.require(
        first >= 0 && first < input[i] && last >= 0 && last < input[i],
        fmt::format("takes elements {} to {} of axis {}, which has {}", first, last, i, input[i]));
    const bool dropped = std::ranges::find(a.drop, static_cast<int64_t>(i)) != a.drop.end();
    if (dropped)
      check.require(a.size[i] == 1,
                    fmt::format("drops axis {}, of which it takes {} elements", i, a.size[i]));
    else
      result.push_back(a.size[i]);
  }
  return {result};
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

Shapes infer_pad_v2(OpCheck& check) {
  moves(check);
  check.require(element_count(check.in(1).shape) == 1, "the value is no scalar");
  check.require(check.in(1).constant.valid(), "the value is no constant");
  return infer_pad_extents(check);
}

Shapes infer_mirror_pad(OpCheck& check) {
  const auto& a = check.node.attrs<MirrorPadAttrs>();
  Shape result = check.in(0).shape;
  if (!moves(check) || !per_axis(check, "before", a.before, result.size()) ||
      !per_axis(check, "after", a.after, result.size()))
    return {};
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t most = result[i] - (a.symmetric ? 0 : 1);
    const bool fits =
        a.before[i] >= 0 && a.before[i] <= most && a.after[i] >= 0 && a.after[i] <= most;
    check.require(fits, fmt::format("mirrors {} and {} elements of axis {}, 0 to {} are there",
                                    a.before[i], a.after[i], i, most));
    if (fits) result[i] += a.before[i] + a.after[i];
  }
  return {result};
}

Shapes infer_space_depth(OpCheck& check) {
  const int64_t block = check.node.attrs<BlockAttrs>().block;
  if (!image(check) || !check.in_range("block", block, 1)) return {};
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

Shapes infer_gather(OpCheck& check) {
  const auto& a = check.node.attrs<GatherAttrs>();
  const Shape &data = check.in(0).shape, &indices = check.in(1).shape;
  check.require(check.in(0).type == check.out().type && bits(check.in(0).type) >= 8,
                fmt::format("cannot move the types {}", check.types_text()));
  check.require(check.in(1).type == Int32,
                fmt::format("the indices have to be i32, but are {}", to_string(check.in(1).type)));
  if (!is_axis(check, a.axis, data.size())) return {};
  const bool batched = a.batch_dims >= 0 && a.batch_dims <= a.axis &&
                       a.batch_dims <= static_cast<int64_t>(indices.size()) &&
                       std::equal(data.begin(), data.begin() + a.batch_dims, indices.begin());
  if (!check.require(
          batched, fmt::format("the first {} axes of data and indices do not agree", a.batch_dims)))
    return {};
  Shape result(data.begin(), data.begin() + a.axis);
  result.insert(result.end(), indices.begin() + a.batch_dims, indices.end());
  result.insert(result.end(), data.begin() + a.axis + 1, data.end());
  return {result};
}

Shapes infer_resize(OpCheck& check) {
  const auto& a = check.node.attrs<ResizeAttrs>();
  check.rank(0, 4, "input");
  if (check.node.kind == OpKind::ResizeNearest)
    check.types({{Int8, Int8}, {Int16, Int16}, {Float32, Float32}});
  else
    check.types({{Int8, Int8}, {Float32, Float32}});
  check.in_range("height", a.height, 1), check.in_range("width", a.width, 1);
  check.require(!a.align_corners || !a.half_pixel_centers,
                "aligns corners and centres of pixels at once");
  if (!check.ok()) return {};
  const Shape& in = check.in(0).shape;
  // Positions are computed in fixed point with 10 bits, in 32-bit integers.
  constexpr int64_t kMostExtent = 1 << 16;
  check.require(std::max({in[1], in[2], a.height, a.width}) <= kMostExtent,
                fmt::format("resizes images of more than {} pixels a side", kMostExtent));
  return {{in[0], a.height, a.width, in[3]}};
}

}  // namespace intarsia::graph
