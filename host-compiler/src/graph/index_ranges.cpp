#include "graph/index_ranges.h"

#include <algorithm>

#include "graph/integer_at.h"

namespace intarsia::graph {
namespace {

using Ranges = std::vector<std::optional<IndexRange>>;

int64_t floor_quotient(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

// The least and the greatest element of a constant of 32 or 64 bits.
std::optional<IndexRange> range_of_constant(const Module& module, const Tensor& tensor) {
  if (!tensor.constant.valid()) return std::nullopt;
  if (tensor.type != DataType::Int32 && tensor.type != DataType::Int64) return std::nullopt;
  const SharedBytes& bytes = module.constant(tensor.constant).bytes;
  std::optional<IndexRange> range;
  for (int64_t i = 0; i < element_count(tensor.shape); ++i) {
    const int64_t value = integer_at(tensor.type, {bytes.data(), bytes.size()}, i);
    range = range ? IndexRange{std::min(range->low, value), std::max(range->high, value)}
                  : IndexRange{value, value};
  }
  return range;
}

class IndexRanges {
 public:
  IndexRanges(const Module& module, const Function& function, Ranges of_outputs)
      : module_(module), function_(function), ranges_(function.tensors.size()) {
    for (size_t o = 0; o < of_outputs.size() && o < function.outputs.size(); ++o)
      if (of_outputs[o]) limit(function.outputs[o], *of_outputs[o]);
  }

  // From the last operator to the first, so that all uses of a value are known before it is looked at.
  Ranges found() && {
    for (auto node = function_.nodes.rbegin(); node != function_.nodes.rend(); ++node)
      look_at(*node);
    return std::move(ranges_);
  }

 private:
  const Tensor& in(const Node& node, size_t operand) const {
    return function_.tensor(node.inputs[operand]);
  }

  void limit(TensorId id, const IndexRange& range) {
    if (!id.valid()) return;
    std::optional<IndexRange>& known = ranges_[id.at()];
    const IndexRange both =
        known ? IndexRange{std::max(known->low, range.low), std::min(known->high, range.high)}
              : range;
    if (both.low <= both.high) known = both;
  }

  void limit_to_places_of(int64_t extent, TensorId id) { limit(id, {0, extent - 1}); }

  // The second operand's rows name a place each, along the first axes of the data.
  void limit_to_named_axes(const Shape& data, const Node& node) {
    const auto axes = static_cast<ptrdiff_t>(in(node, 1).shape.back());
    if (axes > 0)
      limit_to_places_of(*std::min_element(data.begin(), data.begin() + axes), node.inputs[1]);
  }

  // The axis that a table's numbers run along where the other operand has one element: an index is spread to a row with a
  // single one in it like this.
  void compare(const Node& node, size_t index, size_t numbers) {
    const Tensor &at = in(node, index), &row = in(node, numbers);
    const int64_t count = element_count(row.shape);
    if (!row.constant.valid() || count < 2) return;
    for (size_t back = 1; back <= row.shape.size(); ++back) {
      const bool spread = back > at.shape.size() || at.shape[at.shape.size() - back] == 1;
      if (row.shape[row.shape.size() - back] == count && spread)
        limit_to_places_of(count, node.inputs[index]);
    }
  }

  // x + c, c + x, x - c and x * c: each element of x suits every element of c.
  void solve(const Node& node, const IndexRange& result) {
    for (const size_t operand : {size_t{0}, size_t{1}}) {
      const std::optional<IndexRange> c = range_of_constant(module_, in(node, 1 - operand));
      if (!c) continue;
      const TensorId id = node.inputs[operand];
      if (node.kind == OpKind::Add)
        limit(id, {result.low - c->low, result.high - c->high});
      else if (node.kind == OpKind::Sub && operand == 0)
        limit(id, {result.low + c->high, result.high + c->low});
      else if (node.kind == OpKind::Mul && c->low > 0 && result.low >= 0)
        limit(id, {-floor_quotient(-result.low, c->low), result.high / c->high});
    }
  }

  // The operands of a function that is called are limited by what it does with them and with its results.
  void look_into(const Node& node) {
    const Function* called = module_.find(node.attrs<CallAttrs>().callee);
    if (called == nullptr) return;
    Ranges of_outputs;
    for (const TensorId output : node.outputs)
      of_outputs.push_back(output.valid() ? ranges_[output.at()] : std::nullopt);
    const Ranges inside = IndexRanges(module_, *called, std::move(of_outputs)).found();
    for (size_t i = 0; i < node.inputs.size() && i < called->inputs.size(); ++i)
      if (const auto& range = inside[called->inputs[i].at()]) limit(node.inputs[i], *range);
  }

  void look_at(const Node& node) {
    switch (node.kind) {
      case OpKind::Gather:
        return limit_to_places_of(
            in(node, 0).shape[static_cast<size_t>(node.attrs<GatherAttrs>().axis)], node.inputs[1]);
      case OpKind::GatherNd:
        return limit_to_named_axes(in(node, 0).shape, node);
      case OpKind::ScatterNd:
        // Rows that name a place outside are left out; those that do not are worth drawing.
        return limit_to_named_axes(node.attrs<ScatterAttrs>().shape, node);
      case OpKind::DynamicUpdateSlice: {
        // Any place is moved inwards; those within the axis are worth drawing all the same.
        const Shape& data = in(node, 0).shape;
        if (!data.empty())
          limit_to_places_of(*std::min_element(data.begin(), data.end()), node.inputs[2]);
        return;
      }
      case OpKind::Equal:
        compare(node, 0, 1);
        compare(node, 1, 0);
        return;
      case OpKind::Add:
      case OpKind::Sub:
      case OpKind::Mul:
        if (const auto& range = ranges_[node.outputs[0].at()]) solve(node, IndexRange(*range));
        return;
      case OpKind::Call:
        return look_into(node);
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
      case OpKind::Minimum:
      case OpKind::Maximum:
        return hand_on(node, 0);
      case OpKind::Select:
        return hand_on(node, 1);  // the first operand is the condition
      default:
        return;
    }
  }

  void hand_on(const Node& node, size_t first_operand) {
    for (const TensorId output : node.outputs)
      if (output.valid() && ranges_[output.at()])
        for (size_t i = first_operand; i < node.inputs.size(); ++i)
          limit(node.inputs[i], IndexRange(*ranges_[output.at()]));
  }

  const Module& module_;
  const Function& function_;
  Ranges ranges_;
};

}  // namespace

std::vector<std::optional<IndexRange>> index_ranges(const Module& module,
                                                    const Function& function) {
  return IndexRanges(module, function, {}).found();
}

}  // namespace intarsia::graph
