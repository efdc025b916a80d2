// Operators that give every element another scale: requantisation and the relu family.
#include "hardware/limits.h"
#include "legalise/operators.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

double factor_of(const Site& site) {
  return scale_of(site.in()) / scale_of(site.out());
}

// Of 32-bit values: a product with the factor, rounded as TFLM does.
void rescale_wide(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const FixedFactor factor = fixed_factor(factor_of(site));
  builder.emit(wide_operation(builder, OperationKind::Mul, builder.read(node.inputs.at(0)),
                              wide_constant(builder, factor.value),
                              builder.write(node.outputs.at(0)), 31 - factor.exponent));
}

void rescale(Builder& builder, const Node& node, graph::Activation activation) {
  const Site site{builder.module(), builder.function(), node};
  Operation op = builder.start(OperationKind::AveragePool, builder.read(node.inputs.at(0)),
                               builder.write(node.outputs.at(0)));
  if (site.in().quantization == site.out().quantization && site.in().type == site.out().type) {
    op.ifm.zero_point = op.ofm.zero_point = 0;  // only clamped
    op.global_scale = ChannelScale{.multiplier = 1};
  } else {
    op.global_scale = *channel_scale(factor_of(site));
  }
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

// From 8, 16 or 32 bits.
Reason refuses_quantize(const Site& site) {
  if (site.in().type != DataType::Int32) return refuses_rescale(site);
  if (zero_point_of(site.in()) != 0) return std::string("the input's zero point is not 0");
  return refuses_rescale(site);
}

void legalise_quantize(Builder& builder, const Node& node) {
  if (builder.tensor(node.inputs.at(0)).type == DataType::Int32) return rescale_wide(builder, node);
  rescale(builder, node, graph::Activation::None);
}

}  // namespace intarsia::targets::ethos_u
