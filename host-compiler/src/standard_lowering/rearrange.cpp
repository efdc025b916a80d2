// Operators that only move elements, as strided copies.
#include <algorithm>

#include "intarsia/rounding.h"
#include "standard_lowering/dims.h"
#include "standard_lowering/families.h"
#include "standard_lowering/strided_copy.h"

namespace intarsia::standard_lowering {

namespace {

using graph::OpKind;

Shape flat(const graph::Tensor& tensor) {
  return {element_count(tensor.shape)};
}

void declare_flat(OpLowering& op) {
  const OpView& v = op.view;
  std::vector<std::optional<Shape>> inputs;
  std::vector<Shape> outputs;
  for (size_t i = 0; i < v.node.inputs.size(); ++i) inputs.emplace_back(flat(v.in(i)));
  for (size_t i = 0; i < v.node.outputs.size(); ++i) outputs.push_back(flat(v.out(i)));
  op.declare(inputs, outputs);
}

int64_t product(const Shape& shape, size_t first, size_t last) {
  int64_t result = 1;
  for (size_t axis = first; axis < last; ++axis) result *= shape[axis];
  return result;
}

}  // namespace

Refusal refuses_move(const OpView& view) {
  const DataType type = view.out().type;
  if (bits(type) < 8 || view.in(0).type != type) return refuses_types(view, {});
  return std::nullopt;
}

// Along the axis, every input is a run of the output's rows.
Stmt lower_concat(OpLowering& op) {
  const OpView& v = op.view;
  const auto axis = static_cast<size_t>(v.node.attrs<graph::AxisAttrs>().axis);
  const Shape& out = v.out().shape;
  const int64_t outer = product(out, 0, axis), row = product(out, axis, out.size());
  declare_flat(op);
  std::vector<Stmt> copies;
  int64_t first = 0;
  for (size_t i = 0; i < v.node.inputs.size(); ++i) {
    const int64_t run = element_count(v.in(i).shape) / outer;
    copies.push_back(
        strided_copy(op.b, op.in(i), op.out(), {{outer, run}, 0, {run, 1}, first, {row, 1}}));
    first += run;
  }
  return tir::seq(std::move(copies));
}

Stmt lower_split(OpLowering& op) {
  const OpView& v = op.view;
  const bool is_unpack = v.node.kind == OpKind::Unpack;
  const auto axis = static_cast<size_t>(is_unpack ? v.node.attrs<graph::AxisAttrs>().axis
                                                  : v.node.attrs<graph::SplitAttrs>().axis);
  const Shape& in = v.in(0).shape;
  const int64_t outer = product(in, 0, axis), row = product(in, axis, in.size());
  declare_flat(op);
  std::vector<Stmt> copies;
  int64_t first = 0;
  for (size_t i = 0; i < v.node.outputs.size(); ++i) {
    const int64_t run = element_count(v.out(i).shape) / outer;
    copies.push_back(
        strided_copy(op.b, op.in(0), op.out(i), {{outer, run}, first, {row, 1}, 0, {run, 1}}));
    first += run;
  }
  return tir::seq(std::move(copies));
}

Stmt lower_slice(OpLowering& op) {
  const OpView& v = op.view;
  const auto& attrs = v.node.attrs<graph::SliceAttrs>();
  const std::vector<int64_t> strides = dense_strides(v.in(0).shape);
  StridedCopy copy{attrs.size, 0, strides, 0, dense_strides(attrs.size)};
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    copy.from_offset += attrs.begin[axis] * strides[axis];
    copy.from_strides[axis] *= attrs.stride[axis];
  }
  declare_flat(op);
  return strided_copy(op.b, op.in(0), op.out(), copy);
}

Stmt lower_transpose(OpLowering& op) {
  const OpView& v = op.view;
  const std::vector<int64_t> strides = dense_strides(v.in(0).shape);
  StridedCopy copy{v.out().shape, 0, {}, 0, dense_strides(v.out().shape)};
  for (const int64_t axis : v.node.attrs<graph::TransposeAttrs>().permutation)
    copy.from_strides.push_back(strides[static_cast<size_t>(axis)]);
  declare_flat(op);
  return strided_copy(op.b, op.in(0), op.out(), copy);
}

// [N, H, W, C] in blocks, and the same elements as [N, H/b, W/b, b, b, C].
Stmt lower_space_depth(OpLowering& op) {
  const OpView& v = op.view;
  const bool to_depth = v.node.kind == OpKind::SpaceToDepth;
  const int64_t block = v.node.attrs<graph::BlockAttrs>().block;
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

namespace {

// A value of the tensor's type: its zero point, or 0.
Expr zero_of(const graph::Tensor& tensor) {
  if (tensor.type == DataType::Float32) return tir::float_imm(0.0f);
  const int64_t zero = tensor.quantization.present() ? tensor.quantization.zero_point[0] : 0;
  return tir::int_imm(zero, tensor.type);
}

Stmt fill(OpLowering& op, const Expr& value) {
  return op.b.loop("i", element_count(op.view.out().shape),
                   [&](const Expr& i) { return op.b.store(op.out(), {i}, value); });
}

}  // namespace

// One copy per position inside of a block: pixel p of the space is element (p + before) / block of
// batch tile (p + before) mod block.
Stmt lower_batch_space(OpLowering& op) {
  const OpView& v = op.view;
  const auto& attrs = v.node.attrs<graph::BatchSpaceAttrs>();
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

// Each axis has up to three parts: mirrored before, itself, mirrored after.
Stmt lower_mirror_pad(OpLowering& op) {
  const OpView& v = op.view;
  const auto& attrs = v.node.attrs<graph::MirrorPadAttrs>();
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  const std::vector<int64_t> from = dense_strides(in), to = dense_strides(out);
  const int64_t edge = attrs.symmetric ? 0 : 1;
  std::vector<StridedCopy> parts{{{}, 0, {}, 0, {}}};
  for (size_t axis = 0; axis < in.size(); ++axis) {
    std::vector<StridedCopy> next;
    const auto add = [&](int64_t count, int64_t first_from, int64_t step, int64_t first_to) {
      if (count == 0) return;
      for (StridedCopy part : parts) {
        part.extents.push_back(count);
        part.from_offset += first_from * from[axis];
        part.from_strides.push_back(step * from[axis]);
        part.to_offset += first_to * to[axis];
        part.to_strides.push_back(to[axis]);
        next.push_back(std::move(part));
      }
    };
    const int64_t before = attrs.before[axis], after = attrs.after[axis], extent = in[axis];
    add(before, before - 1 + edge, -1, 0);
    add(extent, 0, 1, before);
    add(after, extent - 1 - edge, -1, before + extent);
    parts = std::move(next);
  }
  declare_flat(op);
  std::vector<Stmt> copies;
  for (const StridedCopy& part : parts)
    copies.push_back(strided_copy(op.b, op.in(0), op.out(), part));
  return tir::seq(std::move(copies));
}

Refusal refuses_pad_v2(const OpView& view) {
  if (!view.is_constant(1)) return "the value is no constant";
  if (bits(view.out().type) > 32) return refuses_types(view, {});
  return refuses_move(view);
}

Refusal refuses_gather(const OpView& view) {
  if (view.in(1).type != DataType::Int32) return "the indices are not i32";
  return refuses_move(view);
}

// An index outside of the axis takes the nearest element: generated code has no way to refuse.
Stmt lower_gather(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<graph::GatherAttrs>();
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

}  // namespace intarsia::standard_lowering
