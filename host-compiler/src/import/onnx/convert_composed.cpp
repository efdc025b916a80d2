// Functions of single elements that the IR has no operator for, from those that it has.
#include <limits>
#include <numbers>
#include <span>

#include "import/onnx/elements.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/word_function.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

void read_composed(Reader& in) {
  const TensorId x = in.operand(0);
  const auto one = [&](OpKind kind, TensorId id) {
    return in.emit(kind, NoAttrs{}, {id}, kFloat, {}, "part");
  };
  const auto two = [&](OpKind kind, TensorId a, TensorId b) {
    const bool clamps =
        kind == OpKind::Add || kind == OpKind::Sub || kind == OpKind::Mul || kind == OpKind::Div;
    const graph::Attributes attributes = clamps ? graph::Attributes(BinaryAttrs{}) : NoAttrs{};
    return in.emit(kind, attributes, {a, b}, kFloat, {}, "part");
  };
  const auto number = [&](float value) { return in.number(value); };
  const auto positive = [&] { return two(OpKind::Maximum, x, number(0)); };
  // alpha * (exp(min(x / beta, 0)) - 1)
  const auto negative = [&](float alpha, float beta) {
    TensorId low = two(OpKind::Minimum, x, number(0));
    if (beta != 1) low = two(OpKind::Mul, low, number(1 / beta));
    return two(OpKind::Mul, one(OpKind::Elu, low), number(alpha));
  };
  // log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|))
  const auto softplus = [&] {
    const TensorId small = one(OpKind::Exp, one(OpKind::Neg, one(OpKind::Abs, x)));
    return two(OpKind::Add, positive(), one(OpKind::Log, two(OpKind::Add, small, number(1))));
  };
  if (in.is("Elu")) {
    const float alpha = in.real("alpha", 1);
    if (alpha == 1) return read_as_unary(in, OpKind::Elu, NoAttrs{});
    return in.result(two(OpKind::Add, positive(), negative(alpha, 1)));
  }
  if (in.is("Celu")) {
    const float alpha = in.real("alpha", 1);
    if (!in.require(alpha != 0, "has the alpha 0")) return;
    return in.result(two(OpKind::Add, positive(), negative(alpha, alpha)));
  }
  if (in.is("Selu")) {
    const float gamma = in.real("gamma", 1.05070102f), alpha = in.real("alpha", 1.67326319f);
    return in.result(
        two(OpKind::Mul, two(OpKind::Add, positive(), negative(alpha, 1)), number(gamma)));
  }
  if (in.is("Reciprocal")) return in.result(two(OpKind::Div, number(1), x));
  if (in.is("HardSigmoid")) {
    const float alpha = in.real("alpha", 0.2f), beta = in.real("beta", 0.5f);
    const TensorId words = hard_sigmoid_of_words(in, alpha, beta, in.tail(false));
    if (words.valid()) return in.result(0, {words, Form::Real, {}});
    const TensorId line = two(OpKind::Add, two(OpKind::Mul, x, number(alpha)), number(beta));
    return in.result(two(OpKind::Minimum, two(OpKind::Maximum, line, number(0)), number(1)));
  }
  if (in.is("Softplus")) return in.result(softplus());
  if (in.is("Softsign"))
    return in.result(two(OpKind::Div, x, two(OpKind::Add, one(OpKind::Abs, x), number(1))));
  if (in.is("Mish")) return in.result(two(OpKind::Mul, x, one(OpKind::Tanh, softplus())));
  if (in.is("Swish") || in.is("SwiGLU")) {
    const float alpha = in.real("alpha", 1);
    const TensorId argument = alpha == 1 ? x : two(OpKind::Mul, x, number(alpha));
    const TensorId gate = two(OpKind::Mul, x, one(OpKind::Logistic, argument));
    return in.result(in.is("SwiGLU") ? two(OpKind::Mul, gate, in.operand(1)) : gate);
  }
  const auto choose = [&](OpKind kind, float limit, TensorId yes, TensorId no) {
    const TensorId holds = in.emit(kind, NoAttrs{}, {x, number(limit)}, DataType::Bool, {}, "part");
    return in.emit(OpKind::Select, NoAttrs{}, {holds, yes, no}, kFloat, {}, "choice");
  };
  if (in.is("Sign"))
    return in.result(
        choose(OpKind::Greater, 0, number(1), choose(OpKind::Less, 0, number(-1), number(0))));
  if (in.is("Shrink")) {
    const float limit = in.real("lambd", 0.5f), bias = in.real("bias", 0);
    return in.result(
        choose(OpKind::Greater, limit, two(OpKind::Sub, x, number(bias)),
               choose(OpKind::Less, -limit, two(OpKind::Add, x, number(bias)), number(0))));
  }
  in.result(choose(OpKind::Greater, in.real("alpha", 1), x, number(0)));  // ThresholdedRelu
}

// Of angles, and of hyperbolas; what is small is computed so that it keeps its digits, and squares of what is large do not leave floats.
void read_trigonometric(Reader& in) {
  const TensorId x = in.operand(0);
  const auto one = [&](OpKind kind, TensorId id) {
    return in.emit(kind, NoAttrs{}, {id}, kFloat, {}, "part");
  };
  const auto two = [&](OpKind kind, TensorId a, TensorId b) {
    return in.emit(kind, BinaryAttrs{}, {a, b}, kFloat, {}, "part");
  };
  const auto number = [&](float value) { return in.number(value); };
  if (in.is("Tan")) return in.result(two(OpKind::Div, one(OpKind::Sin, x), one(OpKind::Cos, x)));
  const auto choose = [&](TensorId compared, float below, TensorId yes, TensorId no) {
    const TensorId holds =
        in.emit(OpKind::Less, NoAttrs{}, {compared, number(below)}, DataType::Bool, {}, "part");
    return in.emit(OpKind::Select, NoAttrs{}, {holds, yes, no}, kFloat, {}, "choice");
  };
  // s * (1 + s^2 * terms[0] + s^4 * terms[1] + ...)
  const auto odd_series = [&](TensorId s, std::span<const float> terms) {
    const TensorId square = one(OpKind::Square, s);
    TensorId sum = number(terms.back());
    for (size_t i = terms.size() - 1; i-- > 0;)
      sum = two(OpKind::Add, two(OpKind::Mul, sum, square), number(terms[i]));
    sum = two(OpKind::Add, two(OpKind::Mul, sum, square), number(1));
    return two(OpKind::Mul, sum, s);
  };
  constexpr float kOfSinh[] = {1.0f / 6, 1.0f / 120, 1.0f / 5040, 1.0f / 362880};
  constexpr float kOfAtanh[] = {1.0f / 3, 1.0f / 5, 1.0f / 7, 1.0f / 9, 1.0f / 11};
  const TensorId size = one(OpKind::Abs, x);
  if (in.is("Cosh") || in.is("Sinh")) {
    // Half of the power, in two factors of which neither leaves floats before it does.
    const auto half_power = [&](float sign) {
      const TensorId root = one(OpKind::Exp, two(OpKind::Mul, x, number(sign / 2)));
      return two(OpKind::Mul, two(OpKind::Mul, root, number(0.5f)), root);
    };
    const TensorId grown = half_power(1), shrunk = half_power(-1);
    if (in.is("Cosh")) return in.result(two(OpKind::Add, grown, shrunk));
    return in.result(choose(size, 1, odd_series(x, kOfSinh), two(OpKind::Sub, grown, shrunk)));
  }
  constexpr float kSmall = 0.25f;
  if (in.is("Atanh")) {
    const TensorId ratio =
        two(OpKind::Div, two(OpKind::Add, number(1), x), two(OpKind::Sub, number(1), x));
    const TensorId large = two(OpKind::Mul, one(OpKind::Log, ratio), number(0.5f));
    return in.result(choose(size, kSmall, odd_series(x, kOfAtanh), large));
  }
  // log(x + sqrt(x^2 + 1)), of the argument's size and with its sign; log(x + sqrt(x^2 - 1)). From kLarge on the root is x itself.
  constexpr float kLarge = 1e9f;
  const bool odd = in.is("Asinh");
  const TensorId from = odd ? size : x, less = two(OpKind::Sub, x, number(1));
  const TensorId square = odd ? two(OpKind::Add, one(OpKind::Square, x), number(1))
                              : two(OpKind::Mul, less, two(OpKind::Add, x, number(1)));
  const TensorId root = choose(from, kLarge, one(OpKind::Sqrt, square), from);
  const TensorId halves =
      two(OpKind::Add, two(OpKind::Mul, from, number(0.5f)), two(OpKind::Mul, root, number(0.5f)));
  const TensorId large =
      two(OpKind::Add, one(OpKind::Log, halves), number(std::numbers::ln2_v<float>));
  // log(1 + u) = 2 atanh(u / (2 + u)), with u = x + x^2 / (1 + root), or x - 1 + root.
  const TensorId u =
      odd ? two(OpKind::Add, size,
                two(OpKind::Div, one(OpKind::Square, x), two(OpKind::Add, root, number(1))))
          : two(OpKind::Add, less, root);
  const TensorId part = two(OpKind::Div, u, two(OpKind::Add, u, number(2)));
  const TensorId small = two(OpKind::Mul, odd_series(part, kOfAtanh), number(2));
  const TensorId result = choose(odd ? u : one(OpKind::Abs, u), 2 * kSmall, small, large);
  in.result(odd ? choose(x, 0, one(OpKind::Neg, result), result) : result);
}

// The angle of a tangent, asin by the tangent of its angle: x / sqrt(1 - x^2). Tangents above 1 are turned around, so that
// one polynomial serves: 9 terms of odd powers, which interpolate atan on 0 .. 1.
void read_inverse_trigonometric(Reader& in) {
  const TensorId given = in.operand(0);
  const auto one = [&](OpKind kind, TensorId id) {
    return in.emit(kind, NoAttrs{}, {id}, kFloat, {}, "part");
  };
  const auto two = [&](OpKind kind, TensorId a, TensorId b) {
    return in.emit(kind, BinaryAttrs{}, {a, b}, kFloat, {}, "part");
  };
  const auto extreme = [&](OpKind kind, TensorId a, TensorId b) {
    return in.emit(kind, NoAttrs{}, {a, b}, kFloat, {}, "part");
  };
  const auto choose = [&](TensorId x, float above, TensorId yes, TensorId no) {
    const TensorId holds =
        in.emit(OpKind::Greater, NoAttrs{}, {x, in.number(above)}, DataType::Bool, {}, "part");
    return in.emit(OpKind::Select, NoAttrs{}, {holds, yes, no}, kFloat, {}, "choice");
  };
  TensorId x = given;
  if (!in.is("Atan")) {
    // (1 - x) * (1 + x) keeps the digits of what lies near to 1.
    const TensorId cosine = two(OpKind::Mul, two(OpKind::Sub, in.number(1), given),
                                two(OpKind::Add, in.number(1), given));
    x = two(OpKind::Div, given, one(OpKind::Sqrt, cosine));
  }
  constexpr float kTerms[] = {0.00276628346f, -0.015731249f, 0.0421376228f,
                              -0.0745685473f, 0.106183708f,  -0.141977981f,
                              0.199918717f,   -0.333330363f, 1.0f};
  constexpr float kRightAngle = std::numbers::pi_v<float> / 2;
  const TensorId size = one(OpKind::Abs, x);
  // Of what is no number, as sines above 1 have none, an extreme is its second operand: there is no angle either.
  const TensorId z = two(OpKind::Div, extreme(OpKind::Minimum, size, in.number(1)),
                         extreme(OpKind::Maximum, in.number(1), size));
  const TensorId square = one(OpKind::Square, z);
  TensorId sum = in.number(kTerms[0]);
  for (const float term : std::span(kTerms).subspan(1))
    sum = two(OpKind::Add, two(OpKind::Mul, sum, square), in.number(term));
  TensorId angle = two(OpKind::Mul, sum, z);
  angle = choose(size, 1, two(OpKind::Sub, in.number(kRightAngle), angle), angle);
  angle = choose(x, 0, angle, one(OpKind::Neg, angle));
  in.result(in.is("Acos") ? two(OpKind::Sub, in.number(kRightAngle), angle) : angle);
}

void read_is_nan(Reader& in) {
  const TensorId x = in.operand(0);
  in.result(in.emit(OpKind::NotEqual, NoAttrs{}, {x, x}, DataType::Bool));
}

void read_is_inf(Reader& in) {
  const TensorId x = in.operand(0);
  const bool above = in.integer("detect_positive", 1) != 0,
             below = in.integer("detect_negative", 1) != 0;
  const auto beyond = [&](TensorId id) {
    return in.emit(OpKind::Greater, NoAttrs{}, {id, in.number(std::numeric_limits<float>::max())},
                   DataType::Bool);
  };
  if (!in.require(above || below, "looks for no infinity")) return;
  in.result(beyond(above && below ? in.emit(OpKind::Abs, NoAttrs{}, {x}, kFloat, {}, "size")
                   : above        ? x
                                  : in.emit(OpKind::Neg, NoAttrs{}, {x}, kFloat, {}, "turned")));
}

}  // namespace intarsia::onnx
