// From operators to layers. One class takes the operators of a region in order; patterns ask it about
// one operator alone, so that what is offered is what can be written.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "intarsia/graph.h"
#include "legalise/rewrite.h"
#include "program/program.h"

namespace intarsia::targets::ethos_n {

using Reason = std::optional<std::string>;

class Legaliser {
 public:
  // `function` is the region, or what the operators are part of.
  Legaliser(const Variant& variant, const graph::Module& module, const graph::Function& function,
            const std::vector<graph::TensorId>& inputs,
            const std::vector<graph::TensorId>& outputs);

  // Why it cannot be, or nothing and its layers are part of the program. What the stack does not support is written in
  // operators that it does; the reason is the stack's nevertheless.
  Reason add(const graph::Node& node);
  // As the stack has the operator.
  Reason add_as_it_is(const graph::Node& node);
  Program finish() { return std::move(program_); }

 private:
  friend class LayerMaker;

  bool add_rewritten(const graph::Node& node);
  bool add_way(const Rewriting& way);
  // Forgets what was added after.
  void restore(size_t storages, size_t layers);

  const Variant& variant_;
  const graph::Module& module_;
  const graph::Function& function_;
  std::map<int32_t, int32_t> output_parameters_;  // of tensors
  std::map<int32_t, FeatureMap> maps_;            // of tensors that are there
  Program program_;
  int rewritings_left_ = 3;  // one inside of the other
};

// One operator alone, as the stack has it.
Reason refuses_operator(const Variant& variant, const graph::Module& module,
                        const graph::Function& function, const graph::Node& node);
// One that is not made so, in other operators: of those that the stack supports, or of all.
Reason refuses_rewritten(const Variant& variant, const graph::Module& module,
                         const graph::Function& function, const graph::Node& node,
                         bool beyond_the_stack);

}  // namespace intarsia::targets::ethos_n
