// The table of all operators, and what the rest of the compiler asks of it.
#include <array>

#include <fmt/format.h>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/op_families.h"
#include "operators/common_types.h"
#include "operators/families.h"

namespace intarsia::operators {
namespace {

constexpr size_t kKinds = 0
#define OP(name, text, attrs, least, most, outputs) +1
#include "intarsia/graph/op_kinds.def"
#undef OP
    ;

std::array<const Operator*, kKinds> by_kind() {
  std::array<const Operator*, kKinds> table{};
  for (const std::span<const Operator> family : all_families())
    for (const Operator& row : family) table[static_cast<size_t>(row.kind)] = &row;
  return table;
}

}  // namespace

std::span<const std::span<const Operator>> all_families() {
  static const std::array families = {
      accumulation_operators(),   activation_operators(),
      arithmetic_operators(),     comparison_operators(),
      control_operators(),        conversion_operators(),
      convolution_operators(),    depthwise_convolution_operators(),
      detection_operators(),      elementary_function_operators(),
      hybrid_operators(),         joining_operators(),
      lookup_operators(),         lstm_operators(),
      matrix_product_operators(), normalization_operators(),
      padding_operators(),        pooling_operators(),
      rearrangement_operators(),  recurrent_operators(),
      reduction_operators(),      resizing_operators(),
      scatter_operators(),        selection_operators(),
      signal_operators(),         signal_transform_operators(),
      svdf_operators(),           transpose_convolution_operators(),
  };
  return families;
}

const Operator& operator_of(graph::OpKind kind) {
  static const std::array<const Operator*, kKinds> table = by_kind();
  const Operator* row = table[static_cast<size_t>(kind)];
  INTARSIA_CHECK(row != nullptr, "every operator has a row in its family's table");
  return *row;
}

}  // namespace intarsia::operators

namespace intarsia::graph {

int64_t mac_count(const Function& function, const Node& node) {
  const auto count = operators::operator_of(node.kind).mac_count;
  return count == nullptr ? 0 : count(function, node);
}

Result<std::vector<Shape>> infer_shapes(const Module& module, const Function& function,
                                        const Node& node) {
  OpCheck check(module, function, node);
  if (!check.well_formed()) return check.take();
  const operators::Operator& row = operators::operator_of(node.kind);
  if (!row.types.empty()) check.types(row.types);
  Shapes shapes = row.infer(check);
  if (!check.ok()) return check.take();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string problem = shape_problem(check.out(i).type, shapes[i]);
    // What is wrong but with the rank and the extents is the size.
    const bool is_large =
        shapes[i].size() <= kMaxRank &&
        std::ranges::all_of(shapes[i], [](int64_t extent) { return extent >= 1; });
    if (!problem.empty())
      check.fail(fmt::format("its output {}: {}", i, problem),
                 is_large ? "give the model a smaller input, or fewer rows at a time" : "");
  }
  if (!check.ok()) return check.take();
  return shapes;
}

bool is_elementwise_unary(OpKind kind) {
  return operators::operator_of(kind).elementwise == operators::Elementwise::Unary;
}

bool is_elementwise_binary(OpKind kind) {
  return operators::operator_of(kind).elementwise == operators::Elementwise::Binary;
}

}  // namespace intarsia::graph
