// Any function of one int8 as the list of its results: what chains of operators on single elements become.
#include <fmt/format.h>

#include <algorithm>

#include "operators/evaluation/invocation.h"
#include "operators/families.h"
#include "operators/lowering/result_table.h"
#include "operators/operand_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

constexpr size_t kInputs = 256;  // values of an int8

Shapes infer_lookup(OpCheck& check) {
  const std::vector<int64_t>& results = check.node.attrs<LookupAttrs>().results;
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

Result<void> eval_lookup(const Invocation& call) {
  if (call.out().type == Int16) return results_of<int16_t>(call);
  if (call.out().type == UInt8) return results_of<uint8_t>(call);
  return results_of<int8_t>(call);
}

constexpr TypeRule kLookupTypes[] = {{Int8, Int8}, {Int8, Int16}, {Int8, UInt8}};

constexpr Operator kLookupOperators[] = {
    {.kind = OpKind::Lookup,
     .types = kLookupTypes,
     .infer = infer_lookup,
     .evaluate = eval_lookup,
     .lower = lower_by_table,
     .refuses = refuses_quantization,
     .elementwise = Elementwise::Unary,
     .rows = each_row},
};

}  // namespace

std::span<const Operator> lookup_operators() {
  return kLookupOperators;
}

}  // namespace intarsia::operators
