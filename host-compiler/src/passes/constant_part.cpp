#include "passes/constant_part.h"

#include "passes/graph_edit.h"

namespace intarsia::passes {

using graph::OpKind;

ConstantPart::ConstantPart(const graph::Module& module, const graph::Function& function,
                           const graph::Node& node, const KnownChannels& known)
    : function_(function),
      node_(node),
      known_(known),
      input_(function.tensor(node.inputs[0])),
      weights_(function.tensor(node.inputs[1])),
      weight_bytes_(module.constant(weights_.constant).bytes.data()),
      layout_(weight_layout(function, node)),
      state_(static_cast<size_t>(layout_.filters * layout_.channels), State::New) {}

std::optional<int64_t> ConstantPart::of(int64_t output, int64_t input) {
  const auto at = static_cast<size_t>(output * layout_.channels + input);
  if (state_[at] == State::New) {
    const std::optional<int64_t> part = compute(output, input);
    state_[at] = !part ? State::Varies : *part == 0 ? State::Zero : State::Fixed;
    if (state_[at] == State::Fixed) part_.emplace(at, *part);
  }
  switch (state_[at]) {
    case State::Zero:
      return 0;
    case State::Fixed:
      return part_.at(at);
    default:
      return std::nullopt;
  }
}

int64_t ConstantPart::weight(int64_t output, int64_t position, int64_t column) const {
  return element_at(weights_.type, weight_bytes_,
                    (output * layout_.positions + position) * layout_.columns + column);
}

int64_t ConstantPart::element(int64_t index) const {
  return element_at(input_.type, known_.values(node_.inputs[0]).data(), index) -
         input_.quantization.zero_point[0];
}

std::optional<int64_t> ConstantPart::compute(int64_t output, int64_t input) const {
  bool all_zero = true;
  for (int64_t position = 0; position < layout_.positions && all_zero; ++position)
    for (int64_t column = input; column < layout_.columns && all_zero; column += layout_.channels)
      all_zero = weight(output, position, column) == 0;
  if (all_zero) return 0;
  if (!known_.known(node_.inputs[0], input)) return std::nullopt;
  return node_.kind == OpKind::Conv2d ? conv_part(output, input) : connected_part(output, input);
}

std::optional<int64_t> ConstantPart::conv_part(int64_t output, int64_t input) const {
  const auto& a = node_.attrs<graph::Conv2dAttrs>();
  const Shape &in = input_.shape, &out = function_.tensor(node_.outputs[0]).shape;
  const int64_t filter_w = weights_.shape[2];
  std::optional<int64_t> first;
  for (int64_t place = 0; place < out[0] * out[1] * out[2]; ++place) {
    const int64_t batch = place / (out[1] * out[2]);
    const int64_t top = place / out[2] % out[1] * a.stride_h - a.padding.top;
    const int64_t left = place % out[2] * a.stride_w - a.padding.left;
    int64_t sum = 0;
    for (int64_t position = 0; position < layout_.positions; ++position) {
      const int64_t y = top + position / filter_w * a.dilation_h;
      const int64_t x = left + position % filter_w * a.dilation_w;
      if (y < 0 || y >= in[1] || x < 0 || x >= in[2]) continue;
      sum += element(((batch * in[1] + y) * in[2] + x) * in[3] + input) *
             weight(output, position, input);
    }
    if (first && *first != sum) return std::nullopt;
    first = sum;
  }
  return first;
}

std::optional<int64_t> ConstantPart::connected_part(int64_t output, int64_t input) const {
  std::optional<int64_t> first;
  const int64_t rows = element_count(input_.shape) / layout_.columns;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t sum = 0;
    for (int64_t column = input; column < layout_.columns; column += layout_.channels)
      sum += element(row * layout_.columns + column) * weight(output, 0, column);
    if (first && *first != sum) return std::nullopt;
    first = sum;
  }
  return first;
}

}  // namespace intarsia::passes
