// Padding of a row that becomes a picture of one row: pad -> reshape -> window, which is how converters write a convolution
// along one axis. Behind the reshape the window can take the padding over.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "passes/graph_edit.h"
#include "passes/simplify.h"

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Node;
using graph::OpKind;
using graph::PadAttrs;
using graph::Tensor;
using graph::TensorId;

// The amounts for the axes of `to`, where these are the axes of the padded shape but for some of one element.
std::optional<PadAttrs> amounts_behind(const PadAttrs& pad, const Shape& padded, const Shape& to) {
  PadAttrs result;
  size_t from = 0;
  const auto skip_ones = [&] {
    while (from < padded.size() && padded[from] == 1) ++from;  // one element: no padding in it
  };
  for (const int64_t extent : to) {
    if (extent == 1) {
      result.before.push_back(0), result.after.push_back(0);
      continue;
    }
    skip_ones();
    if (from == padded.size() || padded[from] != extent) return std::nullopt;
    result.before.push_back(pad.before[from]), result.after.push_back(pad.after[from]);
    ++from;
  }
  skip_ones();
  return from == padded.size() ? std::optional(result) : std::nullopt;
}

bool takes_padding(const Node& node) {
  return node.kind == OpKind::Conv2d || node.kind == OpKind::DepthwiseConv2d ||
         node.kind == OpKind::MaxPool2d || node.kind == OpKind::Pad;
}

bool move_one(const EliminationJob& job) {
  Function& function = job.function();
  const Uses uses(function);
  const auto passes_on = [&](const Node& node) {
    const Tensor &in = function.tensor(node.inputs[0]), &out = function.tensor(node.outputs[0]);
    return !job.must_stay(node) && !in.variable && !out.variable && is_integer(in.type) &&
           in.quantization == out.quantization;
  };
  for (Node& pad : function.nodes) {
    if (pad.kind != OpKind::Pad || !passes_on(pad)) continue;
    const TensorId padded = pad.outputs[0];
    if (uses.is_output(padded) || uses.readers(padded).size() != 1) continue;
    Node& reshape = function.nodes[uses.readers(padded)[0]];
    if (reshape.kind != OpKind::Reshape || !passes_on(reshape)) continue;
    const TensorId out = reshape.outputs[0];
    const std::vector<size_t>& readers = uses.readers(out);
    if (readers.empty() || uses.is_output(out) ||
        !std::ranges::all_of(readers, [&](size_t r) { return takes_padding(function.nodes[r]); }))
      continue;
    const Shape& shape = function.tensor(out).shape;
    const std::optional<PadAttrs> amounts =
        amounts_behind(pad.attrs<PadAttrs>(), function.tensor(padded).shape, shape);
    if (!amounts) continue;
    // They change places; the tensor between them is now the reshaped one.
    Shape inside = shape;
    for (size_t axis = 0; axis < inside.size(); ++axis)
      inside[axis] -= amounts->before[axis] + amounts->after[axis];
    function.tensors[padded.at()].shape = inside;
    job.actions.push_back({"padding", pad.name, fmt::format("moved behind '{}'", reshape.name),
                           "the reshape only adds or drops axes of one element"});
    reshape.attributes = graph::ReshapeAttrs{inside};
    reshape.inputs[0] = pad.inputs[0];
    pad.attributes = *amounts;
    pad.inputs[0] = padded;
    reshape.outputs[0] = padded;
    pad.outputs[0] = out;
    std::swap(pad, reshape);
    return true;
  }
  return false;
}

}  // namespace

bool move_padding(const EliminationJob& job) {
  bool changed = false;
  while (move_one(job)) changed = true;
  return changed;
}

}  // namespace intarsia::passes
