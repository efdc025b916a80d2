// Operator by operator: each result of a program against the reference evaluator's on the operands that the
// program itself had, so that an allowed difference of one operator is not held against the next.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/partition.h"
#include "intarsia/target_kind.h"

namespace intarsia::cli {

using Values = std::vector<graph::TensorValue>;

// The entry with every tensor that some node makes as an output, behind its own.
graph::Module with_all_outputs(graph::Module module);

// The same partition again: every operator of the entry is pinned to the member that runs it.
graph::Module pinned_as(graph::Module module, const Explanation& explanation);

// By operator of the entry, the steps its result may differ by where it runs.
std::map<std::string, int32_t> tolerances(const graph::Module& module,
                                          const Explanation& explanation,
                                          const TargetRegistry& registry, const TargetSpec& target);

// Whether the program's value is the reference's, or no more than `tolerance` steps of 8 bits away.
bool agree(const graph::Tensor& tensor, const graph::TensorValue& reference,
           const graph::TensorValue& program, int32_t tolerance = 0);

// "operator 'conv_3' (conv2d), tensor 'x', sample 2, byte 7: reference 0x05, program 0x07".
std::string describe_difference(const graph::Node& node, const graph::Tensor& tensor, size_t sample,
                                const graph::TensorValue& reference,
                                const graph::TensorValue& program);

struct OperatorCheck {
  std::string difference;  // of the first that differs by more than is allowed; empty: none does
  int32_t largest = 0;     // steps, of those that may differ
};
// `results`: by sample, the values of the outputs of `opened`, which with_all_outputs made.
Result<OperatorCheck> check_operators(const graph::Module& opened,
                                      const std::map<std::string, int32_t>& allowed,
                                      const std::vector<Values>& samples,
                                      const std::vector<Values>& results);

}  // namespace intarsia::cli
