// Operators that give every element another scale: requantisation and the relu family.
#include "limits.h"
#include "operators.h"
#include "scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

double factor_of(const Site& site) {
  if (site.node.kind == graph::OpKind::Relu)  // in float, as TFLM does
    return static_cast<double>(site.in().quantization.scale.at(0) /
                               site.out().quantization.scale.at(0));
  return scale_of(site.in()) / scale_of(site.out());
}

void rescale(Builder& builder, const Node& node, graph::Activation activation) {
  const Site site{builder.module(), builder.function(), node};
  Operation op = builder.start(OperationKind::AveragePool, builder.read(node.inputs.at(0)),
                               builder.write(node.outputs.at(0)));
  op.global_scale = *channel_scale(factor_of(site));
  const Clamp clamp = clamp_of(activation, site.out());
  op.clamp_low = clamp.low;
  op.clamp_high = clamp.high;
  builder.emit(std::move(op));
}

}  // namespace

Reason refuses_rescale(const Site& site) {
  if (!channel_scale(factor_of(site)))
    return std::string("the scales of input and output are too far apart");
  return std::nullopt;
}

void legalise_relu(Builder& builder, const Node& node) {
  rescale(builder, node, node.attrs<graph::ReluAttrs>().activation);
}

void legalise_quantize(Builder& builder, const Node& node) {
  rescale(builder, node, graph::Activation::None);
}

}  // namespace intarsia::targets::ethos_u
