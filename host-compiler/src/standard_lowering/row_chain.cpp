#include "standard_lowering/row_chain.h"

#include <algorithm>
#include <map>

#include "operators/operator.h"

namespace intarsia::standard_lowering {

namespace {

using row_tiling::RowRange;
using row_tiling::RowWindow;

constexpr size_t kRows = 1;  // the axis

// The same for every row.
bool is_constant_over_rows(const graph::Tensor& constant) {
  const Shape& shape = constant.shape;
  return shape.size() < 3 || shape[shape.size() - 3] == 1;
}

bool works_by_rows(const OpView& v, const RowWindow& window) {
  const bool slides =
      v.node.kind == graph::OpKind::Conv2d || v.node.kind == graph::OpKind::DepthwiseConv2d;
  if (v.node.outputs.size() != 1 || !is_image(v.out())) return false;
  bool has_image = false;
  for (size_t i = 0; i < v.node.inputs.size(); ++i) {
    if (!v.has(i)) continue;
    if (v.is_constant(i)) {
      if (!slides && !is_constant_over_rows(v.in(i))) return false;
      continue;
    }
    if (!is_image(v.in(i)) || (slides && i != 0)) return false;
    if (window == RowWindow{} && v.in(i).shape[kRows] != v.out().shape[kRows]) return false;
    has_image = true;
  }
  return has_image;
}

// Padding of the part of a window operator that makes `made` of `rows` rows.
void cut_padding(graph::Padding2d& padding, const RowWindow& w, const RowRange& made,
                 int64_t rows) {
  const int64_t first = made.first * w.stride - w.pad;
  const int64_t end = (made.end - 1) * w.stride - w.pad + (w.kernel - 1) * w.dilation + 1;
  padding.top = std::max<int64_t>(0, -first);
  padding.bottom = std::max<int64_t>(0, end - rows);
}

}  // namespace

bool is_image(const graph::Tensor& tensor) {
  return tensor.shape.size() == 4 && tensor.shape[0] == 1 && !tensor.variable &&
         bits(tensor.type) % 8 == 0;
}

int64_t row_bytes(const graph::Tensor& image) {
  return image.bytes() / image.shape[kRows];
}

std::optional<RowChain> make_row_chain(const graph::Module& module, const graph::Function& function,
                                       size_t first, size_t last) {
  RowChain result;
  std::map<graph::TensorId, int> known;
  const auto index_of = [&](graph::TensorId id) {
    const auto [place, fresh] = known.try_emplace(id, static_cast<int>(result.tensors.size()));
    if (fresh) {
      result.tensors.push_back(id);
      result.chain.rows.push_back(function.tensor(id).shape[kRows]);
    }
    return place->second;
  };
  for (size_t n = first; n <= last; ++n) {
    const OpView view{module, function, function.nodes[n]};
    const auto rows_of = operators::operator_of(view.node.kind).rows;
    if (rows_of == nullptr) return std::nullopt;
    const RowWindow window = rows_of(view);
    if (!works_by_rows(view, window)) return std::nullopt;
    row_tiling::Operator op;
    result.places.emplace_back();
    for (size_t i = 0; i < view.node.inputs.size(); ++i) {
      if (!view.has(i) || view.is_constant(i)) continue;
      if (!known.contains(view.node.inputs[i]))
        result.inputs.push_back(static_cast<int>(result.tensors.size()));
      op.operands.push_back({index_of(view.node.inputs[i]), window});
      result.places.back().push_back(i);
    }
    op.result = index_of(view.node.outputs[0]);
    result.chain.operators.push_back(std::move(op));
    result.nodes.push_back(&view.node);
  }
  // What lies between is nobody else's.
  for (size_t o = 0; o + 1 < result.nodes.size(); ++o) {
    const graph::TensorId between = result.nodes[o]->outputs[0];
    const auto reads = [&](const graph::Node& node) {
      return std::find(node.inputs.begin(), node.inputs.end(), between) != node.inputs.end();
    };
    const auto nodes = function.nodes.begin();
    const bool outside =
        std::any_of(nodes + static_cast<ptrdiff_t>(last) + 1, function.nodes.end(), reads) ||
        std::find(function.outputs.begin(), function.outputs.end(), between) !=
            function.outputs.end();
    const bool inside = std::any_of(nodes + static_cast<ptrdiff_t>(first),
                                    nodes + static_cast<ptrdiff_t>(last) + 1, reads);
    if (outside || !inside) return std::nullopt;
  }
  return result;
}

RowsOperator rows_operator(const graph::Function& function, const RowChain& chain,
                           const row_tiling::Turn& turn) {
  const auto at = static_cast<size_t>(turn.op);
  RowsOperator result;
  graph::Node node = *chain.nodes[at];
  std::map<graph::TensorId, graph::TensorId> renamed;
  const auto take = [&](graph::TensorId& id) -> graph::Tensor& {
    const auto [place, fresh] = renamed.try_emplace(
        id, graph::TensorId{static_cast<int32_t>(result.function.tensors.size())});
    if (fresh) result.function.tensors.push_back(function.tensor(id));
    id = place->second;
    return result.function.tensors[id.at()];
  };
  for (graph::TensorId& id : node.inputs)
    if (id.valid()) take(id);
  take(node.outputs[0]).shape[kRows] = turn.made.count();
  const row_tiling::Operator& op = chain.chain.operators[at];
  for (size_t i = 0; i < op.operands.size(); ++i)
    result.function.tensors[node.inputs[chain.places[at][i]].at()].shape[kRows] =
        turn.read[i].count();
  const RowWindow& window = op.operands.front().window;
  const int64_t rows = chain.chain.rows[static_cast<size_t>(op.operands.front().tensor)];
  if (auto* conv = std::get_if<graph::Conv2dAttrs>(&node.attributes))
    cut_padding(conv->padding, window, turn.made, rows);
  if (auto* depthwise = std::get_if<graph::DepthwiseConv2dAttrs>(&node.attributes))
    cut_padding(depthwise->padding, window, turn.made, rows);
  if (auto* pool = std::get_if<graph::Pool2dAttrs>(&node.attributes))
    cut_padding(pool->padding, window, turn.made, rows);
  result.function.name = function.name;
  result.function.nodes.push_back(std::move(node));
  return result;
}

}  // namespace intarsia::standard_lowering
