// Functions of one number that recurrent layers are made with, by name: what they are and how C computes them.
#pragma once

#include <string_view>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/plugin/op_lowering.h"

namespace intarsia::operators {

struct ScalarFunction {
  std::string_view name;
  float (*evaluate)(float x, float alpha, float beta);
  Expr (*lower)(const Expr& x, float alpha, float beta);  // may read `x` several times
};

const ScalarFunction* find_scalar_function(std::string_view name);  // null: there is none
std::vector<std::string_view> scalar_function_names();

}  // namespace intarsia::operators
