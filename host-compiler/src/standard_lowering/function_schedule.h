// The functions of one lowered graph function: a kernel per operator and the schedule that calls
// them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/plugin/kernel_functions.h"
#include "intarsia/plugin/op_lowering.h"
#include "intarsia/plugin/tir_build.h"
#include "row_tiling/row_tile_choice.h"

namespace intarsia::standard_lowering {

// Tensors that a chain of reshapes connects are the same bytes: one storage, which is the
// function's input or output where the chain touches one. An output whose storage is another one
// (an input, a constant, an earlier output) is copied at the end.
// What branches and loops run becomes part of the same schedule: their inputs are the buffers of the
// operands, and state inside of them is a buffer like any other.
class Schedule {
 public:
  // The kernel of each operator is written by what `kernel_of` returns.
  using KernelOf = std::function<LowerKernel(const OpView&)>;
  Schedule(const graph::Module& graph, const graph::Function& function, tir::Module& module,
           KernelOf kernel_of);

  // Lowers the function and adds the schedule to the module; its name. `tiles` are the chains of the
  // function's nodes that run by row tiles: each a tiled function with kernels of its own. Refuses
  // branches and loops that become too many operators: what two branches run is in the model once
  // and in the schedule twice.
  Result<std::string> run(const std::vector<row_tiling::Option>& tiles = {});

 private:
  // One function while it is written into the schedule.
  struct Body {
    graph::Function function;  // inputs that are constants for the caller are so here
    std::vector<graph::TensorId> reshaped_from;  // per tensor; invalid: not by a reshape
    std::vector<BufferId> storage;               // per tensor that starts a chain

    graph::TensorId source(graph::TensorId tensor) const;  // the start of its chain of reshapes
    bool is_constant(graph::TensorId tensor) const {
      return function.tensor(source(tensor)).constant.valid();
    }
  };

  static Body make_body(const graph::Function& function);
  // The callee's, with the operands of `node` from `first` on as its inputs.
  Body callee_body(const Body& caller, const graph::Node& node, size_t first,
                   const std::string& name);
  void lower(Body& body, const std::vector<row_tiling::Option>& tiles = {});
  void lower_node(Body& body, const graph::Node& node);
  void add_tiles(Body& body, const row_tiling::Option& part);
  void lower_if(Body& body, const graph::Node& node);

  // An operator that both branches of an `if` have: numbers of their nodes.
  struct CommonIf {
    size_t in_then, in_else;
  };
  std::optional<CommonIf> common_if(const graph::Node& node) const;
  // The schedule is then: the branches up to there, what is common, the branches from there on.
  void lower_if_around(Body& body, const graph::Node& node, const CommonIf& common,
                       const std::vector<BufferId>& outputs, BufferId decides);
  // Operators that a function becomes when nothing is shared; saturates.
  int64_t operators_of(const std::string& function) const;
  bool too_many() const { return inner_kernels_ > kMostInnerKernels; }
  void lower_while(Body& body, const graph::Node& node);
  void add_kernel(Body& body, const graph::Node& node, const LowerKernel& lower);
  // A kernel that copies the storage (or constant) of one tensor to a buffer.
  void add_copy(Body& body, graph::TensorId from, BufferId to, const std::string& name);
  // Lets the function's operators write its outputs to these buffers; finish_outputs copies the rest.
  void offer_outputs(Body& body, const std::vector<BufferId>& buffers);
  void finish_outputs(Body& body, const std::vector<BufferId>& buffers, const std::string& name);
  BufferId storage(Body& body, graph::TensorId tensor, const std::string& kernel);
  BufferId fresh(const graph::Tensor& tensor, const std::string& name);
  Expr flag(BufferId buffer) const;
  // What `f` adds, apart from what there was.
  template <typename F>
  Stmt apart(F&& f) {
    std::vector<Stmt> outside = std::exchange(calls_, {});
    f();
    return tir::seq(std::exchange(calls_, std::move(outside)));
  }
  std::string unique_func_name(const std::string& hint);

  const graph::Module& graph_;
  tir::Module& module_;
  KernelOf kernel_of_;
  ConstantPool pool_;
  UniqueNames func_names_;  // before name_, which is the first of them
  std::string name_;
  FuncBuilder builder_;
  Body main_;
  std::map<std::pair<std::string, int32_t>, BufferId> states_;  // by function and tensor
  std::vector<Stmt> calls_;
  int depth_ = 0;              // of branches and loops that are being lowered
  int64_t inner_kernels_ = 0;  // made inside of them
  mutable std::map<std::string, int64_t> operators_of_;

  static constexpr int64_t kMostInnerKernels = 100'000;
};

}  // namespace intarsia::standard_lowering
