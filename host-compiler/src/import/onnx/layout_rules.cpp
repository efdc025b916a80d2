#include "import/onnx/layout_rules.h"

#include <algorithm>

#include "intarsia/plugin/op_families.h"

namespace intarsia::onnx {

using graph::OpKind;

namespace {

std::vector<int64_t> per_axis(const std::vector<int64_t>& values, const AxisOrder& order) {
  std::vector<int64_t> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) result[static_cast<size_t>(order[i])] = values[i];
  return result;
}

std::vector<int64_t> axes(const std::vector<int64_t>& given, const AxisOrder& order) {
  std::vector<int64_t> result;
  for (const int64_t axis : given) result.push_back(order[static_cast<size_t>(axis)]);
  std::ranges::sort(result);
  return result;
}

// The order of what remains when axes vanish.
AxisOrder without(const AxisOrder& order, const std::vector<int64_t>& dropped) {
  AxisOrder kept;
  for (size_t i = 0; i < order.size(); ++i)
    if (std::ranges::find(dropped, static_cast<int64_t>(i)) == dropped.end())
      kept.push_back(order[i]);
  AxisOrder ranks = kept;
  std::ranges::sort(ranks);
  for (int64_t& axis : kept) axis = std::ranges::find(ranks, axis) - ranks.begin();
  return kept;
}

}  // namespace

AxisOrder natural_order(size_t rank) {
  AxisOrder order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(i);
  return order;
}

bool is_elementwise(OpKind kind) {
  return graph::is_elementwise_unary(kind) || graph::is_elementwise_binary(kind) ||
         kind == OpKind::Select;
}

std::optional<Reordered> reordered(const graph::Node& node, size_t rank, const AxisOrder& order) {
  if (is_elementwise(node.kind)) return Reordered{node.attributes, order};
  switch (node.kind) {
    case OpKind::Concat:
    case OpKind::ArgMax:
    case OpKind::ArgMin: {
      const int64_t axis = node.attrs<graph::AxisAttrs>().axis;
      const graph::AxisAttrs attrs{order[static_cast<size_t>(axis)]};
      return Reordered{attrs, node.kind == OpKind::Concat ? order : without(order, {axis})};
    }
    case OpKind::Split: {
      graph::SplitAttrs attrs = node.attrs<graph::SplitAttrs>();
      attrs.axis = order[static_cast<size_t>(attrs.axis)];
      return Reordered{attrs, order};
    }
    case OpKind::Cumsum: {
      graph::CumsumAttrs attrs = node.attrs<graph::CumsumAttrs>();
      attrs.axis = order[static_cast<size_t>(attrs.axis)];
      return Reordered{attrs, order};
    }
    case OpKind::Slice: {
      const auto& a = node.attrs<graph::SliceAttrs>();
      return Reordered{graph::SliceAttrs{per_axis(a.begin, order), per_axis(a.size, order),
                                         per_axis(a.stride, order), axes(a.drop, order)},
                       without(order, a.drop)};
    }
    case OpKind::Pad: {
      const auto& a = node.attrs<graph::PadAttrs>();
      return Reordered{graph::PadAttrs{per_axis(a.before, order), per_axis(a.after, order)}, order};
    }
    case OpKind::MirrorPad: {
      const auto& a = node.attrs<graph::MirrorPadAttrs>();
      return Reordered{
          graph::MirrorPadAttrs{per_axis(a.before, order), per_axis(a.after, order), a.symmetric},
          order};
    }
    case OpKind::Tile:
      return Reordered{graph::TileAttrs{per_axis(node.attrs<graph::TileAttrs>().multiples, order)},
                       order};
    case OpKind::BroadcastTo: {
      const Shape& shape = node.attrs<graph::ShapeAttrs>().shape;
      if (shape.size() != rank) return std::nullopt;
      return Reordered{graph::ShapeAttrs{per_axis(shape, order)}, order};
    }
    case OpKind::Mean:
    case OpKind::Sum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceProd:
    case OpKind::ReduceAny:
    case OpKind::ReduceAll: {
      const auto& a = node.attrs<graph::ReduceAttrs>();
      return Reordered{graph::ReduceAttrs{axes(a.axes, order), a.keep_dims},
                       a.keep_dims ? order : without(order, a.axes)};
    }
    case OpKind::Softmax:
    case OpKind::LogSoftmax:
    case OpKind::L2Normalization:
      if (rank == 0 || order.back() != static_cast<int64_t>(rank) - 1) return std::nullopt;
      return Reordered{node.attributes, order};
    default:
      return std::nullopt;
  }
}

}  // namespace intarsia::onnx
