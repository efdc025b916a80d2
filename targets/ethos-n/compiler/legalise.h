// From operators to layers. One class takes the operators of a region in order; patterns ask it about
// one operator alone, so that what is offered is what can be written.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "intarsia/graph.h"
#include "program.h"

namespace intarsia::targets::ethos_n {

using Reason = std::optional<std::string>;

class Legaliser {
 public:
  // `function` is the region, or what the operators are part of.
  Legaliser(const Variant& variant, const graph::Module& module, const graph::Function& function,
            const std::vector<graph::TensorId>& inputs, const std::vector<graph::TensorId>& outputs);

  // Why it cannot be, or nothing and its layers are part of the program.
  Reason add(const graph::Node& node);
  Program finish() { return std::move(program_); }

 private:
  friend class LayerMaker;

  const Variant& variant_;
  const graph::Module& module_;
  const graph::Function& function_;
  std::map<int32_t, int32_t> output_parameters_;  // of tensors
  std::map<int32_t, FeatureMap> maps_;            // of tensors that are there
  Program program_;
};

// One operator alone.
Reason refuses_operator(const Variant& variant, const graph::Module& module, const graph::Function& function,
                        const graph::Node& node);

}  // namespace intarsia::targets::ethos_n
