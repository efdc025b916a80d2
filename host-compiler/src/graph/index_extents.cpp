#include "graph/index_extents.h"

#include <algorithm>

namespace intarsia::graph {
namespace {

class IndexExtents {
 public:
  explicit IndexExtents(const Function& function)
      : function_(function), extents_(function.tensors.size()) {}

  // From the last operator to the first, so that all uses of a value are known before it is looked at.
  std::vector<std::optional<int64_t>> found() && {
    for (auto node = function_.nodes.rbegin(); node != function_.nodes.rend(); ++node)
      look_at(*node);
    return std::move(extents_);
  }

 private:
  const Tensor& in(const Node& node, size_t operand) const {
    return function_.tensor(node.inputs[operand]);
  }

  void limit(TensorId id, int64_t extent) {
    if (!id.valid() || extent < 1) return;
    std::optional<int64_t>& known = extents_[id.at()];
    known = known ? std::min(*known, extent) : extent;
  }

  // The axis that a table's numbers run along where the other operand has one element: an index is spread to a row with a
  // single one in it like this.
  void compare(const Node& node, size_t index, size_t numbers) {
    const Tensor &at = in(node, index), &row = in(node, numbers);
    const int64_t count = element_count(row.shape);
    if (!row.constant.valid() || count < 2) return;
    for (size_t back = 1; back <= row.shape.size(); ++back) {
      const bool spread = back > at.shape.size() || at.shape[at.shape.size() - back] == 1;
      if (row.shape[row.shape.size() - back] == count && spread) limit(node.inputs[index], count);
    }
  }

  void look_at(const Node& node) {
    switch (node.kind) {
      case OpKind::Gather:
        return limit(node.inputs[1],
                     in(node, 0).shape[static_cast<size_t>(node.attrs<GatherAttrs>().axis)]);
      case OpKind::GatherNd: {
        const auto axes = static_cast<ptrdiff_t>(in(node, 1).shape.back());
        const Shape& data = in(node, 0).shape;
        if (axes > 0) limit(node.inputs[1], *std::min_element(data.begin(), data.begin() + axes));
        return;
      }
      case OpKind::ScatterNd: {
        // Rows that name a place outside are left out; those that do not are worth drawing.
        const auto axes = static_cast<ptrdiff_t>(in(node, 1).shape.back());
        const Shape& data = node.attrs<ScatterAttrs>().shape;
        if (axes > 0) limit(node.inputs[1], *std::min_element(data.begin(), data.begin() + axes));
        return;
      }
      case OpKind::DynamicUpdateSlice: {
        // Any place is moved inwards; those within the axis are worth drawing all the same.
        const Shape& data = in(node, 0).shape;
        if (!data.empty()) limit(node.inputs[2], *std::min_element(data.begin(), data.end()));
        return;
      }
      case OpKind::Equal:
        compare(node, 0, 1);
        compare(node, 1, 0);
        return;
      case OpKind::Cast:
      case OpKind::Reshape:
      case OpKind::Transpose:
      case OpKind::Slice:
      case OpKind::Split:
      case OpKind::Concat:
      case OpKind::Pack:
      case OpKind::Unpack:
      case OpKind::BroadcastTo:
      case OpKind::Tile:
        for (const TensorId output : node.outputs)
          if (output.valid() && extents_[output.at()])
            for (const TensorId input : node.inputs) limit(input, *extents_[output.at()]);
        return;
      default:
        return;
    }
  }

  const Function& function_;
  std::vector<std::optional<int64_t>> extents_;
};

}  // namespace

std::vector<std::optional<int64_t>> index_extents(const Function& function) {
  return IndexExtents(function).found();
}

}  // namespace intarsia::graph
