// Operators on single elements, and on rows of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "import/onnx/compared_integers.h"
#include "import/onnx/elements.h"
#include "import/onnx/known_operators.h"
#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/scaled_sums.h"
#include "import/onnx/weighted.h"
#include "import/onnx/whole_numbers.h"
#include "import/onnx/wide_function.h"
#include "import/onnx/word_function.h"
#include "import/onnx/written_norms.h"

namespace intarsia::onnx {

using graph::Activation;
using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

// The kind that the list of operators gives for the node.
OpKind kind_of(const Reader& in) {
  return find_operator(in.node().domain, in.node().type)->kind;
}

bool compares(OpKind kind) {
  return kind >= OpKind::Equal && kind <= OpKind::LogicalOr;
}

bool carries_activation(OpKind kind) {
  return kind == OpKind::Add || kind == OpKind::Sub || kind == OpKind::Mul || kind == OpKind::Div;
}

// The scale and zero point that TFLite's arithmetic gives the result of these kinds.
std::optional<graph::Quantization> natural(OpKind kind) {
  if (kind == OpKind::Logistic || kind == OpKind::Softmax)
    return graph::Quantization{{1.0f / 256}, {-128}, 0};
  if (kind == OpKind::Tanh) return graph::Quantization{{1.0f / 128}, {0}, 0};
  return std::nullopt;
}

// Functions of an int8 that TFLite's arithmetic gives less exactly than a table of floats rounded once, which is no more work: on TFLite's scale
// and then brought to the model's, in few bits, rounded twice, or cut off.
bool better_as_table(OpKind kind, const graph::Tensor& operand) {
  if (operand.type != DataType::Int8 || operand.quantization.per_channel()) return false;
  return kind == OpKind::HardSwish || kind == OpKind::LeakyRelu || kind == OpKind::Logistic ||
         kind == OpKind::Sqrt || kind == OpKind::Tanh;
}

// The results for all values of an int8, rounded once.
TensorId tabulated(Reader& in, OpKind kind, const graph::Attributes& attributes, TensorId x,
                   const QuantizedAs& as) {
  std::vector<int64_t> all(256);
  std::iota(all.begin(), all.end(), -128);
  TensorId id =
      in.make_constant(integer_values(DataType::Int8, {256}, all), in.tensor(x).quantization);
  id = in.emit(OpKind::Dequantize, NoAttrs{}, {id}, kFloat);
  if (id.valid()) id = in.emit(kind, attributes, {id}, kFloat);
  if (id.valid()) id = in.emit(OpKind::Quantize, NoAttrs{}, {id}, as.type, as.quantization);
  if (!id.valid() || !in.is_constant(id)) return {};
  return in.emit(OpKind::Lookup, graph::LookupAttrs{as_integers(in.values_of(id))}, {x}, as.type,
                 as.quantization);
}

// An operator on one quantised operand whose result is quantised; no tensor where the IR cannot, or not
// within a step.
TensorId unary_in_integers(Reader& in, OpKind kind, const graph::Attributes& attributes,
                           const Tail& tail) {
  if (!in.is_real(0) || !tail.as) return {};
  return in.attempt([&]() -> TensorId {
    const TensorId x = in.value(0).tensor;
    if (better_as_table(kind, in.tensor(x))) return tabulated(in, kind, attributes, x, *tail.as);
    const graph::Tensor operand = in.tensor(x);
    if (!natural(kind)) {
      // TFLite's own lines end where 16 bits do, also within a line. Behind the quantisation lines are drawn that are near the function.
      if (is_curve(kind) && operand.type == DataType::Int16) return {};
      return in.emit(kind, attributes, {x}, tail.as->type, tail.as->quantization);
    }
    if (operand.quantization.per_channel()) return {};
    // On 16 bits, whose steps are fine enough for any scale of 8 bits. Around a zero point of 0, 16 bits hold no other 16 bits.
    constexpr float kWideStep = 1.0f / 32768;
    if (operand.type == DataType::Int16 && operand.quantization.zero_point[0] != 0) return {};
    if (tail.as->type == DataType::Int16 && !within_a_step(kWideStep, *tail.as)) return {};
    const TensorId wide =
        in.requantize(x, {DataType::Int16, {{operand.quantization.scale[0]}, {0}, 0}});
    return in.requantize(in.emit(kind, attributes, {wide}, DataType::Int16, {{kWideStep}, {0}, 0}),
                         *tail.as);
  });
}

}  // namespace

void read_as_unary(Reader& in, OpKind kind, const graph::Attributes& attributes) {
  const Tail tail = in.tail(false);
  const TensorId made = unary_in_integers(in, kind, attributes, tail);
  if (made.valid()) return in.result(0, {made, Form::Real, {}});
  const TensorId x = in.operand(0);
  in.result(in.emit(kind, attributes, {x}, in.tensor(x).type));
}

void read_unary(Reader& in) {
  if (kind_of(in) == OpKind::Neg && in.tensor(in.value(0).tensor).type == DataType::Int64)
    return in.result(
        in.cast(in.emit(OpKind::Neg, NoAttrs{}, {narrowed(in, in.operand(0))}, DataType::Int32),
                DataType::Int64));
  read_as_unary(in, kind_of(in), NoAttrs{});
}
void read_leaky_relu(Reader& in) {
  read_as_unary(in, OpKind::LeakyRelu, graph::LeakyReluAttrs{in.real("alpha", 0.01f)});
}

void read_gelu(Reader& in) {
  const std::string form = in.text("approximate", "none");
  if (form != "none" && form != "tanh")
    return in.problem(fmt::format("has the attribute approximate = \"{}\"", form),
                      "\"none\" and \"tanh\" are possible");
  read_as_unary(in, OpKind::Gelu, graph::GeluAttrs{form == "tanh"});
}

// On the quantised value's own scale a relu moves elements only.
void read_relu(Reader& in) {
  if (in.is_real(0)) {
    const Tail tail = in.tail(false);
    const graph::Tensor x = in.tensor(in.value(0).tensor);
    const TensorId made = in.attempt([&] {
      return in.emit(OpKind::Relu, graph::ReluAttrs{Activation::Relu}, {in.value(0).tensor},
                     tail.as ? tail.as->type : x.type,
                     tail.as ? tail.as->quantization : x.quantization);
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  TensorId x = in.operand(0);
  const DataType type = in.tensor(x).type;
  if (!is_integer(type))
    return in.result(in.emit(OpKind::Relu, graph::ReluAttrs{Activation::Relu}, {x}, kFloat));
  if (type == DataType::Int64 && !in.is_constant(x)) x = narrowed(in, x);
  const graph::Tensor given = in.tensor(x);
  const TensorId zero = in.make_constant(integer_values(given.type, {}, {0}), given.quantization);
  in.result(in.cast(in.emit_alike(OpKind::Maximum, NoAttrs{}, {x, zero}), type));
}

TensorId limited_to(Reader& in, OpKind kind, TensorId id, int64_t whole, std::string_view suffix) {
  const graph::Tensor x = in.tensor(id);
  const TensorId end = in.make_constant(integer_values(x.type, {}, {whole}), x.quantization);
  return in.emit_alike(kind, NoAttrs{}, {id, end}, suffix);
}

std::optional<Number> known_number(Reader& in, size_t operand, std::string_view what) {
  const std::optional<float> real = in.known_real(operand, what);
  if (!real) return std::nullopt;
  const Values values = in.values_of(in.operand(operand));
  return values.type == kFloat ? Number{*real, 0} : Number{*real, as_integers(values).front()};
}

void read_clip(Reader& in) {
  const bool is_old = in.node().operator_set < 11;
  const bool quantised = in.is_real(0);
  const auto limit = [&](size_t operand, const char* attribute) -> std::optional<Number> {
    if (!is_old && in.has(operand)) return known_number(in, operand, "a limit");
    if (is_old && in.node().attributes.contains(attribute)) return Number{in.real(attribute, 0), 0};
    return std::nullopt;
  };
  std::optional<Number> least = limit(1, "min"), most = limit(2, "max");
  if (!in.ok()) return;
  if (quantised) {
    // Limits on the scale of what quantises the result: rounding is monotone, so that what it makes of a limit limits what it makes of
    // the others. On the operand's own scale, where nothing does, no element is computed anew.
    const Tail tail = in.tail(false);
    const TensorId made = in.attempt([&]() -> TensorId {
      TensorId id = in.value(0).tensor;
      const DataType type = in.tensor(id).type;
      if (type != DataType::Int8 && type != DataType::Int16) return {};
      if (tail.as) id = in.requantize(id, *tail.as);
      if (!id.valid()) return {};
      const graph::Tensor x = in.tensor(id);
      if (x.quantization.scale.size() != 1) return {};
      const int64_t low = x.type == DataType::Int16 ? INT16_MIN : INT8_MIN, high = -low - 1;
      const auto steps_of = [&](const std::optional<Number>& number, int64_t absent) {
        const float steps = std::round(number.value_or(Number{}).real / x.quantization.scale[0]) +
                            static_cast<float>(x.quantization.zero_point[0]);
        return number ? static_cast<int64_t>(
                            std::clamp(steps, static_cast<float>(low), static_cast<float>(high)))
                      : absent;
      };
      const int64_t first = steps_of(least, low), last = steps_of(most, high);
      if (first == low && last == high) return id;
      // What is one of the activations that others can take along.
      if (const auto activation = in.activation_of(in.node());
          activation != graph::Activation::None)
        return in.emit(OpKind::Relu, graph::ReluAttrs{activation}, {id}, x.type, x.quantization);
      if (first != low) id = limited_to(in, OpKind::Maximum, id, first);
      if (last != high && id.valid()) id = limited_to(in, OpKind::Minimum, id, last);
      return id;
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  const auto limited = [&](TensorId x, int64_t shift) {
    const graph::Tensor given = in.tensor(x);
    const auto end = [&](const Number& number) {
      if (given.type == kFloat) return in.number(number.real);
      return in.make_constant(integer_values(given.type, {}, {number.whole - shift}),
                              given.quantization);
    };
    // What bytes cannot be beyond is no limit.
    const bool is_bytes = given.type == DataType::Int8;
    if (least && !(is_bytes && least->whole - shift <= INT8_MIN))
      x = in.emit_alike(OpKind::Maximum, NoAttrs{}, {x, end(*least)});
    if (most && !(is_bytes && most->whole - shift >= INT8_MAX))
      x = in.emit_alike(OpKind::Minimum, NoAttrs{}, {x, end(*most)});
    return x;
  };
  if (const auto bytes = as_signed_bytes(in, 1))
    return in.result(0, {limited(bytes->front(), shift_of(DataType::Int8)), Form::Shifted, {}});
  const TensorId x = in.operand(0);
  if (in.tensor(x).type == DataType::Int64 && !in.is_constant(x)) {
    // With 32 bits, as other whole numbers, which limits beyond them do not limit.
    if (least && least->whole <= INT32_MIN) least.reset();
    if (most && most->whole >= INT32_MAX) most.reset();
    const bool is_possible =
        (!least || least->whole <= INT32_MAX) && (!most || most->whole >= INT32_MIN);
    if (!in.require(is_possible, "limits whole numbers to some that have more than 32 bits"))
      return;
    if (!least && !most) return in.result(0, in.value(0));
    return in.result(in.cast(limited(narrowed(in, x), 0), DataType::Int64));
  }
  if (in.tensor(x).type == DataType::UInt8)
    return in.result(in.cast(limited(in.cast(x, DataType::Int32), 0), DataType::UInt8));
  in.result(limited(x, 0));
}

// The remainder of the magnitudes, with the dividend's sign.
static TensorId remainder_like_dividend(Reader& in, TensorId a, TensorId b) {
  const auto magnitude = [&](TensorId x) {
    return in.emit_alike(OpKind::Abs, NoAttrs{}, {x}, "magnitude");
  };
  const TensorId rest =
      in.emit(OpKind::FloorMod, NoAttrs{}, {magnitude(a), magnitude(b)}, kFloat, {}, "remainder");
  const TensorId negated = in.emit_alike(OpKind::Neg, NoAttrs{}, {rest}, "negated");
  const TensorId below =
      in.emit(OpKind::Less, NoAttrs{}, {a, in.number(0)}, DataType::Bool, {}, "below");
  return in.emit(OpKind::Select, NoAttrs{}, {below, negated, rest}, kFloat);
}

// Of 32 bits; quotients are cut off.
static TensorId whole_result(Reader& in, OpKind kind, TensorId a, TensorId b,
                             bool has_sign_of_dividend) {
  const auto with = [&](OpKind operation, TensorId x, TensorId y) {
    const graph::Attributes attributes = operation == OpKind::FloorMod
                                             ? graph::Attributes(NoAttrs{})
                                             : graph::Attributes(BinaryAttrs{});
    return in.emit(operation, attributes, {x, y}, DataType::Int32, {}, "whole");
  };
  if (!has_sign_of_dividend) return with(kind, a, b);
  return with(OpKind::Sub, a, with(OpKind::Mul, with(OpKind::Div, a, b), b));
}

// Whether the operand is a constant of which every number is `neutral`, and no larger than the other operand along any axis.
static bool is_neutral(Reader& in, size_t operand, float neutral) {
  const Value& given = in.value(operand);
  const Shape &own = in.shape_of(operand), &other = in.shape_of(1 - operand);
  if (!in.is_constant(given.tensor) || own.size() > other.size()) return false;
  for (size_t i = 0; i < own.size(); ++i)
    if (own[i] != 1 && own[i] != other[i + other.size() - own.size()]) return false;
  const graph::Quantization& steps = in.tensor(given.tensor).quantization;
  float scale = 1, zero = 0;
  if (given.form == Form::Real && steps.scale.size() == 1) {
    scale = steps.scale[0];
    zero = static_cast<float>(steps.zero_point[0]);
  } else if (given.form != Form::Plain || steps.present()) {
    return false;
  }
  return std::ranges::all_of(as_reals(in.values_of(given.tensor)),
                             [&](float number) { return scale * (number - zero) == neutral; });
}

// x + 0, x - 0, x * 1, x / 1: masks that hide nothing, and scales of layers that have none. Which operand is x, if one is.
static std::optional<size_t> unchanged_operand(Reader& in, OpKind kind) {
  const bool adds = kind == OpKind::Add || kind == OpKind::Sub;
  if (!adds && kind != OpKind::Mul && kind != OpKind::Div) return std::nullopt;
  const float neutral = adds ? 0.0f : 1.0f;
  if (is_neutral(in, 1, neutral)) return 0;
  if ((kind == OpKind::Add || kind == OpKind::Mul) && is_neutral(in, 0, neutral)) return 1;
  return std::nullopt;
}

void read_binary(Reader& in) {
  const OpKind kind = kind_of(in);
  if (const std::optional<size_t> same = unchanged_operand(in, kind))
    return in.result(0, in.value(*same));
  const Tail tail = in.tail(carries_activation(kind));
  const auto attributes = [&](Activation activation) -> graph::Attributes {
    if (carries_activation(kind)) return BinaryAttrs{activation};
    return NoAttrs{};
  };
  if (in.is_real(0) && in.is_real(1) && tail.as && carries_activation(kind)) {
    const TensorId made = in.attempt([&] {
      return in.emit(kind, attributes(tail.activation), {in.value(0).tensor, in.value(1).tensor},
                     tail.as->type, tail.as->quantization);
    });
    if (made.valid()) return in.finish(tail, {made, Form::Real, {}});
  }
  if (compares(kind))
    if (const TensorId compared = compared_integers(in, kind); compared.valid())
      return in.result(compared);
  if (kind == OpKind::Add || kind == OpKind::Sub)
    if (const TensorId sum = sum_of_averages(in, kind, tail); sum.valid())
      return in.finish(tail, {sum, Form::Real, {}});
  if (carries_activation(kind))
    if (const TensorId norm = written_norm(in, tail); norm.valid())
      return in.finish(tail, {norm, Form::Real, {}});
  if (const Value layer = layer_with(in, kind, tail); layer.tensor.valid())
    return in.finish(tail, layer);
  TensorId a = in.operand(0), b = in.operand(1);
  // Plain integers of few bits are computed with 32 bits, and wrap around when they are narrowed again.
  const DataType given = in.tensor(a).type;
  const bool narrow = is_integer(given) && bits(given) < 32 && given != DataType::UInt16 &&
                      !in.tensor(a).quantization.present() && carries_activation(kind);
  if (narrow) {
    const TensorId wide =
        in.emit(kind, BinaryAttrs{}, {in.cast(a, DataType::Int32), in.cast(b, DataType::Int32)},
                DataType::Int32, {}, "wide");
    return in.result(in.cast(wide, given));
  }
  if (kind == OpKind::Pow && is_whole(given)) {
    const TensorId power = whole_power(in, narrowed(in, a), b);
    if (in.ok()) in.result(in.cast(power, given));
    return;
  }
  // Small integers are compared as the floats that they are; a power may have whole exponents.
  const bool small =
      compares(kind) && is_integer(in.tensor(a).type) && bits(in.tensor(a).type) < 32;
  if (small) a = in.cast(a, kFloat);
  if (small || (kind == OpKind::Pow && in.tensor(a).type == kFloat)) b = in.cast(b, kFloat);
  const DataType type = in.tensor(a).type;
  const bool has_sign_of_dividend = kind == OpKind::FloorMod && in.integer("fmod", 0) != 0;
  const bool computes = carries_activation(kind) || kind == OpKind::FloorMod;
  if (computes && is_whole(type))
    return in.result(in.cast(
        whole_result(in, kind, narrowed(in, a), narrowed(in, b), has_sign_of_dividend), type));
  if (has_sign_of_dividend) {
    if (in.require(type == kFloat,
                   "takes the sign of the dividend (fmod) of integers of few bits; of floats and "
                   "of 32 and 64 bits it is possible"))
      in.result(remainder_like_dividend(in, a, b));
    return;
  }
  const bool activated = type == kFloat;
  const TensorId made = in.emit(kind, attributes(activated ? tail.activation : Activation::None),
                                {a, b}, compares(kind) ? DataType::Bool : type);
  if (activated) return in.finish(tail, {made, Form::Plain, {}});
  in.result(made);
}

// Min and Max of quantised values are formed on the result's scale; sums of more than two in floats.
void read_variadic(Reader& in) {
  const OpKind kind = kind_of(in);
  const size_t count = in.node().inputs.size();
  const bool selects = kind == OpKind::Minimum || kind == OpKind::Maximum;
  const Tail tail = in.tail(false);
  bool all_real = tail.as.has_value();
  for (size_t i = 0; i < count; ++i) all_real &= in.is_real(i);
  if (all_real && (selects || count == 2) && !in.is("Mean")) {
    const TensorId made = in.attempt([&]() -> TensorId {
      if (!selects)
        return in.emit(kind, BinaryAttrs{}, {in.value(0).tensor, in.value(1).tensor}, tail.as->type,
                       tail.as->quantization);
      TensorId id = in.requantize(in.value(0).tensor, *tail.as);
      for (size_t i = 1; i < count; ++i)
        id = in.emit(kind, NoAttrs{}, {id, in.requantize(in.value(i).tensor, *tail.as)},
                     tail.as->type, tail.as->quantization);
      return id;
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  if (const auto bytes = selects ? as_signed_bytes(in, count) : std::nullopt) {
    TensorId id = bytes->front();
    for (size_t i = 1; i < count; ++i) id = in.emit_alike(kind, NoAttrs{}, {id, (*bytes)[i]});
    return in.result(0, {id, Form::Shifted, {}});
  }
  const DataType given = in.tensor(in.operand(0)).type;
  bool all_known = true;
  for (size_t i = 0; i < count; ++i) all_known &= in.is_constant(in.operand(i));
  const bool is_narrowed = given == DataType::Int64 && !all_known;
  const DataType type = given == DataType::UInt8 || is_narrowed ? DataType::Int32 : given;
  const auto taken = [&](size_t i) {
    const TensorId operand = in.operand(i);
    if (is_narrowed) return narrowed(in, operand);
    return given == type ? operand : in.cast(operand, type);
  };
  TensorId id = taken(0);
  for (size_t i = 1; i < count; ++i) {
    const graph::Attributes attributes =
        selects ? graph::Attributes(NoAttrs{}) : graph::Attributes(BinaryAttrs{});
    id = in.emit(kind, attributes, {id, taken(i)}, type);
  }
  if (given != type) id = in.cast(id, given);
  if (in.is("Mean"))
    id = in.emit(OpKind::Mul, BinaryAttrs{}, {id, in.number(1.0f / static_cast<float>(count))},
                 type, {}, "mean");
  in.result(id);
}

// Slopes that no quantiser has made integers: one for all is a leaky relu's, others are bytes where the result is within a step.
static TensorId prelu_in_integers(Reader& in, const Tail& tail) {
  const TensorId slopes = in.value(1).tensor, x = in.value(0).tensor;
  if (!in.is_real(0) || in.is_real(1) || !tail.as || !in.is_constant(slopes) ||
      in.tensor(slopes).type != kFloat || in.tensor(x).quantization.per_channel())
    return {};
  const std::vector<float> known = as_reals(in.values_of(slopes));
  float most = 0;
  for (const float slope : known) most = std::max(most, std::abs(slope));
  return in.attempt([&]() -> TensorId {
    if (std::ranges::all_of(known, [&](float slope) { return slope == known.front(); }))
      return unary_in_integers(in, OpKind::LeakyRelu, graph::LeakyReluAttrs{known.front()}, tail);
    constexpr float kByteMost = 127;
    const float step = most / kByteMost;
    // Half a step of a slope, times the least x.
    const float least = static_cast<float>(128 + in.tensor(x).quantization.zero_point[0]) *
                        in.tensor(x).quantization.scale[0];
    if (in.tensor(x).type != DataType::Int8 || !std::isnormal(step) ||
        step / 2 * least > tail.as->quantization.scale[0] / 2)
      return {};
    std::vector<int64_t> steps;
    for (const float slope : known) steps.push_back(std::lround(slope / step));
    const TensorId bytes =
        in.make_constant(integer_values(DataType::Int8, in.shape(slopes), steps), {{step}, {0}, 0});
    return in.emit(OpKind::Prelu, NoAttrs{}, {x, bytes}, tail.as->type, tail.as->quantization);
  });
}

void read_prelu(Reader& in) {
  const Tail tail = in.tail(false);
  if (const TensorId made = prelu_in_integers(in, tail); made.valid())
    return in.result(0, {made, Form::Real, {}});
  if (in.is_real(0) && in.is_real(1) && tail.as) {
    const TensorId made = in.attempt([&] {
      return in.emit(OpKind::Prelu, NoAttrs{}, {in.value(0).tensor, in.value(1).tensor},
                     tail.as->type, tail.as->quantization);
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  in.result(in.emit(OpKind::Prelu, NoAttrs{}, {in.operand(0), in.operand(1)}, kFloat));
}

TensorId choice(Reader& in, TensorId condition, TensorId a, TensorId b) {
  const DataType type = in.tensor(a).type;
  constexpr std::array kChosen = {DataType::Float32, DataType::Int8, DataType::Int16,
                                  DataType::Int32};
  if (std::ranges::find(kChosen, type) != kChosen.end())
    return in.emit(OpKind::Select, NoAttrs{}, {condition, a, b}, type);
  // What has no operator of its own is a gather of both, at places that are chosen.
  const int64_t of_a = element_count(in.shape(a)), of_b = element_count(in.shape(b));
  if (!table_fits(in, of_a + of_b) ||
      !in.require(in.tensor(b).type == type, "chooses between values of two types"))
    return {};
  const auto places = [&](int64_t first, int64_t count, const Shape& shape) {
    std::vector<int64_t> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), first);
    return in.make_constant(integer_values(DataType::Int32, shape, numbers));
  };
  const TensorId place =
      in.emit(OpKind::Select, NoAttrs{},
              {condition, places(0, of_a, in.shape(a)), places(of_a, of_b, in.shape(b))},
              DataType::Int32, {}, "place");
  const TensorId both = in.emit_alike(OpKind::Concat, graph::AxisAttrs{0},
                                      {in.reshape(a, {of_a}), in.reshape(b, {of_b})}, "both");
  return in.emit_alike(OpKind::Gather, graph::GatherAttrs{0, 0}, {both, place});
}

// A known number of integers, or a tensor of them, at places that are known, and running integers elsewhere: none of them is above a
// limit nor below another, which is that number where it is taken. So it is for masks of attentions, whose numbers are the least there are.
static TensorId masked_integers(Reader& in, const Tail& tail) {
  const bool takes_first = in.is_constant(in.value(1).tensor);
  const size_t running = takes_first ? 2 : 1, known = takes_first ? 1 : 2;
  const TensorId condition = in.operand(0), x = in.value(running).tensor;
  if (!tail.as || tail.as->type != DataType::Int8 || !in.is_constant(condition) ||
      !in.is_real(running) || in.is_constant(x) || in.tensor(x).type != DataType::Int8 ||
      in.tensor(x).quantization.per_channel() || !in.is_constant(in.value(known).tensor))
    return {};
  return in.attempt([&]() -> TensorId {
    const TensorId all = in.requantize(x, *tail.as);
    const TensorId taken = in.emit(OpKind::Quantize, NoAttrs{}, {in.operand(known)}, tail.as->type,
                                   tail.as->quantization, "taken");
    if (!all.valid() || !taken.valid() || !in.is_constant(taken)) return {};
    const auto limit = [&](OpKind kind, int64_t none, TensorId id) -> TensorId {
      const TensorId ends =
          in.make_constant(integer_values(DataType::Int8, {}, {none}), tail.as->quantization);
      const TensorId ordered = in.emit(
          OpKind::Select, NoAttrs{},
          takes_first ? std::vector{condition, taken, ends} : std::vector{condition, ends, taken},
          DataType::Int8, tail.as->quantization, "limits");
      if (!ordered.valid() || !in.is_constant(ordered)) return {};
      const std::vector<int64_t> limits = as_integers(in.values_of(ordered));
      if (std::ranges::all_of(limits, [&](int64_t at) { return at == none; })) return id;
      return in.emit_alike(kind, NoAttrs{}, {id, ordered}, "mask");
    };
    const TensorId below = limit(OpKind::Minimum, 127, all);
    return below.valid() ? limit(OpKind::Maximum, -128, below) : below;
  });
}

// Integers, and numbers that are known, as integers of the result: one of them is taken as it is.
static TensorId selected_integers(Reader& in, const Tail& tail) {
  if (!tail.as || (!in.is_real(1) && !in.is_real(2))) return {};
  return in.attempt([&]() -> TensorId {
    std::vector<TensorId> chosen{in.operand(0)};
    for (const size_t operand : {1, 2}) {
      const TensorId given = in.value(operand).tensor;
      if (in.is_real(operand) && !in.is_constant(given)) {
        if (in.tensor(given).quantization.per_channel()) return {};
        chosen.push_back(in.requantize(given, *tail.as));
      } else {
        if (!in.is_constant(given)) return {};
        chosen.push_back(in.emit(OpKind::Quantize, NoAttrs{}, {in.operand(operand)}, tail.as->type,
                                 tail.as->quantization, "known"));
      }
    }
    return in.emit(OpKind::Select, NoAttrs{}, chosen, tail.as->type, tail.as->quantization);
  });
}

void read_where(Reader& in) {
  const Tail tail = in.tail(false);
  if (const TensorId masked = masked_integers(in, tail); masked.valid())
    return in.result(0, {masked, Form::Real, {}});
  if (const TensorId selected = selected_integers(in, tail); selected.valid())
    return in.result(0, {selected, Form::Real, {}});
  const TensorId a = in.operand(1), b = in.operand(2);
  in.result(choice(in, in.operand(0), a, b));
}

// Along one axis since operator set 13, over all axes from it on before.
void read_softmax(Reader& in) {
  const Shape shape = in.shape_of(0);
  const bool is_old = in.node().operator_set < 13;
  if (!in.require(!shape.empty(), "works on a scalar")) return;
  const auto axis = static_cast<size_t>(in.axis(in.integer("axis", is_old ? 1 : -1), shape.size()));
  if (!in.ok()) return;
  const OpKind kind = in.is("Softmax") ? OpKind::Softmax : OpKind::LogSoftmax;
  const graph::Attributes attributes =
      kind == OpKind::Softmax ? graph::Attributes(graph::SoftmaxAttrs{}) : NoAttrs{};
  std::vector<int64_t> order(shape.size());  // is its own inverse: it exchanges two axes
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[axis], order.back());
  Shape flat(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(axis));
  flat.push_back(element_count(Shape(shape.begin() + static_cast<ptrdiff_t>(axis), shape.end())));
  const auto make = [&](TensorId id, DataType type, const graph::Quantization& q) {
    if (is_old)
      return in.reshape(in.emit(kind, attributes, {in.reshape(id, flat)}, type, q), shape);
    return in.transpose(in.emit(kind, attributes, {in.transpose(id, order)}, type, q), order);
  };
  const Tail tail = in.tail(false);
  if (in.is_real(0) && tail.as && kind == OpKind::Softmax) {
    const TensorId made = in.attempt([&]() -> TensorId {
      const graph::Quantization own = *natural(kind);
      const TensorId x = in.value(0).tensor;
      if (in.tensor(x).type != DataType::Int8) return {};
      if (within_a_step(own.scale[0], *tail.as))
        return in.requantize(make(x, DataType::Int8, own), *tail.as);
      return in.requantize(make(x, DataType::Int16, {{1.0f / 65536}, {-32768}, 0}), *tail.as);
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  in.result(make(in.operand(0), kFloat, {}));
}

void read_cast(Reader& in) {
  const auto to = static_cast<int32_t>(in.integer("to", 0));
  const std::optional<DataType> type = data_type(to);
  if (!in.require(type.has_value(),
                  fmt::format("converts to {}, which the IR does not have", element_name(to))))
    return;
  if (*type == kFloat && in.is_real(0)) return in.carried(in.value(0).tensor);
  TensorId id = in.operand(0);
  if (*type == DataType::Int64 && in.tensor(id).type == kFloat) id = whole_floats(in, id);
  in.result(in.cast(id, *type));
}

void read_cast_like(Reader& in) {
  if (!in.require(in.has(1), "takes its type from an empty tensor")) return;
  in.result(in.cast(in.operand(0), in.tensor(in.operand(1)).type));
}

}  // namespace intarsia::onnx
