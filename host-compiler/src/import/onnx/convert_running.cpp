// Sums and products of an element with all those before it along an axis.
#include <optional>

#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/whole_numbers.h"

namespace intarsia::onnx {

using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

std::optional<graph::CumsumAttrs> running_along(Reader& in) {
  const auto axis = in.known_integers(1, "its axis");
  if (!axis || !in.require(axis->size() == 1, "has one axis")) return std::nullopt;
  const graph::CumsumAttrs attrs{in.axis(axis->front(), in.shape_of(0).size()),
                                 in.integer("exclusive", 0) != 0, in.integer("reverse", 0) != 0};
  return in.ok() ? std::optional(attrs) : std::nullopt;
}

}  // namespace

void read_cumprod(Reader& in) {
  const std::optional<graph::CumsumAttrs> attrs = running_along(in);
  if (!attrs) return;
  const TensorId x = in.operand(0);
  const DataType type = in.tensor(x).type;
  const TensorId made = running(in, OpKind::Mul, is_whole(type) ? narrowed(in, x) : x, *attrs);
  if (in.ok()) in.result(in.cast(made, type));
}

void read_cumsum(Reader& in) {
  const std::optional<graph::CumsumAttrs> known = running_along(in);
  if (!known) return;
  const graph::CumsumAttrs& attrs = *known;
  if (in.is_real(0)) {
    const Tail tail = in.tail(false);
    const TensorId from = in.value(0).tensor;
    const graph::Tensor source = in.tensor(from);
    // Steps from zero, of which int32 holds every sum; of int8 128ths of them, which are rounded once.
    constexpr int64_t kMostSteps = int64_t{1} << 15;
    const graph::Quantization& q = source.quantization;
    const bool has_steps =
        q.scale.size() == 1 && source.shape[static_cast<size_t>(attrs.axis)] < kMostSteps;
    const TensorId made = in.attempt([&]() -> TensorId {
      if (!tail.as) return {};
      // Sums of int8 begin with the zero point, as TFLite Micro has them.
      if (source.type == DataType::Int8 && has_steps && q.zero_point[0] == 0)
        return in.emit(OpKind::Cumsum, attrs, {from}, tail.as->type, tail.as->quantization);
      if (!has_steps) return {};
      const float finer = source.type == DataType::Int8 ? 128 : 1;
      const graph::Quantization steps{{q.scale[0] / finer}, {0}, 0};
      const TensorId wide =
          in.emit(OpKind::Quantize, NoAttrs{}, {from}, DataType::Int32, steps, "steps");
      const TensorId sums = in.emit(OpKind::Cumsum, attrs, {wide}, DataType::Int32, steps, "sums");
      return in.emit(OpKind::Quantize, NoAttrs{}, {sums}, tail.as->type, tail.as->quantization);
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  const TensorId x = in.operand(0);
  const DataType type = in.tensor(x).type;
  if (is_whole(type))
    return in.result(in.cast(running(in, OpKind::Add, narrowed(in, x), attrs), type));
  in.result(in.emit_alike(OpKind::Cumsum, attrs, {x}));
}

}  // namespace intarsia::onnx
