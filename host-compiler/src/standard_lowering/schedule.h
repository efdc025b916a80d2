// The functions of one lowered graph function: a leaf per operator and the schedule that calls
// them.
#pragma once

#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/tir_build.h"
#include "standard_lowering/leaves.h"
#include "standard_lowering/op_lowering.h"
#include "striping/stripe_choice.h"

namespace intarsia::standard_lowering {

// Tensors that a chain of reshapes connects are the same bytes: one storage, which is the
// function's input or output where the chain touches one. An output whose storage is another one
// (an input, a constant, an earlier output) is copied at the end.
class Schedule {
 public:
  Schedule(const graph::Module& graph, const graph::Function& function, tir::Module& module);

  // A reshape of something that has storage.
  bool needs_no_code(const graph::Node& node) const;
  // Lowers the node into a leaf and calls it.
  void add_leaf(const graph::Node& node, const LowerLeaf& lower);
  // Lowers a chain of nodes into a striped function with leaves of its own and calls it.
  void add_stripes(const striping::Option& part, const ChooseLeaf& leaf_for);
  // Adds the schedule to the module; its name.
  std::string finish();

 private:
  graph::TensorId source(graph::TensorId tensor) const;  // the start of its chain of reshapes
  BufferId storage(graph::TensorId tensor, const std::string& leaf);
  void copy_outputs();
  std::string unique_func_name(const std::string& wish);

  const graph::Module& graph_;
  const graph::Function& function_;
  tir::Module& module_;
  ConstantPool pool_;
  std::vector<std::string> func_names_;  // before name_, which is the first of them
  std::string name_;
  FuncBuilder builder_;
  std::vector<graph::TensorId> reshaped_from_;  // per tensor; invalid: not by a reshape
  std::vector<BufferId> storage_;               // per tensor that starts a chain
  std::vector<Stmt> calls_;
};

}  // namespace intarsia::standard_lowering
