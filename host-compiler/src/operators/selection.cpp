// Parts of a tensor: slices, and what indices name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "operators/evaluation/moved_elements.h"
#include "operators/families.h"
#include "operators/lowering/dims.h"
#include "operators/lowering/strided_copy.h"
#include "operators/operand_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

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

Shapes infer_gather_nd(OpCheck& check) {
  const Shape &data = check.in(0).shape, &indices = check.in(1).shape;
  if (!moves_one_type(check)) return {};
  check.require(check.in(1).type == Int32,
                fmt::format("the indices have to be i32, but are {}", to_string(check.in(1).type)));
  if (!check.require(!indices.empty(), "the indices are a scalar")) return {};
  const int64_t depth = indices.back();
  if (!check.require(depth <= static_cast<int64_t>(data.size()),
                     fmt::format("indexes {} axes of a tensor of rank {}", depth, data.size())))
    return {};
  Shape result(indices.begin(), indices.end() - 1);
  result.insert(result.end(), data.begin() + depth, data.end());
  return {result};
}

Shapes infer_dynamic_update_slice(OpCheck& check) {
  const Shape &operand = check.in(0).shape, &update = check.in(1).shape;
  if (!moves_one_type(check)) return {};
  check.require(check.in(1).type == check.in(0).type,
                "the update has another type than the operand");
  check.require(
      check.in(2).type == Int32 && check.in(2).shape == Shape{static_cast<int64_t>(operand.size())},
      fmt::format("the start indices have to be i32[{}]", operand.size()));
  const bool fits = update.size() == operand.size() &&
                    std::equal(update.begin(), update.end(), operand.begin(), std::less_equal<>());
  check.require(fits, fmt::format("an update of [{}] does not fit into [{}]",
                                  fmt::join(update, ","), fmt::join(operand, ",")));
  return {operand};
}

Result<void> eval_slice(const Invocation& call) {
  const auto& a = call.node.attrs<SliceAttrs>();
  gather_elements(call, 0, 0, [&](const Shape& at) {
    Shape from = a.begin;
    size_t next = 0;
    for (size_t axis = 0; axis < from.size(); ++axis) {
      if (std::ranges::find(a.drop, static_cast<int64_t>(axis)) != a.drop.end()) continue;
      from[axis] += at[next++] * a.stride[axis];
    }
    return place_of(from, call.in().shape);
  });
  return {};
}

// An index outside of the axis is an error of the data.
Result<void> eval_gather(const Invocation& call) {
  const auto& a = call.node.attrs<GatherAttrs>();
  const Shape &data = call.in(0).shape, &indices = call.in(1).shape;
  const auto axis = static_cast<size_t>(a.axis), batch_dims = static_cast<size_t>(a.batch_dims);
  const size_t index_axes = indices.size() - batch_dims;
  const int64_t extent = data[axis];
  for (int64_t i = 0; i < element_count(indices); ++i)
    if (call.data<int32_t>(1)[i] < 0 || call.data<int32_t>(1)[i] >= extent)
      return Diagnostics(place_of(call.function, call.node),
                         "index " + std::to_string(call.data<int32_t>(1)[i]) + " is outside 0 .. " +
                             std::to_string(extent - 1));
  gather_elements(call, 0, 0, [&](const Shape& at) {
    Shape index(at.begin(), at.begin() + a.batch_dims);
    index.insert(index.end(), at.begin() + a.axis,
                 at.begin() + a.axis + static_cast<int64_t>(index_axes));
    Shape from(at.begin(), at.begin() + a.axis);
    from.push_back(call.data<int32_t>(1)[place_of(index, indices)]);
    from.insert(from.end(), at.begin() + a.axis + static_cast<int64_t>(index_axes), at.end());
    return place_of(from, data);
  });
  return {};
}

// The element of a row of indices is a slice of the remaining axes.
Result<void> eval_gather_nd(const Invocation& call) {
  const Shape &data = call.in(0).shape, &indices = call.in(1).shape;
  const auto depth = static_cast<size_t>(indices.back());
  int64_t run = 1;
  for (size_t axis = depth; axis < data.size(); ++axis) run *= data[axis];
  const auto size = static_cast<size_t>(run * bits(call.type()) / 8);
  for (int64_t row = 0; row < element_count(indices) / indices.back(); ++row) {
    int64_t place = 0;
    for (size_t axis = 0; axis < depth; ++axis) {
      const int32_t index = call.data<int32_t>(1)[static_cast<size_t>(row) * depth + axis];
      if (index < 0 || index >= data[axis])
        return Diagnostics(place_of(call.function, call.node), "index " + std::to_string(index) +
                                                                   " is outside 0 .. " +
                                                                   std::to_string(data[axis] - 1));
      place = place * data[axis] + index;
    }
    std::memcpy(call.outputs[0] + static_cast<size_t>(row) * size,
                call.inputs[0] + static_cast<size_t>(place) * size, size);
  }
  return {};
}

Result<void> eval_dynamic_update_slice(const Invocation& call) {
  const Shape &shape = call.in(0).shape, &update = call.in(1).shape;
  const auto size = static_cast<size_t>(bits(call.type()) / 8);
  std::memcpy(call.outputs[0], call.inputs[0], static_cast<size_t>(call.in().bytes()));
  for (int64_t i = 0; i < element_count(update); ++i) {
    int64_t rest = i, place = 0, stride = 1;
    for (size_t axis = shape.size(); axis-- > 0; rest /= update[axis]) {
      const int64_t start =
          std::clamp<int64_t>(call.data<int32_t>(2)[axis], 0, shape[axis] - update[axis]);
      place += (start + rest % update[axis]) * stride;
      stride *= shape[axis];
    }
    std::memcpy(call.outputs[0] + static_cast<size_t>(place) * size,
                call.inputs[1] + static_cast<size_t>(i) * size, size);
  }
  return {};
}

Stmt lower_slice(OpLowering& op) {
  const OpView& v = op.view;
  const auto& attrs = v.node.attrs<SliceAttrs>();
  const std::vector<int64_t> strides = dense_strides(v.in(0).shape);
  StridedCopy copy{attrs.size, 0, strides, 0, dense_strides(attrs.size)};
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    copy.from_offset += attrs.begin[axis] * strides[axis];
    copy.from_strides[axis] *= attrs.stride[axis];
  }
  declare_flat(op);
  return strided_copy(op.b, op.in(0), op.out(), copy);
}

// An index outside of the axis takes the nearest element: generated code has no way to refuse.
Stmt lower_gather(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<GatherAttrs>();
  const Shape &data = v.in(0).shape, &indices = v.in(1).shape;
  const auto axis = static_cast<size_t>(attrs.axis),
             batch_dims = static_cast<size_t>(attrs.batch_dims);
  const int64_t batches = product(data, 0, batch_dims), outer = product(data, batch_dims, axis);
  const int64_t extent = data[axis], inner = product(data, axis + 1, data.size());
  const int64_t count = product(indices, batch_dims, indices.size());
  op.declare({Shape{batches, outer, extent, inner}, Shape{batches, count}},
             {batches, outer, count, inner});
  return b.loop("n", batches, [&](const Expr& n) {
    return b.loop("o", outer, [&](const Expr& o) {
      return b.loop("k", count, [&](const Expr& k) {
        const Expr index =
            tir::max(tir::min(b.load(op.in(1), {n, k}), tir::int_imm(extent - 1)), tir::int_imm(0));
        return b.let("index", index, [&](const Expr& from) {
          return b.loop("i", inner, [&](const Expr& i) {
            return b.store(op.out(), {n, o, k, i}, b.load(op.in(0), {n, o, from, i}));
          });
        });
      });
    });
  });
}

// An index limited to the axis: generated code has no way to refuse.
Expr limited(Expr index, int64_t most) {
  return tir::max(tir::min(std::move(index), tir::int_imm(most)), tir::int_imm(0));
}

Stmt lower_gather_nd(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const Shape &data = v.in(0).shape, &indices = v.in(1).shape;
  const auto depth = static_cast<size_t>(indices.back());
  const int64_t run = product(data, depth, data.size()),
                rows = product(indices, 0, indices.size() - 1);
  Shape folded(data.begin(), data.begin() + indices.back());
  folded.push_back(run);
  op.declare({folded, Shape{rows, indices.back()}}, {rows, run});
  return b.loop("row", rows, [&](const Expr& row) {
    std::vector<Expr> place;
    const std::function<Stmt()> copy_from = [&]() -> Stmt {
      const size_t axis = place.size();
      if (axis == depth) {
        return b.loop("i", run, [&](const Expr& i) {
          std::vector<Expr> from = place;
          from.push_back(i);
          return b.store(op.out(), {row, i}, b.load(op.in(0), from));
        });
      }
      const Expr index = limited(b.load(op.in(1), {row, tir::int_imm(static_cast<int64_t>(axis))}),
                                 data[axis] - 1);
      return b.let("index", index, [&](const Expr& at) {
        place.push_back(at);
        return copy_from();
      });
    };
    return copy_from();
  });
}

Stmt lower_dynamic_update_slice(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const Shape &shape = v.in(0).shape, &update = v.in(1).shape;
  op.declare({shape, update, Shape{static_cast<int64_t>(shape.size())}}, shape);
  const Stmt copy = nested_loops(b, shape, [&](const std::vector<Expr>& at) {
    return b.store(op.out(), at, b.load(op.in(0), at));
  });
  std::vector<Expr> start;
  const std::function<Stmt()> replace = [&]() -> Stmt {
    const size_t axis = start.size();
    if (axis == shape.size()) {
      return nested_loops(b, update, [&](const std::vector<Expr>& from) {
        std::vector<Expr> to;
        for (size_t i = 0; i < from.size(); ++i) to.push_back(start[i] + from[i]);
        return b.store(op.out(), to, b.load(op.in(1), from));
      });
    }
    const Expr first = limited(b.load(op.in(2), {tir::int_imm(static_cast<int64_t>(axis))}),
                               shape[axis] - update[axis]);
    return b.let("start", first, [&](const Expr& at) {
      start.push_back(at);
      return replace();
    });
  };
  return tir::seq(
      {copy, tir::with_comment("the update takes the place of what is there", replace())});
}

// A slice of places, not of channels.
ChannelRule sliced_channels(const Function& function, const Node& node) {
  const auto& a = node.attrs<SliceAttrs>();
  const Shape& input = function.tensor(node.inputs[0]).shape;
  const bool whole =
      !input.empty() && a.begin.back() == 0 && a.size.back() == input.back() &&
      a.stride.back() == 1 &&
      std::ranges::find(a.drop, static_cast<int64_t>(input.size()) - 1) == a.drop.end();
  return whole ? each_channel(function, node) : ChannelRule{};
}

constexpr Operator kSelectionOperators[] = {
    {.kind = OpKind::Slice,
     .infer = infer_slice,
     .evaluate = eval_slice,
     .lower = lower_slice,
     .channels = sliced_channels},
    {.kind = OpKind::Gather, .infer = infer_gather, .evaluate = eval_gather, .lower = lower_gather},
    {.kind = OpKind::GatherNd,
     .infer = infer_gather_nd,
     .evaluate = eval_gather_nd,
     .lower = lower_gather_nd},
    {.kind = OpKind::DynamicUpdateSlice,
     .infer = infer_dynamic_update_slice,
     .evaluate = eval_dynamic_update_slice,
     .lower = lower_dynamic_update_slice},
};

}  // namespace

std::span<const Operator> selection_operators() {
  return kSelectionOperators;
}

}  // namespace intarsia::operators
