// Operators that only move elements.
#include <algorithm>

#include <fmt/format.h>

#include "operators.h"
#include "scaling.h"

namespace intarsia::targets::ethos_u {

using graph::Node;

// The builder made the output a view of the input, or the other way round; what is left to do is a
// copy where both have a place of their own.
void legalise_reshape(Builder& builder, const Node& node) {
  const Operand out = builder.write(node.outputs.at(0));
  const Operand in = builder.read_as(node.inputs.at(0), out.extent);
  if (in.tensor != out.tensor || in.origin != out.origin) builder.copy(in, out);
}

// On its own a reshape costs a copy, which a CPU does not need.
Reason refuses_reshape(const Site& site) {
  const auto taken = [&](const Node& node) {
    return node.kind != graph::OpKind::Reshape && find_rule(node.kind) != nullptr &&
           !refuses({site.module, site.function, node});
  };
  const graph::TensorId in = site.node.inputs.at(0), out = site.node.outputs.at(0);
  for (const Node& node : site.function.nodes) {
    const bool produces =
        std::find(node.outputs.begin(), node.outputs.end(), in) != node.outputs.end();
    const bool reads = std::find(node.inputs.begin(), node.inputs.end(), out) != node.inputs.end();
    if ((produces || reads) && (node.kind == graph::OpKind::Reshape || taken(node)))
      return std::nullopt;
  }
  return std::string("no operator beside it runs on the NPU");
}

Reason refuses_pad(const Site& site) {
  const auto& a = site.node.attrs<graph::PadAttrs>();
  if (site.in().quantization != site.out().quantization)
    return std::string("input and output differ in quantisation");
  const Shape &in = site.in().shape, &out = site.out().shape;
  if (!box_of(out, a.before, in)) return std::string("several leading axes are padded");
  return std::nullopt;
}

// The input goes into the middle; the rest is filled axis by axis, from the outermost on.
void legalise_pad(Builder& builder, const Node& node) {
  const auto& a = node.attrs<graph::PadAttrs>();
  const graph::TensorId in_id = node.inputs.at(0), out_id = node.outputs.at(0);
  const Shape &in = builder.tensor(in_id).shape, &out = builder.tensor(out_id).shape;
  const Operand from = builder.read(in_id), middle = builder.part(out_id, a.before, in);
  if (from.tensor != middle.tensor || from.origin != middle.origin) builder.copy(from, middle);

  Shape begin(out.size(), 0), size = out;
  const auto fill = [&](size_t axis, int64_t first, int64_t count) {
    if (count == 0) return;
    Shape at = begin, of = size;
    at[axis] = first;
    of[axis] = count;
    const Operand to = builder.part(out_id, at, of);
    const graph::Tensor& t = builder.tensor(out_id);
    builder.copy(builder.filled(t.type, to.extent, zero_point_of(t)), to);
  };
  for (size_t axis = 0; axis < out.size(); ++axis) {
    fill(axis, 0, a.before[axis]);
    fill(axis, a.before[axis] + in[axis], a.after[axis]);
    begin[axis] = a.before[axis];
    size[axis] = in[axis];
  }
}

}  // namespace intarsia::targets::ethos_u
