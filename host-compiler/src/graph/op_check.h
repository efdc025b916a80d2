// What the rules of one operator look at, and where they put their findings. Rules collect every
// violation they can see safely.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/type_rule.h"
#include "intarsia/graph.h"

namespace intarsia::graph {

// "function 'main': operator 'conv_1' (conv2d)"
std::string place_of(const Function& function, const Node& node);

// Why the tensor's shape cannot be (rank, extents, size), or an empty string.
std::string shape_problem(DataType type, const Shape& shape);

class OpCheck {
 public:
  OpCheck(const Module& module, const Function& function, const Node& node)
      : module(module), function(function), node(node) {}

  const Module& module;
  const Function& function;
  const Node& node;

  // Operand counts, attribute kind, tensor numbers, sane shapes: what all rules take for granted.
  bool well_formed();

  bool has(size_t operand) const {
    return operand < node.inputs.size() && node.inputs[operand].valid();
  }
  const Tensor& in(size_t operand) const { return function.tensor(node.inputs[operand]); }
  const Tensor& out(size_t result = 0) const { return function.tensor(node.outputs[result]); }

  void fail(std::string what, std::string hint = {});
  // fail() unless the condition holds; returns it.
  bool require(bool condition, std::string what, std::string hint = {});
  bool rank(size_t operand, size_t expected, std::string_view name);
  bool in_range(std::string_view attribute, int64_t value, int64_t least);
  // Whether one of the combinations fits.
  bool types(std::span<const TypeRule> allowed);
  std::string types_text() const;  // "i8, i8, i32 -> i8"

  // Quantised with one scale; a zero point of 0 where `symmetric`.
  bool per_tensor(const Tensor& tensor, std::string_view name, bool symmetric = false);
  // The factor that TFLite's fixed-point arithmetic is to represent: 0 < factor < 2^most_exponent.
  bool factor(double value, int most_exponent);

  bool ok() const { return problems_.empty(); }
  Diagnostics take() { return std::move(problems_); }

 private:
  Diagnostics problems_;
};

// Largest exponents that the fixed-point arithmetic takes: a left shift of an int32, and of the
// 64-bit accumulators of int16 operators.
inline constexpr int kMostExponent32 = 30;
inline constexpr int kMostExponent64 = 7;
// Strides, dilations, windows and padding; keeps all products of them inside int64.
inline constexpr int64_t kMostWindow = 1 << 24;

using Shapes = std::vector<Shape>;

}  // namespace intarsia::graph
