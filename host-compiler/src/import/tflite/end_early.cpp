#include "import/tflite/end_early.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/cut_out.h"
#include "intarsia/plugin/unique_names.h"
#include "support/c_identifier.h"

namespace intarsia::tflite {

namespace {

using graph::Function;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;

TensorId add_tensor(Function& function, Tensor tensor) {
  function.tensors.push_back(std::move(tensor));
  return TensorId{static_cast<int32_t>(function.tensors.size() - 1)};
}

// Those that only the branch has now.
void drop_unused_tensors(Function& function) {
  std::vector<TensorId> ids(function.tensors.size());
  std::vector<std::vector<TensorId>*> lists{&function.inputs, &function.outputs};
  for (Node& node : function.nodes) lists.insert(lists.end(), {&node.inputs, &node.outputs});
  for (const std::vector<TensorId>* list : lists)
    for (const TensorId id : *list)
      if (id.valid()) ids[id.at()].index = 0;
  std::vector<Tensor> used;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!ids[i].valid()) continue;
    ids[i].index = static_cast<int32_t>(used.size());
    used.push_back(std::move(function.tensors[i]));
  }
  function.tensors = std::move(used);
  for (std::vector<TensorId>* list : lists)
    for (TensorId& id : *list)
      if (id.valid()) id = ids[id.at()];
}

class EarlyEnd {
 public:
  EarlyEnd(ModelReader& reader, Function& model, size_t last, const std::string& name)
      : reader_(reader),
        model_(model),
        name_(c_identifier(name, "operator")),
        flag_(model.nodes[last].outputs[0]) {
    for (const Node& node : model.nodes) names_.reserve(node.name);
    std::vector<graph::NodeId> behind;
    for (size_t i = 0; i < model.nodes.size(); ++i) {
      const Node& node = model.nodes[i];
      if (node.kind == OpKind::AssignVariable)
        assignments_.push_back(node);
      else if (i <= last || node.kind == OpKind::ReadVariable)
        always_.push_back(node);  // reading state changes nothing
      else
        behind.push_back({static_cast<int32_t>(i)});
    }
    branch_ = graph::FunctionCutter(model).cut(behind);
    for (const graph::NodeId id : behind) behind_.push_back(model.nodes[id.at()]);
    runs_always_ = std::ranges::count(behind_, OpKind::Compiled, &Node::kind) > 0;
  }

  // Programs of another compiler are in no branch: they run in every invocation, and what comes of them counts in some. A layer that keeps
  // its state where it is would count all.
  std::optional<std::string> counts_all() const {
    return runs_always_ ? keeps_state(model_, behind_) : std::nullopt;
  }

  void make() {
    if (branch_.outputs.empty()) return;  // nobody sees what is behind
    // A value may be kept by several variables, whose values before it differ.
    for (size_t i = 0; i < branch_.outputs.size(); ++i) {
      const TensorId made = branch_.outputs[i], inside = branch_.function.outputs[i];
      const bool is_output = std::ranges::count(model_.outputs, made) > 0;
      bool is_assigned = false;
      for (size_t a = 0, count = assignments_.size(); a < count; ++a) {
        if (assignments_[a].inputs[0] != made) continue;
        const TensorId now = choose(inside, made, value_of(assignments_[a].outputs[0]));
        assignments_[a].inputs[0] = now;
        if (is_output && !is_assigned) std::ranges::replace(model_.outputs, made, now);
        is_assigned = true;
      }
      if (is_output && !is_assigned) keep_output(inside, made);
    }
    model_.nodes = std::move(always_);
    if (runs_always_)
      choose_results();
    else
      make_branch();
    model_.nodes.insert(model_.nodes.end(), assignments_.begin(), assignments_.end());
  }

 private:
  // What is made, in the branch and as the model had it, and what the model has of it and of what was before: the branch's operand.
  struct Result {
    TensorId inside, made, now;
    size_t before;
  };

  // The name of a layer that does, among the operators or in what they run.
  std::optional<std::string> keeps_state(const Function& function,
                                         const std::vector<Node>& nodes) const {
    for (const Node& node : nodes) {
      for (const TensorId id : node.outputs)
        if (function.tensor(id).variable) return node.name;
      for (const std::string& name : graph::functions_run_by(node))
        if (const Function* inner = reader_.module().find(name))
          if (auto found = keeps_state(*inner, inner->nodes)) return found;
    }
    return std::nullopt;
  }

  void choose_results() {
    model_.nodes.insert(model_.nodes.end(), behind_.begin(), behind_.end());
    for (const Result& result : results_)
      model_.nodes.push_back({.kind = OpKind::Select,
                              .name = names_.take(name_ + "_goes_on"),
                              .inputs = {flag_, result.made, branch_.inputs[result.before]},
                              .outputs = {result.now}});
  }

  void make_branch() {
    Function& goes_on = branch_.function;
    goes_on.outputs.clear();
    goes_on.name = reader_.function_name(name_ + "_goes_on");
    Function ends{.name = reader_.function_name(name_ + "_ends")};
    for (const TensorId id : goes_on.inputs)
      ends.inputs.push_back(add_tensor(ends, goes_on.tensor(id)));
    Node choice{.kind = OpKind::If,
                .name = names_.take(name_ + "_goes_on"),
                .attributes = graph::IfAttrs{goes_on.name, ends.name},
                .inputs = branch_.inputs};
    choice.inputs.insert(choice.inputs.begin(), flag_);
    for (const Result& result : results_) {
      goes_on.outputs.push_back(result.inside);
      ends.outputs.push_back(ends.inputs[result.before]);
      choice.outputs.push_back(result.now);
    }
    model_.nodes.push_back(std::move(choice));
    reader_.module().functions.push_back(std::move(goes_on));
    reader_.module().functions.push_back(std::move(ends));
  }

  // What the branch makes, or what there was before. Gives the tensor that has it.
  TensorId choose(TensorId inside, TensorId made, TensorId before) {
    auto place = std::ranges::find(branch_.inputs, before) - branch_.inputs.begin();
    if (place == std::ssize(branch_.inputs)) {
      branch_.inputs.push_back(before);
      branch_.function.inputs.push_back(add_tensor(branch_.function, model_.tensor(before)));
    }
    const TensorId now = add_tensor(model_, model_.tensor(made));
    results_.push_back({inside, made, now, static_cast<size_t>(place)});
    return now;
  }

  void keep_output(TensorId inside, TensorId made) {
    Tensor kept = model_.tensor(made);
    kept.variable = true;
    kept.name += "_before";
    const TensorId variable = add_tensor(model_, std::move(kept));
    const TensorId now = choose(inside, made, value_of(variable));
    std::ranges::replace(model_.outputs, made, now);
    assignments_.push_back({.kind = OpKind::AssignVariable,
                            .name = names_.take("assign_" + model_.tensor(variable).name),
                            .inputs = {now},
                            .outputs = {variable}});
  }

  TensorId value_of(TensorId variable) {
    for (const Node& node : always_)
      if (node.kind == OpKind::ReadVariable && node.inputs[0] == variable) return node.outputs[0];
    Tensor value = model_.tensor(variable);
    value.variable = false;
    value.initial = {};
    value.name += "_value";
    always_.push_back({.kind = OpKind::ReadVariable,
                       .name = names_.take("read_" + model_.tensor(variable).name),
                       .inputs = {variable},
                       .outputs = {add_tensor(model_, std::move(value))}});
    return always_.back().outputs[0];
  }

  ModelReader& reader_;
  Function& model_;
  const std::string name_;
  const TensorId flag_;
  UniqueNames names_;
  std::vector<Node> always_, behind_, assignments_;
  bool runs_always_ = false;
  graph::CutOut branch_;
  std::vector<Result> results_;
};

}  // namespace

std::optional<std::string> end_early(ModelReader& reader, Function& model, size_t last,
                                     const std::string& name) {
  EarlyEnd end(reader, model, last, name);
  if (auto layer = end.counts_all()) return layer;
  end.make();
  drop_unused_tensors(model);
  return std::nullopt;
}

}  // namespace intarsia::tflite
