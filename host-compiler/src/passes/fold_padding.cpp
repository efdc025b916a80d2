#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "passes/element_values.h"
#include "passes/graph_edit.h"
#include "passes/simplify.h"

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Node;
using graph::OpKind;
using graph::PadAttrs;
using graph::Padding2d;
using graph::Tensor;
using graph::TensorId;

// The amounts of a pad that only widens the picture.
std::optional<Padding2d> spatial(const PadAttrs& pad) {
  if (pad.before.size() != 4 || pad.before[0] + pad.after[0] + pad.before[3] + pad.after[3] != 0)
    return std::nullopt;
  return Padding2d{pad.before[1], pad.before[2], pad.after[1], pad.after[2]};
}

Padding2d sum(const Padding2d& a, const Padding2d& b) {
  return {a.top + b.top, a.left + b.left, a.bottom + b.bottom, a.right + b.right};
}

// No window lies outside the picture on one side only by padding: what every target can address.
bool within_window(const Padding2d& p, int64_t height, int64_t width) {
  return p.top < height && p.bottom < height && p.left < width && p.right < width;
}

template <typename Attrs>
std::optional<graph::Attributes> padded(const Node& node, const Function& function,
                                        const Padding2d& more) {
  Attrs attrs = node.attrs<Attrs>();
  attrs.padding = sum(attrs.padding, more);
  int64_t height, width;
  if constexpr (std::is_same_v<Attrs, graph::Pool2dAttrs>) {
    height = attrs.filter_h, width = attrs.filter_w;
  } else {
    const Shape& weights = function.tensor(node.inputs[1]).shape;
    height = (weights[1] - 1) * attrs.dilation_h + 1,
    width = (weights[2] - 1) * attrs.dilation_w + 1;
  }
  if (!within_window(attrs.padding, height, width)) return std::nullopt;
  return attrs;
}

struct Folded {
  graph::Attributes attributes;
  std::string why;
};

// `reader` without the pad before it.
std::optional<Folded> folded(const Function& function, const Uses& uses, const Node& pad,
                             const Node& reader) {
  const Tensor &in = function.tensor(pad.inputs[0]), &out = function.tensor(pad.outputs[0]);
  if (!is_integer(in.type) || in.quantization != out.quantization ||
      reader.inputs[0] != pad.outputs[0] || std::ranges::count(reader.inputs, pad.outputs[0]) != 1)
    return std::nullopt;
  const auto& amounts = pad.attrs<PadAttrs>();
  if (reader.kind == OpKind::Pad) {
    PadAttrs both = reader.attrs<PadAttrs>();
    const Tensor& last = function.tensor(reader.outputs[0]);
    if (last.quantization != out.quantization) return std::nullopt;
    for (size_t axis = 0; axis < both.before.size(); ++axis)
      both.before[axis] += amounts.before[axis], both.after[axis] += amounts.after[axis];
    return Folded{both, "both fill with the same zero point"};
  }
  const std::optional<Padding2d> more = spatial(amounts);
  if (!more) return std::nullopt;
  const auto with = [](std::optional<graph::Attributes> attributes, std::string why) {
    return attributes ? std::optional(Folded{std::move(*attributes), std::move(why)})
                      : std::nullopt;
  };
  const std::string zero =
      "the pad's zero points add nothing to a sum, as elements outside the picture do";
  switch (reader.kind) {
    case OpKind::Conv2d:
      return with(padded<graph::Conv2dAttrs>(reader, function, *more), zero);
    case OpKind::DepthwiseConv2d:
      return with(padded<graph::DepthwiseConv2dAttrs>(reader, function, *more), zero);
    case OpKind::MaxPool2d: {
      if (!enumerable(in.type) || !in.quantization.present()) return std::nullopt;
      const int64_t least = possible_values(function, uses, pad.inputs[0]).front();
      if (in.quantization.zero_point[0] > least) return std::nullopt;
      return with(
          padded<graph::Pool2dAttrs>(reader, function, *more),
          "no input element is less than the pad's zero points, so they are never a maximum alone");
    }
    default:
      return std::nullopt;
  }
}

bool fold_one(const EliminationJob& job) {
  Function& function = job.function();
  const Uses uses(function);
  for (const Node& pad : function.nodes) {
    if (pad.kind != OpKind::Pad || job.must_stay(pad) || function.tensor(pad.inputs[0]).variable ||
        function.tensor(pad.outputs[0]).variable || uses.is_output(pad.outputs[0]))
      continue;
    // All readers or none: a pad that stays for one of them would only keep its input alive longer.
    std::vector<std::pair<size_t, Node>> changed;
    std::vector<EliminationStep> actions;
    for (const size_t r : uses.readers(pad.outputs[0])) {
      const std::optional<Folded> result = folded(function, uses, pad, function.nodes[r]);
      if (!result) break;
      Node reader = function.nodes[r];
      reader.attributes = result->attributes;
      reader.inputs[0] = pad.inputs[0];
      if (!graph::infer_shapes(job.module, function, reader).ok()) break;
      actions.push_back(
          {"padding", pad.name, fmt::format("became padding of '{}'", reader.name), result->why});
      changed.emplace_back(r, std::move(reader));
    }
    if (changed.empty() || changed.size() != uses.readers(pad.outputs[0]).size()) continue;
    job.actions.insert(job.actions.end(), actions.begin(), actions.end());
    const TensorId unread = pad.outputs[0];
    for (auto& [r, reader] : changed) function.nodes[r] = std::move(reader);
    std::erase_if(function.nodes, [&](const Node& node) {
      return !node.outputs.empty() && node.outputs[0] == unread;
    });
    return true;
  }
  return false;
}

}  // namespace

bool fold_padding(const EliminationJob& job) {
  bool changed = false;
  while (fold_one(job)) changed = true;
  return changed;
}

}  // namespace intarsia::passes
