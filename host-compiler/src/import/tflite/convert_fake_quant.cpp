// FAKE_QUANT: floats as a quantisation to come leaves them, which a converter writes where it could not quantise a layer.
#include <cmath>

#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

// The range that a quantisation has whose integers include the number 0: TensorFlow's FakeQuantWithMinMaxArgs documents it.
struct NudgedRange {
  float least, most, step;
};

NudgedRange nudged(float least, float most, float first, float last) {
  const float step = (most - least) / (last - first);
  const float zero = std::round(std::min(std::max(first - least / step, first), last));
  return {(first - zero) * step, (last - zero) * step, step};
}

}  // namespace

void SubgraphReader::compose_fake_quant(const OperatorInfo& op, OperatorReader& in) {
  const auto* options = in.required_options<format::FakeQuantOptions>();
  if (options == nullptr) return;
  const graph::Tensor input = in.input(0);
  if (input.type != DataType::Float32 || in.output().type != DataType::Float32)
    return in.problem("is computed on floats");
  const int32_t width = options->bits();
  if (width < 2 || width > 16 || !(options->least() <= 0 && options->most() >= 0) ||
      !(options->least() < options->most()) || !std::isfinite(options->most() - options->least()))
    return in.problem(fmt::format("has {} bits for numbers from {} to {}", width, options->least(),
                                  options->most()),
                      "2 to 16 bits and a range around 0 are possible");
  const NudgedRange range =
      nudged(options->least(), options->most(), options->is_narrow() ? 1.0f : 0.0f,
             static_cast<float>((1 << width) - 1));
  int32_t x = current(op.inputs[0]);
  const auto constant = [&](const char* name, float value) {
    return make(real_constant(name, {}, {value}));
  };
  const auto arithmetic = [&](OpKind kind, const char* name, float value) {
    x = put(op, kind, graph::BinaryAttrs{}, {x, constant(name, value)}, input);
  };
  x = put(op, OpKind::Maximum, graph::NoAttrs{}, {x, constant("least", range.least)}, input);
  x = put(op, OpKind::Minimum, graph::NoAttrs{}, {x, constant("most", range.most)}, input);
  arithmetic(OpKind::Sub, "from", range.least);
  arithmetic(OpKind::Mul, "steps", 1 / range.step);
  arithmetic(OpKind::Add, "half", 0.5f);
  x = put(op, OpKind::Floor, graph::NoAttrs{}, {x}, input);
  arithmetic(OpKind::Mul, "step", range.step);
  put_last(op, OpKind::Add, graph::BinaryAttrs{}, {x, constant("least", range.least)});
}

}  // namespace intarsia::tflite
