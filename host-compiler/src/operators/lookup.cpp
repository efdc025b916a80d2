// Any function of one int8 as the list of its results: what chains of operators on single elements become. Of an int16 as 513 points
// with straight lines between them.
#include <fmt/format.h>

#include <algorithm>

#include "operators/evaluation/elementwise.h"
#include "operators/evaluation/straight_lines.h"
#include "operators/families.h"
#include "operators/lowering/result_table.h"
#include "operators/operand_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

constexpr size_t kInputs = 256;  // values of an int8
constexpr size_t kPoints = StraightLines::kLines + 1;

Shapes infer_lookup(OpCheck& check) {
  const std::vector<int64_t>& results = check.node.attrs<LookupAttrs>().results;
  if (check.ok() && check.in(0).type == Int16)
    check.require(results.size() == kPoints,
                  fmt::format("has {} results, the straight lines over an int16 have {} points",
                              results.size(), kPoints));
  else
    check.require(results.size() == kInputs,
                  fmt::format("has {} results, an int8 has {} values", results.size(), kInputs));
  if (check.ok() && quantized(check)) {
    const DataType type = check.out().type;
    const int64_t count = int64_t{1} << bits(type), least = is_signed(type) ? -count / 2 : 0;
    const auto fits = [&](int64_t result) { return result >= least && result < least + count; };
    check.require(std::ranges::all_of(results, fits),
                  fmt::format("has results that {} does not hold", to_string(type)));
  }
  return {check.in(0).shape};
}

template <typename T>
Result<void> results_of(const Invocation& call) {
  const std::vector<int64_t>& results = call.node.attrs<LookupAttrs>().results;
  for (int64_t i = 0; i < element_count(call.out().shape); ++i)
    call.result<T>()[i] =
        static_cast<T>(results[static_cast<size_t>(call.data<int8_t>(0)[i] + 128)]);
  return {};
}

StraightLines lines_of(const Node& node) {
  std::array<int16_t, kPoints> points{};
  std::ranges::transform(node.attrs<LookupAttrs>().results, points.begin(),
                         [](int64_t result) { return static_cast<int16_t>(result); });
  return StraightLines(points);
}

Result<void> eval_lookup(const Invocation& call) {
  if (call.in().type == Int16) return map<int16_t>(call, lines_of(call.node));
  if (call.out().type == Int16) return results_of<int16_t>(call);
  if (call.out().type == UInt8) return results_of<uint8_t>(call);
  return results_of<int8_t>(call);
}

Stmt lower_lookup(OpLowering& op) {
  if (op.view.in(0).type == Int16) return lower_by_lines(op, lines_of(op.view.node).points());
  return lower_by_table(op);
}

constexpr TypeRule kLookupTypes[] = {{Int8, Int8}, {Int8, Int16}, {Int8, UInt8}, {Int16, Int16}};

constexpr Operator kLookupOperators[] = {
    {.kind = OpKind::Lookup,
     .types = kLookupTypes,
     .infer = infer_lookup,
     .evaluate = eval_lookup,
     .lower = lower_lookup,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary,
     .rows = each_row},
};

}  // namespace

std::span<const Operator> lookup_operators() {
  return kLookupOperators;
}

}  // namespace intarsia::operators
