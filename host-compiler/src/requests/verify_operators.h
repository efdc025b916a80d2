// Operator by operator: each result of a program against the reference evaluator's on the operands that the
// program itself had, so that a difference of one operator is not held against the next.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/partition.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::requests {

using Values = std::vector<graph::TensorValue>;

// The entry with every tensor that some node makes as an output, behind its own.
graph::Module with_all_outputs(graph::Module module);

// The entry with the results of these operators, or these tensors, as outputs behind its own; "all": every
// one. A name there is not is a problem.
Result<graph::Module> with_outputs(const graph::Module& module,
                                   const std::vector<std::string>& names);

// The same partition again: every operator of the entry is pinned to the device that runs it.
graph::Module pinned_as(graph::Module module, const Explanation& explanation);

// By operator of the entry, the steps its result may differ by where it runs.
std::map<std::string, int32_t> tolerances(const graph::Module& module,
                                          const Explanation& explanation,
                                          const TargetRegistry& registry, const TargetSpec& target);

// Whether floats are computed and made integers again, by a conversion, a comparison or a search for the largest. Programs may
// compute the last bits of floats otherwise than the reference does, and a conversion turns such a bit into a step:
// then only operators alone, on the operands that they had, tell who is wrong.
bool makes_integers_of_computed_floats(const graph::Module& module);

// "operator 'conv_3' (conv2d), tensor 'x', sample 2, " and where the two differ; empty: they agree, or are
// no more than `steps` steps of 8 bits apart.
std::string describe_difference(const graph::Node& node, const graph::Tensor& tensor, size_t sample,
                                const graph::TensorValue& reference,
                                const graph::TensorValue& program, int32_t steps = 0);

// The outputs for consecutive samples; state goes on from one to the next.
Result<std::vector<Values>> evaluate(const graph::Module& module,
                                     const std::vector<Values>& samples);

struct OperatorCheck {
  struct Row {  // of a node of the entry, in order
    std::string node;
    std::string difference;    // the first, when it is more than is allowed
    int32_t allowed = 0;       // steps
    int32_t largest = 0;       // steps, where it may differ
    bool is_looked_at = true;  // false: the program did not show its result
  };
  std::vector<Row> rows;
  std::string difference;  // of the first that differs by more than is allowed; empty: none does
  int32_t largest = 0;     // steps, of those that may differ
};
// `results`: by sample, the values of the outputs of `opened`, which with_all_outputs made. Operators that share
// state are compared with an evaluation of the whole module, which cannot be when some may differ.
Result<OperatorCheck> check_operators(const graph::Module& opened,
                                      const std::map<std::string, int32_t>& allowed,
                                      const std::vector<Values>& samples,
                                      const std::vector<Values>& results);

}  // namespace intarsia::requests
