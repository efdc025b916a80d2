// Operators of the graph that work row by row, as chains for row_tiling/row_tile_geometry.h.
#pragma once

#include <optional>
#include <vector>

#include "intarsia/plugin/op_view.h"
#include "row_tiling/row_tile_geometry.h"

namespace intarsia::standard_lowering {

using operators::OpView;

// Consecutive nodes of a function whose last one makes what all others are for.
struct RowChain {
  row_tiling::Chain chain;
  std::vector<const graph::Node*> nodes;  // by operator of the chain
  std::vector<graph::TensorId> tensors;   // by tensor of the chain
  // Per operator and operand, its place among the inputs of the node.
  std::vector<std::vector<size_t>> places;
  std::vector<int> inputs;  // tensors that no operator makes

  const graph::Tensor& tensor(const graph::Function& function, int index) const {
    return function.tensor(tensors.at(static_cast<size_t>(index)));
  }
};

// Images of one row of bytes after the other: [1, rows, columns, channels].
bool is_image(const graph::Tensor& tensor);
int64_t row_bytes(const graph::Tensor& image);

// Nodes first .. last of the function. None: one of them does not work row by row, or what one makes is
// used by others as well.
std::optional<RowChain> make_row_chain(const graph::Module& module, const graph::Function& function,
                                       size_t first, size_t last);

// The operator that a turn of the chain runs: fewer rows, the rest of the padding. `function` has the one
// node and its tensors.
struct RowsOperator {
  graph::Function function;
  const graph::Node& node() const { return function.nodes.front(); }
};
RowsOperator rows_operator(const graph::Function& function, const RowChain& chain,
                           const row_tiling::Turn& turn);

}  // namespace intarsia::standard_lowering
