// Operators that move elements.
#include <algorithm>

#include "support/random_builder.h"

namespace intarsia::testing::families {

Module reshape(Builder& b) {
  Random& r = b.random();
  const Shape shape{r.range(1, 3), r.range(1, 4), r.range(1, 5)};
  const TensorId input = b.input(shape);
  b.node().attributes = ReshapeAttrs{{shape[2], shape[0] * shape[1]}};
  return b.finish(b.type(), b.tensor(input).quantization);
}

Module pad(Builder& b) {
  Random& r = b.random();
  Shape shape;
  PadAttrs attrs;
  const int64_t rank = r.range(1, 4);
  for (int64_t axis = 0; axis < rank; ++axis) {
    shape.push_back(r.range(1, 4));
    attrs.before.push_back(r.chance(50) ? r.range(0, 3) : 0);
    attrs.after.push_back(r.chance(50) ? r.range(0, 3) : 0);
  }
  const TensorId input = b.input(shape);
  b.node().attributes = attrs;
  return b.finish(b.type(), b.tensor(input).quantization);
}

Module moved(Builder& b, OpKind kind) {
  Random& r = b.random();
  const auto finish = [&] { return b.finish(b.type(), b.tensor(b.node().inputs[0]).quantization); };
  switch (kind) {
    case OpKind::Concat:
    case OpKind::Pack: {
      Shape shape = small_shape(r, 1, 4);
      const int64_t axis = r.range(0, static_cast<int64_t>(shape.size()) - 1);
      for (int64_t i = r.range(1, 5); i > 0; --i) {
        b.input(shape);
        if (kind == OpKind::Concat) shape[static_cast<size_t>(axis)] = r.range(1, 4);
      }
      b.node().attributes = AxisAttrs{axis};
      return finish();
    }
    case OpKind::Split: {
      Shape shape = small_shape(r, 1, 4);
      SplitAttrs a{r.range(0, static_cast<int64_t>(shape.size()) - 1), {}};
      shape[static_cast<size_t>(a.axis)] = 0;
      for (int64_t i = r.range(1, 3); i > 0; --i) {
        a.sizes.push_back(r.range(1, 3));
        shape[static_cast<size_t>(a.axis)] += a.sizes.back();
      }
      const TensorId input = b.input(shape);
      for (size_t i = 1; i < a.sizes.size(); ++i) b.output(b.tensor(input).quantization);
      b.node().attributes = a;
      return finish();
    }
    case OpKind::Unpack: {
      const Shape shape = small_shape(r, 1, 4);
      const int64_t axis = r.range(0, static_cast<int64_t>(shape.size()) - 1);
      const TensorId input = b.input(shape);
      for (int64_t i = 1; i < shape[static_cast<size_t>(axis)]; ++i)
        b.output(b.tensor(input).quantization);
      b.node().attributes = AxisAttrs{axis};
      return finish();
    }
    case OpKind::Slice: {
      SliceAttrs a;
      Shape shape;
      for (int64_t axis = 0, rank = r.range(1, 4); axis < rank; ++axis) {
        const int64_t extent = r.range(1, 7), size = r.range(1, extent);
        const int64_t most = size == 1 ? 3 : (extent - 1) / (size - 1);
        const int64_t stride = r.range(1, std::max<int64_t>(1, most));
        const int64_t slack = extent - 1 - (size - 1) * stride, first = r.range(0, slack);
        const bool backwards = r.chance(30);
        shape.push_back(extent), a.size.push_back(size);
        a.begin.push_back(backwards ? first + (size - 1) * stride : first);
        a.stride.push_back(backwards ? -stride : stride);
        if (size == 1 && r.chance(30)) a.drop.push_back(axis);
      }
      b.input(shape);
      b.node().attributes = a;
      return finish();
    }
    case OpKind::Transpose: {
      const Shape shape = small_shape(r, 1, 5);
      TransposeAttrs a;
      for (size_t axis = 0; axis < shape.size(); ++axis)
        a.permutation.insert(a.permutation.begin() + r.range(0, static_cast<int64_t>(axis)),
                             static_cast<int64_t>(axis));
      b.input(shape);
      b.node().attributes = a;
      return finish();
    }
    case OpKind::SpaceToDepth:
    case OpKind::DepthToSpace: {
      const int64_t block = r.range(1, 3), squared = block * block;
      if (kind == OpKind::SpaceToDepth)
        b.input({r.range(1, 2), block * r.range(1, 3), block * r.range(1, 3), r.range(1, 3)});
      else
        b.input({r.range(1, 2), r.range(1, 3), r.range(1, 3), squared * r.range(1, 3)});
      b.node().attributes = BlockAttrs{block};
      return finish();
    }
    case OpKind::SpaceToBatch:
    case OpKind::BatchToSpace: {
      BatchSpaceAttrs a;
      Shape shape{1};
      const bool to_batch = kind == OpKind::SpaceToBatch;
      for (int64_t axis = 0; axis < 2; ++axis) {
        const int64_t block = r.range(1, 3), blocks = r.range(1, 3);
        a.block.push_back(block);
        a.before.push_back(r.range(0, block - 1));
        a.after.push_back(to_batch ? r.range(0, 2) : 0);
        if (to_batch) {
          const int64_t padded = a.before.back() + a.after.back();
          int64_t extent = r.range(1, 6);
          while ((extent + padded) % block != 0) ++extent;
          shape.push_back(extent);
        } else {
          shape[0] *= block;
          shape.push_back(blocks);
        }
      }
      if (to_batch) shape[0] = r.range(1, 2);
      shape.push_back(r.range(1, 3));
      b.input(shape);
      b.node().attributes = a;
      return finish();
    }
    case OpKind::MirrorPad: {
      MirrorPadAttrs a;
      a.symmetric = r.chance(50);
      const Shape shape = small_shape(r, 1, 4);
      for (const int64_t extent : shape) {
        const int64_t most = extent - (a.symmetric ? 0 : 1);
        a.before.push_back(r.range(0, most)), a.after.push_back(r.range(0, most));
      }
      b.input(shape);
      b.node().attributes = a;
      return finish();
    }
    default: {  // pad_v2
      PadAttrs a;
      const Shape shape = small_shape(r, 1, 4);
      for (size_t axis = 0; axis < shape.size(); ++axis)
        a.before.push_back(r.range(0, 2)), a.after.push_back(r.range(0, 2));
      const TensorId input = b.input(shape);
      b.constant({}, b.type(), b.tensor(input).quantization, -100, 100);
      b.node().attributes = a;
      return finish();
    }
  }
}

Module gather(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 3);
  GatherAttrs a;
  a.axis = r.range(0, static_cast<int64_t>(shape.size()) - 1);
  const TensorId input = b.input(shape);
  b.constant({r.range(1, 5)}, DataType::Int32, {}, 0, shape[static_cast<size_t>(a.axis)] - 1);
  b.node().attributes = a;
  return b.finish(b.type(), b.tensor(input).quantization);
}

Module gather_nd(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 4);
  const int64_t depth = r.range(1, static_cast<int64_t>(shape.size()));
  const TensorId input = b.input(shape);
  const int64_t least = *std::min_element(shape.begin(), shape.begin() + depth);
  b.constant({r.range(1, 4), depth}, DataType::Int32, {}, 0, least - 1);
  b.node().attributes = NoAttrs{};
  return b.finish(b.type(), b.tensor(input).quantization);
}

// Rows may name a place more than once, and places outside.
Module scatter_nd(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 4);
  const int64_t depth = r.range(1, static_cast<int64_t>(shape.size()));
  Shape indices = small_shape(r, 0, 2), updates = indices;
  indices.push_back(depth);
  updates.insert(updates.end(), shape.begin() + depth, shape.end());
  const TensorId data = b.input(r.chance(60) ? shape : Shape{});
  const int64_t most = *std::max_element(shape.begin(), shape.begin() + depth);
  b.constant(indices, DataType::Int32, {}, r.chance(30) ? -1 : 0, most - 1);
  const TensorId update = b.input(updates);
  b.tensor(update).quantization = b.tensor(data).quantization;
  const bool sums = b.type() == DataType::Float32 || b.type() == DataType::Int32;
  const bool selects = sums || b.type() == DataType::Int8 || b.type() == DataType::Int16;
  b.node().attributes =
      ScatterAttrs{shape, sums      ? r.pick<std::string>({"none", "add", "mul", "max", "min"})
                          : selects ? r.pick<std::string>({"none", "max", "min"})
                                    : "none"};
  return b.finish(b.type(), b.tensor(data).quantization);
}

Module dynamic_update_slice(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 3);
  Shape update;
  for (const int64_t extent : shape) update.push_back(r.range(1, extent));
  const TensorId input = b.input(shape);
  b.input(update);
  const Shape starts{static_cast<int64_t>(shape.size())};
  if (r.chance(50)) {
    b.constant(starts, DataType::Int32, {}, -3, 6);
  } else {
    b.tensor(b.input(starts, DataType::Int32)).quantization = {};
  }
  b.node().attributes = NoAttrs{};
  return b.finish(b.type(), b.tensor(input).quantization);
}

Module repeated(Builder& b, OpKind kind) {
  Random& r = b.random();
  Shape shape = small_shape(r, 1, 3), larger = shape;
  TileAttrs tile;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    tile.multiples.push_back(r.range(1, 3));
    if (r.chance(50)) shape[axis] = 1;
  }
  if (r.chance(50)) larger.insert(larger.begin(), r.range(1, 3));
  const TensorId input = b.input(shape);
  if (kind == OpKind::Tile) {
    b.node().attributes = tile;
  } else {
    b.node().attributes = ShapeAttrs{larger};
  }
  return b.finish(b.type(), b.tensor(input).quantization);
}

}  // namespace intarsia::testing::families
