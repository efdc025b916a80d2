#include "standard_lowering/schedule.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "intarsia/check.h"
#include "standard_lowering/families.h"
#include "standard_lowering/row_chain.h"
#include "standard_lowering/stripe_lowering.h"
#include "support/c_identifier.h"

namespace intarsia::standard_lowering {

namespace {

// Buffers start at word boundaries, so that kernels may move them by words.
constexpr int32_t kAlignment = 4;

}  // namespace

Schedule::Schedule(const graph::Module& graph, const graph::Function& function, tir::Module& module)
    : graph_(graph),
      function_(function),
      module_(module),
      pool_(graph, module),
      name_(unique_func_name(c_identifier(function.name, "f"))),
      builder_(name_),
      reshaped_from_(function.tensors.size()),
      storage_(function.tensors.size()) {
  for (const graph::Node& node : function.nodes) {
    const bool is_free =
        node.kind == graph::OpKind::Reshape && !function.tensor(node.inputs[0]).constant.valid();
    if (is_free) reshaped_from_[node.outputs[0].at()] = node.inputs[0];
  }
  const auto parameter = [&](const char* role, size_t i, graph::TensorId id, tir::Access access) {
    const graph::Tensor& tensor = function.tensor(id);
    return builder_.parameter(fmt::format("{}{}", role, i), tensor.type, tensor.shape, access,
                              kAlignment);
  };
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    storage_[function.inputs[i].at()] =
        parameter("input", i, function.inputs[i], tir::Access::Read);
  }
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    const BufferId buffer = parameter("output", i, function.outputs[i], tir::Access::Write);
    const graph::TensorId start = source(function.outputs[i]);
    const bool has_place = storage_[start.at()].valid() || function.tensor(start).constant.valid();
    if (!has_place) storage_[start.at()] = buffer;
  }
}

std::string Schedule::unique_func_name(const std::string& wish) {
  std::string name = wish;
  // The emitted model's own functions: <model>_init and so on.
  static constexpr std::array<std::string_view, 6> kReserved = {"init",   "run",   "input",
                                                                "output", "reset", "package"};
  const auto taken = [&] {
    if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end()) return true;
    return std::find(func_names_.begin(), func_names_.end(), name) != func_names_.end();
  };
  for (int n = 2; taken(); ++n) name = fmt::format("{}_{}", wish, n);
  func_names_.push_back(name);
  return name;
}

graph::TensorId Schedule::source(graph::TensorId tensor) const {
  while (reshaped_from_[tensor.at()].valid()) tensor = reshaped_from_[tensor.at()];
  return tensor;
}

bool Schedule::needs_no_code(const graph::Node& node) const {
  return node.kind == graph::OpKind::Reshape && reshaped_from_[node.outputs[0].at()].valid();
}

BufferId Schedule::storage(graph::TensorId tensor, const std::string& leaf) {
  const graph::TensorId start = source(tensor);
  BufferId& buffer = storage_[start.at()];
  if (!buffer.valid()) {
    const graph::Tensor& value = function_.tensor(start);
    buffer = builder_.local(leaf + (value.variable ? "_state" : "_out"), value.type, value.shape,
                            kAlignment);
    if (value.variable)
      builder_.func().buffers[buffer.at()].initial =
          value.quantization.present() ? value.quantization.zero_point[0] : 0;
  }
  return buffer;
}

void Schedule::add_leaf(const graph::Node& node, const LowerLeaf& lower) {
  const std::string name = unique_func_name(c_identifier(node.name, "f"));
  const OpView view{graph_, function_, node};
  OpLowering op(view, name, pool_);
  Stmt body = lower(op);
  tir::Func leaf = op.b.finish(std::move(body));
  leaf.origin = fmt::format("{}: {}", node.name, view.signature());
  leaf.node = node.name;
  leaf.macs = graph::mac_count(function_, node);
  module_.funcs.push_back(std::move(leaf));

  std::vector<BufferId> arguments;
  for (const graph::TensorId id : op.parameters()) arguments.push_back(storage(id, name));
  calls_.push_back(tir::call_func(name, std::move(arguments)));
}

void Schedule::add_stripes(const striping::Option& part, const ChooseLeaf& leaf_for) {
  const auto chain =
      make_row_chain(graph_, function_, static_cast<size_t>(part.first), static_cast<size_t>(part.last));
  INTARSIA_CHECK(chain.has_value(), "only chains of rows are cut into stripes");
  const auto stripes = striping::make_stripes(chain->chain, part.step);
  INTARSIA_CHECK(stripes.has_value(), "the stripes were made before to be chosen");
  const std::string first = c_identifier(chain->nodes.front()->name, "f");
  StripedFunctions made = lower_stripes(graph_, function_, *chain, *stripes, leaf_for, pool_,
                                        {first + "_stripes", [&](const std::string& wish) { return unique_func_name(wish); }});
  for (tir::Func& leaf : made.leaves) module_.funcs.push_back(std::move(leaf));
  std::vector<BufferId> arguments;
  for (const int input : chain->inputs)
    arguments.push_back(storage(chain->tensors[static_cast<size_t>(input)], first));
  const int output = chain->chain.output();
  arguments.push_back(storage(chain->tensors[static_cast<size_t>(output)], c_identifier(chain->nodes.back()->name, "f")));
  calls_.push_back(tir::call_func(made.striped.name, std::move(arguments)));
  module_.funcs.push_back(std::move(made.striped));
}

void Schedule::copy_outputs() {
  for (size_t i = 0; i < function_.outputs.size(); ++i) {
    const graph::TensorId id = function_.outputs[i], start = source(id);
    const BufferId output{static_cast<int32_t>(function_.inputs.size() + i)};
    if (storage_[start.at()] == output) continue;
    // The copy is an operator without attributes that reads the chain's start.
    graph::Node copy;
    copy.kind = graph::OpKind::Reshape;
    copy.name = fmt::format("{}_copy_output{}", function_.name, i);
    copy.inputs = {start};
    copy.outputs = {id};
    const BufferId kept = storage_[start.at()];
    const std::string name = unique_func_name(c_identifier(copy.name, "f"));
    const OpView view{graph_, function_, copy};
    OpLowering op(view, name, pool_);
    Stmt body = lower_copy(op);
    tir::Func leaf = op.b.finish(std::move(body));
    leaf.origin = fmt::format("{}: copy of {}", copy.name, describe(function_.tensor(start)));
    module_.funcs.push_back(std::move(leaf));
    std::vector<BufferId> arguments;
    if (kept.valid()) arguments.push_back(kept);  // else a constant, which the leaf reads itself
    arguments.push_back(output);
    calls_.push_back(tir::call_func(name, std::move(arguments)));
  }
}

std::string Schedule::finish() {
  copy_outputs();
  module_.funcs.push_back(builder_.finish(tir::seq(std::move(calls_))));
  return name_;
}

}  // namespace intarsia::standard_lowering
