#include "free_scratch.h"

#include <algorithm>
#include <vector>

namespace intarsia::targets::cortex_m {
namespace {

// The nodes by which a tensor is made and read last.
struct Life {
  int64_t first = -1, last = -1;
};

// Operators whose results lie beside what they read, not in its place.
bool needs_room(graph::OpKind kind) {
  switch (kind) {
    case graph::OpKind::AveragePool2d:
    case graph::OpKind::Conv2d:
    case graph::OpKind::DepthwiseConv2d:
    case graph::OpKind::FullyConnected:
    case graph::OpKind::MaxPool2d:
    case graph::OpKind::TransposeConv2d:
      return true;
    default:
      return false;
  }
}

// Bytes that are alive while each node runs, in the order that they are listed in.
std::vector<int64_t> bytes_alive(const graph::Function& function) {
  const auto count = static_cast<int64_t>(function.nodes.size());
  std::vector<Life> lives(function.tensors.size());
  std::vector<graph::TensorId> held(function.tensors.size());  // the same bytes by another shape
  for (const graph::TensorId id : function.inputs) held[id.at()] = id;
  for (int64_t at = 0; at < count; ++at) {
    const graph::Node& node = function.nodes[static_cast<size_t>(at)];
    const bool reshapes = node.kind == graph::OpKind::Reshape;
    for (const graph::TensorId id : node.inputs)
      if (id.valid() && held[id.at()].valid()) lives[held[id.at()].at()].last = at;
    for (const graph::TensorId id : node.outputs) {
      const graph::TensorId from = reshapes ? held[node.inputs[0].at()] : graph::TensorId{};
      held[id.at()] = from.valid() ? from : id;
      if (!from.valid()) lives[id.at()] = {at, at};
    }
  }
  for (const graph::TensorId id : function.outputs)
    if (held[id.at()].valid()) lives[held[id.at()].at()].last = count - 1;
  std::vector<int64_t> alive(static_cast<size_t>(count) + 1, 0);
  for (size_t tensor = 0; tensor < lives.size(); ++tensor) {
    if (lives[tensor].last < 0) continue;
    const int64_t bytes = function.tensors[tensor].bytes();
    alive[static_cast<size_t>(std::max<int64_t>(lives[tensor].first, 0))] += bytes;
    alive[static_cast<size_t>(lives[tensor].last) + 1] -= bytes;
  }
  for (size_t at = 1; at < alive.size(); ++at) alive[at] += alive[at - 1];
  return alive;
}

}  // namespace

int64_t free_scratch(const operators::OpView& view) {
  const std::vector<graph::Node>& nodes = view.function.nodes;
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const graph::Node& node) { return &node == &view.node; });
  if (found == nodes.end()) return 0;
  const std::vector<int64_t> alive = bytes_alive(view.function);
  int64_t most = 0;
  for (size_t at = 0; at < nodes.size(); ++at)
    if (needs_room(nodes[at].kind)) most = std::max(most, alive[at]);
  return std::max<int64_t>(most - alive[static_cast<size_t>(found - nodes.begin())], 0);
}

}  // namespace intarsia::targets::cortex_m
