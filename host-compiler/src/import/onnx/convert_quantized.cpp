// QuantizeLinear and DequantizeLinear (reader.h says what becomes of them).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "import/onnx/elements.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/word_function.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::onnx {

using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

struct Range {
  int64_t least, most;
};

Range range_of(DataType type) {
  const int width = bits(type);
  if (!is_signed(type)) return {0, (int64_t{1} << width) - 1};
  return {-(int64_t{1} << (width - 1)), (int64_t{1} << (width - 1)) - 1};
}

size_t channel_of(const graph::Tensor& tensor, const graph::Quantization& q, size_t element) {
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(q.axis) + 1; i < tensor.shape.size(); ++i)
    inner *= tensor.shape[i];
  return static_cast<size_t>(static_cast<int64_t>(element) / inner) % q.scale.size();
}

// The arithmetic of ONNX itself: halves go to the even neighbour.
TensorId quantized_constant(Reader& in, TensorId id, const QuantizedAs& as) {
  const graph::Tensor source = in.tensor(id);
  const Range range = range_of(as.type);
  std::vector<int64_t> numbers;
  for (const float real : as_reals(in.values_of(id))) {
    const size_t channel = channel_of(source, as.quantization, numbers.size());
    const float steps = std::nearbyint(real / as.quantization.scale[channel]);
    const float far = static_cast<float>(range.most) + 1e5f;
    const int64_t whole =
        std::isnan(steps) ? 0 : static_cast<int64_t>(std::clamp(steps, -2 * far, 2 * far));
    numbers.push_back(
        std::clamp(whole + as.quantization.zero_point[channel], range.least, range.most));
  }
  return in.make_constant(integer_values(as.type, source.shape, numbers), as.quantization);
}

// A tensor of the parameters that meets the operand's axes: [C] becomes [1,C,1,1] for axis 1.
TensorId along_axis(Reader& in, size_t operand) {
  const TensorId id = in.operand(operand);
  if (element_count(in.shape(id)) == 1) return in.reshape(id, {});
  const size_t rank = in.shape_of(0).size();
  const int64_t axis = in.axis(in.integer("axis", 1), rank);
  if (!in.ok() ||
      !in.require(in.integer("block_size", 0) == 0 && in.shape(id).size() == 1,
                  "has scales in blocks; one per tensor or one per channel are possible"))
    return {};
  const Shape whole = in.shape_of(0);
  const int64_t count = in.shape(id)[0];
  const int64_t extent = whole[static_cast<size_t>(axis)];
  const auto fitting = std::ranges::find(whole, count);
  if (!in.require(extent == count,
                  fmt::format("has {} {} along axis {} of [{}], which has {} element{}", count,
                              operand == 1 ? "scales" : "zero points", axis, fmt::join(whole, ","),
                              extent, extent == 1 ? "" : "s"),
                  fitting == whole.end()
                      ? "quantise with one scale for all, or one for each element of the axis"
                      : fmt::format("set the attribute axis = {}, or quantise what it takes with "
                                    "one scale for all",
                                    fitting - whole.begin())))
    return {};
  Shape shape(rank, 1);
  shape[static_cast<size_t>(axis)] = in.shape(id)[0];
  return in.reshape(id, shape);
}

// Step by step in floats: for parameters per channel of what is no constant, and for those that only the
// running model knows.
void quantize_in_floats(Reader& in) {
  const TensorId scale = along_axis(in, 1), zero = in.has(2) ? along_axis(in, 2) : TensorId{};
  const DataType type = zero.valid() ? in.tensor(zero).type : DataType::UInt8;
  TensorId x =
      in.emit(OpKind::Div, graph::BinaryAttrs{}, {in.operand(0), scale}, kFloat, {}, "steps");
  x = in.emit(OpKind::Round, NoAttrs{}, {x}, kFloat, {}, "round");
  if (zero.valid())
    x = in.emit(OpKind::Add, graph::BinaryAttrs{}, {x, in.cast(zero, kFloat)}, kFloat, {}, "zero");
  const Range range = range_of(type);
  x = in.emit(OpKind::Maximum, NoAttrs{}, {x, in.number(static_cast<float>(range.least))}, kFloat,
              {}, "least");
  x = in.emit(OpKind::Minimum, NoAttrs{}, {x, in.number(static_cast<float>(range.most))}, kFloat,
              {}, "most");
  in.result(in.cast(x, type));
}

// Of constants the reals themselves: weights whose scales are for blocks of elements along an axis.
bool dequantize_known_blocks(Reader& in) {
  const int64_t block = in.integer("block_size", 0);
  const TensorId x = in.operand(0), scale = in.operand(1);
  const TensorId zero = in.optional_operand(2);
  if (block == 0 || !in.is_constant(x) || !in.is_constant(scale) ||
      (zero.valid() && !in.is_constant(zero)))
    return false;
  const Shape shape = in.shape(x);
  const auto axis = static_cast<size_t>(in.axis(in.integer("axis", 1), shape.size()));
  if (!in.ok()) return true;
  Shape blocks = shape;
  blocks[axis] = ceil_div(shape[axis], block);
  if (!in.require(
          block > 0 && in.shape(scale) == blocks && (!zero.valid() || in.shape(zero) == blocks),
          fmt::format("has scales [{}] for blocks of {} of [{}] along axis {}",
                      fmt::join(in.shape(scale), ","), block, fmt::join(shape, ","), axis)))
    return true;
  const std::vector<int64_t> numbers = as_integers(in.values_of(x));
  const std::vector<float> scales = as_reals(in.values_of(scale));
  const std::vector<int64_t> zeros =
      zero.valid() ? as_integers(in.values_of(zero)) : std::vector<int64_t>(scales.size(), 0);
  int64_t inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  std::vector<float> reals;
  reals.reserve(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t along = at / inner % shape[axis], outer = at / inner / shape[axis];
    const auto from =
        static_cast<size_t>((outer * blocks[axis] + along / block) * inner + at % inner);
    reals.push_back(static_cast<float>(numbers[i] - zeros[from]) * scales[from]);
  }
  in.result(in.make_constant(real_values(shape, reals)));
  return true;
}

void dequantize_in_floats(Reader& in) {
  if (dequantize_known_blocks(in)) return;
  const TensorId scale = along_axis(in, 1), zero = in.has(2) ? along_axis(in, 2) : TensorId{};
  TensorId x = in.cast(in.operand(0), kFloat);
  if (zero.valid())
    x = in.emit(OpKind::Sub, graph::BinaryAttrs{}, {x, in.cast(zero, kFloat)}, kFloat, {}, "zero");
  in.result(in.emit(OpKind::Mul, graph::BinaryAttrs{}, {x, scale}, kFloat));
}

// Quantisers write the scale inf where they have seen an infinite value, such as a mask's -inf: whatever the integers are, the reals are
// infinite, or no numbers. That is computed in floats, which bytes of 16 bits without a sign do not become.
bool has_usable_scale(Reader& in, bool is_wide) {
  const TensorId scale = in.operand(1);
  if (!is_wide || !in.is_constant(scale)) return true;
  const std::vector<float> scales = as_reals(in.values_of(scale));
  const auto wrong = std::ranges::find_if(scales, [](float s) { return !std::isfinite(s); });
  return wrong == scales.end() ||
         in.require(false, fmt::format("has the scale {}", *wrong),
                    "quantise again with a large finite number (-1e4) in place of -inf, in masks "
                    "for one");
}

}  // namespace

// Integers that are beyond the range become its ends.
static TensorId within_range(Reader& in, TensorId id, const QuantizedAs& as) {
  // As an activation, which other operators can take along.
  if (as.least == 0)
    return in.emit_alike(OpKind::Relu, graph::ReluAttrs{graph::Activation::Relu}, {id}, "range");
  if (as.least) id = limited_to(in, OpKind::Maximum, id, *as.least, "range");
  if (as.most && id.valid()) id = limited_to(in, OpKind::Minimum, id, *as.most, "range");
  return id;
}

void read_quantize(Reader& in) {
  const std::optional<QuantizedAs> as = in.quantized_as(in.node());
  if (!as) {
    const bool is_wide = in.has(2) && in.tensor(in.value(2).tensor).type == DataType::UInt16;
    return has_usable_scale(in, is_wide) ? quantize_in_floats(in) : void();
  }
  const Form form = as->shifted ? Form::Shifted : Form::Plain;
  if (in.is_real(0) && !as->quantization.per_channel() &&
      !in.tensor(in.value(0).tensor).quantization.per_channel()) {
    const TensorId same = in.attempt([&]() -> TensorId {
      const TensorId made = in.requantize(in.value(0).tensor, *as);
      return made.valid() ? within_range(in, made, *as) : made;
    });
    if (same.valid()) return in.result(0, {same, form, {}});
  }
  const TensorId x = in.operand(0);
  if (in.is_constant(x)) return in.result(0, {quantized_constant(in, x, *as), form, {}});
  if (as->quantization.per_channel()) return quantize_in_floats(in);
  if (const TensorId lines = straight_lines(in, x, *as); lines.valid())
    return in.result(0, {within_range(in, lines, *as), form, {}});
  const TensorId made = in.emit(OpKind::Quantize, NoAttrs{}, {x}, as->type, as->quantization);
  in.result(0, {in.ok() ? within_range(in, made, *as) : made, form, {}});
}

void read_dequantize(Reader& in) {
  const Value given = in.value(0);
  const DataType type = in.tensor(given.tensor).type;
  const bool is_wide =
      type == DataType::UInt16 || (given.form == Form::Shifted && type == DataType::Int16);
  if (!has_usable_scale(in, is_wide)) return;
  const std::optional<QuantizedAs> as = in.quantized_as(in.node());
  if (!as) return dequantize_in_floats(in);
  if (given.form == Form::Real) return in.problem("dequantises reals");
  const graph::Tensor source = in.tensor(given.tensor);
  const DataType stated = given.form == Form::Shifted ? unsigned_of(source.type) : source.type;
  if (stated != as->stated_type())
    return in.problem(fmt::format("takes {}, but its zero point is {}", to_string(stated),
                                  to_string(as->stated_type())));
  if (source.constant.valid()) {
    const bool shift = as->shifted && given.form == Form::Plain;
    Values values = in.values_of(given.tensor);
    std::vector<int64_t> numbers = as_integers(values);
    if (shift)
      for (int64_t& number : numbers) number -= shift_of(as->type);
    Values kept = as->type == DataType::Int4 ? std::move(values)
                                             : integer_values(as->type, source.shape, numbers);
    return in.result(0, {in.make_constant(std::move(kept), as->quantization), Form::Real, {}});
  }
  if (as->quantization.per_channel()) return dequantize_in_floats(in);
  graph::Quantization stated_quantization = as->quantization;
  if (as->shifted && given.form == Form::Plain)
    stated_quantization.zero_point[0] += shift_of(as->type);
  if (!in.state_quantization(given.tensor, stated_quantization)) return dequantize_in_floats(in);
  TensorId id = given.tensor;
  if (!in.require(source.type != DataType::UInt16, "makes reals of uint16 that the model is given",
                  "let the model take floats or int16 there: numbers of 16 bits are signed where "
                  "they are computed with"))
    return;
  if (as->shifted && given.form == Form::Plain) id = in.requantize(id, *as);
  in.result(0, {id, Form::Real, {}});
}

// Scale and zero point are those of the range that the running model finds, 0 included; as many of them as there are rows in the first
// product that reads the bytes, which is what the operators of bytes take.
void read_dynamic_quantize(Reader& in) {
  const TensorId x = in.operand(0);
  const Shape shape = in.shape(x);
  int64_t rows = 1;
  for (const Node* reader : in.readers_of(in.node().outputs[0])) {
    if (shape.empty() || (reader->type != "MatMulInteger" && reader->type != "ConvInteger"))
      continue;
    rows = reader->type == "ConvInteger" ? shape.front() : element_count(shape) / shape.back();
    break;
  }
  const graph::Quantization plain{{1.0f}, {-128}, 0};
  const std::vector<TensorId> made =
      in.emit_typed(OpKind::QuantizeRows, graph::QuantizeRowsAttrs{rows, true, true}, {x},
                    {{DataType::Int8, plain}, {kFloat, {}}, {DataType::Int32, {}}});
  if (!in.ok()) return;
  // As int8, which products with known weights take; with unsigned bytes only where an operator asks for them.
  in.result(0, {made[0], Form::Shifted, {}});
  const auto first = [&](TensorId of_rows) {
    const graph::SliceAttrs one{{0}, {1}, {1}, {}};
    return rows == 1 ? of_rows : in.emit_alike(OpKind::Slice, one, {of_rows}, "first");
  };
  if (in.is_read(1)) in.result(1, {in.reshape(first(made[1]), {}), Form::Plain, {}});
  if (!in.is_read(2)) return;
  const TensorId offset = in.make_constant(integer_values(DataType::Int32, {}, {128}));
  const TensorId zero =
      in.emit(OpKind::Add, graph::BinaryAttrs{}, {in.reshape(first(made[2]), {}), offset},
              DataType::Int32, {}, "zero");
  in.result(2, {in.cast(zero, DataType::UInt8), Form::Plain, {}});
}

}  // namespace intarsia::onnx
