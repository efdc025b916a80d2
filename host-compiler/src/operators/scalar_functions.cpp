#include "operators/scalar_functions.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace intarsia::operators {

namespace {

using enum DataType;

Expr called(const char* function, const Expr& x) {
  return tir::call(Float32, function, {x});
}
Expr real_number(float value) {
  return tir::float_imm(value);
}
Expr line(const Expr& x, float alpha, float beta) {
  return x * real_number(alpha) + real_number(beta);
}
Expr magnitude(const Expr& x) {
  return tir::max(x, tir::unary(tir::UnaryOp::Neg, x));
}
Expr where_negative(const Expr& x, const Expr& below) {
  return tir::select(tir::binary(tir::BinaryOp::Lt, x, real_number(0)), below, x);
}

constexpr auto kScalarFunctions = std::to_array<ScalarFunction>({
    {"sigmoid", [](float x, float, float) { return 1 / (1 + std::exp(-x)); },
     [](const Expr& x, float, float) { return called("intarsia_logistic_f32", x); }},
    {"tanh", [](float x, float, float) { return std::tanh(x); },
     [](const Expr& x, float, float) { return called("intarsia_tanh_f32", x); }},
    {"relu", [](float x, float, float) { return std::max(x, 0.0f); },
     [](const Expr& x, float, float) { return tir::max(x, real_number(0)); }},
    {"leaky_relu", [](float x, float alpha, float) { return x < 0 ? alpha * x : x; },
     [](const Expr& x, float alpha, float) { return where_negative(x, x * real_number(alpha)); }},
    {"thresholded_relu", [](float x, float alpha, float) { return x > alpha ? x : 0; },
     [](const Expr& x, float alpha, float) {
       const Expr above = tir::binary(tir::BinaryOp::Gt, x, real_number(alpha));
       return tir::select(above, x, real_number(0));
     }},
    {"affine", [](float x, float alpha, float beta) { return alpha * x + beta; }, line},
    {"scaled_tanh", [](float x, float alpha, float beta) { return alpha * std::tanh(beta * x); },
     [](const Expr& x, float alpha, float beta) {
       return called("intarsia_tanh_f32", x * real_number(beta)) * real_number(alpha);
     }},
    {"hard_sigmoid",
     [](float x, float alpha, float beta) { return std::clamp(alpha * x + beta, 0.0f, 1.0f); },
     [](const Expr& x, float alpha, float beta) {
       return tir::min(tir::max(line(x, alpha, beta), real_number(0)), real_number(1));
     }},
    {"elu", [](float x, float alpha, float) { return x < 0 ? alpha * std::expm1(x) : x; },
     [](const Expr& x, float alpha, float) {
       return where_negative(x,
                             (called("intarsia_exp_f32", x) - real_number(1)) * real_number(alpha));
     }},
    {"softsign", [](float x, float, float) { return x / (1 + std::abs(x)); },
     [](const Expr& x, float, float) {
       return tir::call(Float32, "intarsia_divide_f32", {x, magnitude(x) + real_number(1)});
     }},
    {"softplus",
     [](float x, float, float) { return std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x))); },
     [](const Expr& x, float, float) {
       const Expr small =
           called("intarsia_exp_f32", tir::unary(tir::UnaryOp::Neg, magnitude(x))) + real_number(1);
       return tir::max(x, real_number(0)) + called("intarsia_log_f32", small);
     }},
});

}  // namespace

const ScalarFunction* find_scalar_function(std::string_view name) {
  const auto found = std::ranges::find(kScalarFunctions, name, &ScalarFunction::name);
  return found == kScalarFunctions.end() ? nullptr : &*found;
}

std::vector<std::string_view> scalar_function_names() {
  std::vector<std::string_view> names;
  for (const ScalarFunction& function : kScalarFunctions) names.push_back(function.name);
  return names;
}

}  // namespace intarsia::operators
