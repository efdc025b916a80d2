#include "standard_lowering/function_schedule.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "graph/loop_bound.h"
#include "intarsia/plugin/check.h"
#include "operators/lowering/strided_copy.h"
#include "standard_lowering/row_chain.h"
#include "standard_lowering/row_tile_lowering.h"
#include "support/c_identifier.h"

namespace intarsia::standard_lowering {

namespace {

// Buffers start at word boundaries, so that kernels may move them by words.
constexpr int32_t kAlignment = 4;

}  // namespace

// ---- one function -------------------------------------------------------------------------------

graph::TensorId Schedule::Body::source(graph::TensorId tensor) const {
  while (reshaped_from[tensor.at()].valid()) tensor = reshaped_from[tensor.at()];
  return tensor;
}

Schedule::Body Schedule::make_body(const graph::Function& function) {
  Body body{function, std::vector<graph::TensorId>(function.tensors.size()),
            std::vector<BufferId>(function.tensors.size())};
  for (const graph::Node& node : function.nodes) {
    const bool is_free =
        node.kind == graph::OpKind::Reshape && !function.tensor(node.inputs[0]).constant.valid();
    if (is_free) body.reshaped_from[node.outputs[0].at()] = node.inputs[0];
  }
  return body;
}

Schedule::Body Schedule::callee_body(const Body& caller, const graph::Node& node, size_t first,
                                     const std::string& name) {
  const graph::Function* callee = graph_.find(name);
  INTARSIA_CHECK(callee != nullptr, "the callee of a verified module exists");
  graph::Function function = *callee;
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    const graph::TensorId from = caller.source(node.inputs[first + i]);
    function.tensors[function.inputs[i].at()].constant = caller.function.tensor(from).constant;
  }
  Body body = make_body(function);
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    const graph::TensorId from = caller.source(node.inputs[first + i]);
    body.storage[function.inputs[i].at()] = caller.storage[from.at()];
  }
  return body;
}

void Schedule::lower(Body& body, const std::vector<row_tiling::Option>& tiles) {
  const auto part_from = [&](int first) {
    return std::find_if(tiles.begin(), tiles.end(),
                        [&](const row_tiling::Option& part) { return part.first == first; });
  };
  for (size_t n = 0; n < body.function.nodes.size() && !too_many(); ++n) {
    if (const auto part = part_from(static_cast<int>(n)); part != tiles.end()) {
      add_tiles(body, *part);
      n = static_cast<size_t>(part->last);
      continue;
    }
    lower_node(body, body.function.nodes[n]);
  }
}

void Schedule::lower_node(Body& body, const graph::Node& node) {
  if (node.kind == graph::OpKind::Reshape && body.reshaped_from[node.outputs[0].at()].valid())
    return;
  if (node.kind == graph::OpKind::If) {
    ++depth_;
    lower_if(body, node);
    --depth_;
  } else if (node.kind == graph::OpKind::While) {
    ++depth_;
    lower_while(body, node);
    --depth_;
  } else {
    add_kernel(body, node, kernel_of_(OpView{graph_, body.function, node}));
  }
}

// ---- the function that is lowered ---------------------------------------------------------------

Schedule::Schedule(const graph::Module& graph, const graph::Function& function, tir::Module& module,
                   KernelOf kernel_of)
    : graph_(graph),
      module_(module),
      kernel_of_(std::move(kernel_of)),
      pool_(graph, module),
      name_(unique_func_name(c_identifier(function.name, "f"))),
      builder_(name_),
      main_(make_body(function)) {}

Result<std::string> Schedule::run(const std::vector<row_tiling::Option>& tiles) {
  const graph::Function& function = main_.function;
  const auto parameter = [&](const char* role, size_t i, graph::TensorId id, tir::Access access) {
    const graph::Tensor& tensor = function.tensor(id);
    return builder_.parameter(fmt::format("{}{}", role, i), tensor.type, tensor.shape, access,
                              kAlignment);
  };
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    main_.storage[function.inputs[i].at()] =
        parameter("input", i, function.inputs[i], tir::Access::Read);
  }
  std::vector<BufferId> outputs;
  for (size_t i = 0; i < function.outputs.size(); ++i)
    outputs.push_back(parameter("output", i, function.outputs[i], tir::Access::Write));
  offer_outputs(main_, outputs);
  lower(main_, tiles);
  finish_outputs(main_, outputs, function.name);
  if (too_many())
    return Diagnostics(
        fmt::format("function '{}'", function.name),
        fmt::format("its branches and loops become more than {} operators: each run of a function "
                    "is written out where it is",
                    kMostInnerKernels),
        "let fewer operators run the same function");
  module_.funcs.push_back(builder_.finish(tir::seq(std::move(calls_))));
  return name_;
}

void Schedule::offer_outputs(Body& body, const std::vector<BufferId>& buffers) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const graph::TensorId start = body.source(body.function.outputs[i]);
    const graph::Tensor& tensor = body.function.tensor(start);
    const bool has_place =
        body.storage[start.at()].valid() || tensor.constant.valid() || tensor.variable;
    if (!has_place) body.storage[start.at()] = buffers[i];
  }
}

void Schedule::finish_outputs(Body& body, const std::vector<BufferId>& buffers,
                              const std::string& name) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const graph::TensorId start = body.source(body.function.outputs[i]);
    if (body.storage[start.at()] == buffers[i]) continue;
    add_copy(body, body.function.outputs[i], buffers[i], fmt::format("{}_copy_output{}", name, i));
  }
}

// ---- branches and loops -------------------------------------------------------------------------

Expr Schedule::flag(BufferId buffer) const {
  const Shape& extents = builder_.func_view().buffer(buffer).extents;
  return builder_.load(buffer, std::vector<Expr>(extents.size(), tir::int_imm(0)));
}

void Schedule::lower_if(Body& body, const graph::Node& node) {
  const std::string name = c_identifier(node.name, "branch");
  std::vector<BufferId> outputs;
  for (const graph::TensorId id : node.outputs) outputs.push_back(storage(body, id, name));
  const auto branch = [&](const std::string& callee) {
    Body inner = callee_body(body, node, 1, callee);
    offer_outputs(inner, outputs);
    lower(inner);
    finish_outputs(inner, outputs, callee);
  };
  const auto& attrs = node.attrs<graph::IfAttrs>();
  if (attrs.then_branch == attrs.else_branch) return branch(attrs.then_branch);
  const graph::Tensor& condition = body.function.tensor(body.source(node.inputs[0]));
  if (condition.constant.valid()) {
    const bool holds = graph_.constant(condition.constant).bytes[0] != 0;
    return branch(holds ? attrs.then_branch : attrs.else_branch);
  }
  const BufferId decides = storage(body, node.inputs[0], name);
  if (const auto common = common_if(node))
    return lower_if_around(body, node, *common, outputs, decides);
  const Stmt then_body = apart([&] { branch(attrs.then_branch); });
  const Stmt else_body = apart([&] { branch(attrs.else_branch); });
  calls_.push_back(tir::with_comment(node.name, tir::if_then(flag(decides), then_body, else_body)));
}

int64_t Schedule::operators_of(const std::string& function) const {
  if (const auto known = operators_of_.find(function); known != operators_of_.end())
    return known->second;
  int64_t count = 0;
  for (const graph::Node& node : graph_.find(function)->nodes) {
    ++count;
    for (const std::string& callee : graph::functions_run_by(node))
      count = std::min(count + operators_of(callee), kMostInnerKernels);
  }
  return operators_of_[function] = count;
}

std::optional<Schedule::CommonIf> Schedule::common_if(const graph::Node& node) const {
  // Fewer operators are written out twice: what is shared costs copies of what it works on.
  constexpr int64_t kLeastShared = 64;
  const auto& attrs = node.attrs<graph::IfAttrs>();
  const auto only_if = [&](const std::string& name) -> std::optional<size_t> {
    const std::vector<graph::Node>& nodes = graph_.find(name)->nodes;
    const auto is_if = [](const graph::Node& inner) { return inner.kind == graph::OpKind::If; };
    const auto found = std::find_if(nodes.begin(), nodes.end(), is_if);
    if (found == nodes.end() || std::find_if(found + 1, nodes.end(), is_if) != nodes.end())
      return std::nullopt;
    return static_cast<size_t>(found - nodes.begin());
  };
  const std::optional<size_t> in_then = only_if(attrs.then_branch);
  const std::optional<size_t> in_else = only_if(attrs.else_branch);
  if (!in_then || !in_else) return std::nullopt;
  const graph::Node& one = graph_.find(attrs.then_branch)->nodes[*in_then];
  const graph::Node& other = graph_.find(attrs.else_branch)->nodes[*in_else];
  if (one.attributes != other.attributes) return std::nullopt;
  int64_t operators = 0;
  for (const std::string& callee : graph::functions_run_by(one)) operators += operators_of(callee);
  return operators < kLeastShared ? std::nullopt : std::optional(CommonIf{*in_then, *in_else});
}

// Both branches leave the operands of what is common in the same buffers, and find its results so.
void Schedule::lower_if_around(Body& body, const graph::Node& node, const CommonIf& common,
                               const std::vector<BufferId>& outputs, BufferId decides) {
  const auto& attrs = node.attrs<graph::IfAttrs>();
  struct Branch {
    Body body;
    size_t at;  // of the common operator
    const std::string& name;
    std::vector<std::pair<graph::TensorId, BufferId>> copies = {};  // of operands

    const graph::Node& common() const { return body.function.nodes[at]; }
    graph::TensorId operand(size_t i) const { return body.source(common().inputs[i]); }
    BufferId& place(graph::TensorId id) { return body.storage[id.at()]; }
  };
  Branch branches[] = {
      {callee_body(body, node, 1, attrs.then_branch), common.in_then, attrs.then_branch},
      {callee_body(body, node, 1, attrs.else_branch), common.in_else, attrs.else_branch}};
  const graph::Node shared = branches[0].common();
  const std::string hint = c_identifier(shared.name, "common");

  // The common operator in a function of its own.
  Body around{{}, {}, {}};
  around.function.name = attrs.then_branch;
  graph::Node inner = shared;
  const auto add = [&](const graph::Tensor& tensor, BufferId buffer) {
    around.function.tensors.push_back(tensor);
    around.reshaped_from.emplace_back();
    around.storage.push_back(buffer);
    return graph::TensorId{static_cast<int32_t>(around.storage.size()) - 1};
  };
  for (Branch& branch : branches) offer_outputs(branch.body, outputs);
  for (size_t i = 0; i < shared.inputs.size(); ++i) {
    graph::Tensor tensor = branches[0].body.function.tensor(branches[0].operand(i));
    const graph::Tensor& other = branches[1].body.function.tensor(branches[1].operand(i));
    if (tensor.constant.valid() && tensor.constant == other.constant) {
      inner.inputs[i] = add(tensor, {});
      continue;
    }
    const BufferId one = branches[0].place(branches[0].operand(i));
    if (one.valid() && one == branches[1].place(branches[1].operand(i))) {
      inner.inputs[i] = add(tensor, one);
      continue;
    }
    tensor.constant = {}, tensor.initial = {}, tensor.variable = false;
    const BufferId joined = fresh(tensor, hint + "_in");
    for (Branch& branch : branches) {
      const graph::TensorId id = branch.operand(i);
      const graph::Tensor& own = branch.body.function.tensor(id);
      if (!own.constant.valid() && !own.variable && !branch.place(id).valid())
        branch.place(id) = joined;
      else
        branch.copies.emplace_back(branch.common().inputs[i], joined);
    }
    inner.inputs[i] = add(tensor, joined);
  }
  for (size_t i = 0; i < shared.outputs.size(); ++i) {
    const graph::Tensor& tensor = branches[0].body.function.tensor(shared.outputs[i]);
    BufferId joined = branches[0].place(shared.outputs[i]);
    if (!joined.valid() || joined != branches[1].place(branches[1].common().outputs[i]))
      joined = fresh(tensor, hint + "_out");
    for (Branch& branch : branches) branch.place(branch.common().outputs[i]) = joined;
    inner.outputs[i] = add(tensor, joined);
  }

  const auto in_branches = [&](const auto& lower_part) {
    const Stmt parts[] = {apart([&] { lower_part(branches[0]); }),
                          apart([&] { lower_part(branches[1]); })};
    const auto is_empty = [](const Stmt& stmt) {
      const auto* sequence = std::get_if<tir::Seq>(&stmt->node);
      return sequence != nullptr && sequence->statements.empty();
    };
    if (is_empty(parts[0]) && is_empty(parts[1])) return;
    calls_.push_back(tir::with_comment(node.name, tir::if_then(flag(decides), parts[0], parts[1])));
  };
  in_branches([&](Branch& branch) {
    for (size_t n = 0; n < branch.at; ++n) lower_node(branch.body, branch.body.function.nodes[n]);
    for (const auto& [from, to] : branch.copies)
      add_copy(branch.body, from, to, branch.name + "_operand");
  });
  lower_if(around, inner);
  in_branches([&](Branch& branch) {
    const std::vector<graph::Node>& nodes = branch.body.function.nodes;
    for (size_t n = branch.at + 1; n < nodes.size(); ++n) lower_node(branch.body, nodes[n]);
    finish_outputs(branch.body, outputs, branch.name);
  });
}

// The values that the loop changes live in its outputs; the body computes the next ones beside them.
// A value that the body hands on as it came is read where the caller has it.
void Schedule::lower_while(Body& body, const graph::Node& node) {
  const std::string name = c_identifier(node.name, "loop");
  const auto& attrs = node.attrs<graph::WhileAttrs>();
  const std::optional<graph::LoopBound> bound = graph::loop_bound(graph_, body.function, node);
  INTARSIA_CHECK(bound.has_value(), "a verified loop has a bound");
  const Body plain = make_body(*graph_.find(attrs.body));
  const size_t carried = node.inputs.size();
  const auto is_kept = [&](size_t i) {
    return plain.source(plain.function.outputs[i]) == plain.function.inputs[i];
  };

  std::vector<BufferId> values;
  for (size_t i = 0; i < carried; ++i) {
    values.push_back(storage(body, node.outputs[i], name));
    add_copy(body, node.inputs[i], values[i], fmt::format("{}_begin{}", name, i));
  }
  const auto inner_body = [&](const std::string& callee) {
    Body inner = callee_body(body, node, 0, callee);
    for (size_t i = 0; i < carried; ++i) {
      if (is_kept(i)) continue;
      inner.function.tensors[inner.function.inputs[i].at()].constant = {};
      inner.storage[inner.function.inputs[i].at()] = values[i];
    }
    Body made = make_body(inner.function);
    made.storage = inner.storage;
    return made;
  };

  const auto lower_body = [&] {
    Body inner = inner_body(attrs.body);
    lower(inner);
    // What is a value of this iteration goes aside first: its place may be taken by another.
    std::vector<std::pair<graph::TensorId, BufferId>> aside;
    for (size_t i = 0; i < carried; ++i) {
      const graph::TensorId from = inner.source(inner.function.outputs[i]);
      const bool is_value =
          std::find(values.begin(), values.end(), inner.storage[from.at()]) != values.end();
      if (is_kept(i) || !is_value || inner.is_constant(from)) continue;
      const BufferId copy = fresh(inner.function.tensor(from), fmt::format("{}_aside{}", name, i));
      add_copy(inner, from, copy, fmt::format("{}_aside{}", name, i));
      aside.emplace_back(from, copy);
    }
    for (const auto& [tensor, copy] : aside) inner.storage[tensor.at()] = copy;
    for (size_t i = 0; i < carried; ++i)
      if (!is_kept(i))
        add_copy(inner, inner.function.outputs[i], values[i], fmt::format("{}_next{}", name, i));
  };

  const auto loop = [&](const Stmt& iteration) {
    const Stmt all = builder_.loop("iteration", tir::int_imm(0), tir::int_imm(bound->iterations),
                                   [&](const Expr&) { return iteration; });
    calls_.push_back(
        tir::with_comment(fmt::format("{}: {} {} iterations", node.name,
                                      bound->exact ? "exactly" : "at most", bound->iterations),
                          all));
  };
  if (bound->iterations == 0) return;
  if (bound->exact) return loop(apart(lower_body));

  BufferId decides;
  const Stmt condition = apart([&] {
    Body inner = inner_body(attrs.condition);
    decides = fresh(inner.function.tensor(inner.function.outputs[0]), name + "_goes_on");
    offer_outputs(inner, {decides});
    lower(inner);
    finish_outputs(inner, {decides}, attrs.condition);
  });
  calls_.push_back(condition);
  const Stmt iteration = apart([&] {
    lower_body();
    calls_.push_back(condition);
  });
  loop(tir::if_then(flag(decides), iteration));
}

// ---- storage and kernels -------------------------------------------------------------------------

namespace {

// Of the emitted model itself: <model>_init and so on, <model>_input0, <model>_output0_dequantize.
bool is_name_of_the_model(std::string_view name) {
  for (const std::string_view own : {"init", "run", "input", "output", "reset", "package"})
    if (name == own) return true;
  for (const std::string_view tensor : {"input", "output"}) {
    if (!name.starts_with(tensor)) continue;
    std::string_view rest = name.substr(tensor.size());
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    rest.remove_prefix(digits);
    if (digits > 0 && (rest.empty() || rest == "_quantize" || rest == "_dequantize")) return true;
  }
  return false;
}

}  // namespace

std::string Schedule::unique_func_name(const std::string& hint) {
  return func_names_.take(hint, is_name_of_the_model);
}

BufferId Schedule::fresh(const graph::Tensor& tensor, const std::string& name) {
  return builder_.local(name, tensor.type, tensor.shape, kAlignment);
}

BufferId Schedule::storage(Body& body, graph::TensorId tensor, const std::string& kernel) {
  const graph::TensorId start = body.source(tensor);
  BufferId& buffer = body.storage[start.at()];
  if (buffer.valid()) return buffer;
  const graph::Tensor& value = body.function.tensor(start);
  if (!value.variable) return buffer = fresh(value, kernel + "_out");
  BufferId& state = states_[{body.function.name, start.index}];
  if (!state.valid()) {
    state = fresh(value, kernel + "_state");
    tir::Buffer& made = builder_.func().buffers[state.at()];
    made.initial = value.quantization.present() ? value.quantization.zero_point[0] : 0;
    if (value.initial.valid())
      made.initial_values =
          pool_.add({kernel + "_initial", value.type, value.shape,
                     graph_.constant(value.initial).bytes, tir::ConstantUse::Weights});
  }
  return buffer = state;
}

void Schedule::add_kernel(Body& body, const graph::Node& node, const LowerKernel& lower) {
  if (depth_ > 0 && (++inner_kernels_, too_many())) return;
  const std::string name = unique_func_name(c_identifier(node.name, "f"));
  const OpView view{graph_, body.function, node};
  OpLowering op(view, name, pool_);
  Stmt statement = lower(op);
  tir::Func kernel = op.b.finish(std::move(statement));
  kernel.origin = fmt::format("{}: {}", node.name, view.signature());
  kernel.node = node.name;
  kernel.macs = graph::mac_count(body.function, node);
  module_.funcs.push_back(std::move(kernel));

  std::vector<BufferId> arguments;
  for (const graph::TensorId id : op.parameters()) arguments.push_back(storage(body, id, name));
  calls_.push_back(tir::call_func(name, std::move(arguments)));
}

void Schedule::add_copy(Body& body, graph::TensorId from, BufferId to, const std::string& hint) {
  if (depth_ > 0 && (++inner_kernels_, too_many())) return;
  // The copy is an operator without attributes that reads the chain's start and makes a tensor of its own.
  const graph::TensorId start = body.source(from);
  graph::Function alone;
  alone.tensors = {body.function.tensor(start), body.function.tensor(from)};
  graph::Node copy;
  copy.kind = graph::OpKind::Reshape;
  copy.name = hint;
  copy.inputs = {graph::TensorId{0}};
  copy.outputs = {graph::TensorId{1}};
  const std::string name = unique_func_name(c_identifier(copy.name, "f"));
  const OpView view{graph_, alone, copy};
  OpLowering op(view, name, pool_);
  Stmt statement = lower_copy(op);
  tir::Func kernel = op.b.finish(std::move(statement));
  kernel.origin =
      fmt::format("{}: copy of {}", copy.name, operators::describe(body.function.tensor(start)));
  module_.funcs.push_back(std::move(kernel));
  std::vector<BufferId> arguments;
  // A constant is read by the kernel itself.
  if (!body.function.tensor(start).constant.valid())
    arguments.push_back(storage(body, start, name));
  arguments.push_back(to);
  calls_.push_back(tir::call_func(name, std::move(arguments)));
}

void Schedule::add_tiles(Body& body, const row_tiling::Option& part) {
  const graph::Function& function = body.function;
  const auto chain = make_row_chain(graph_, function, static_cast<size_t>(part.first),
                                    static_cast<size_t>(part.last));
  INTARSIA_CHECK(chain.has_value(), "only chains of rows are cut into tiles");
  const auto tiles = row_tiling::make_tiles(chain->chain, part.step);
  INTARSIA_CHECK(tiles.has_value(), "the tiles were made before to be chosen");
  const std::string first = c_identifier(chain->nodes.front()->name, "f");
  TiledFunctions made = lower_tiles(
      graph_, function, *chain, *tiles, kernel_of_, pool_,
      {first + "_tiles", [&](const std::string& hint) { return unique_func_name(hint); }});
  for (tir::Func& kernel : made.kernels) module_.funcs.push_back(std::move(kernel));
  std::vector<BufferId> arguments;
  for (const int input : chain->inputs)
    arguments.push_back(storage(body, chain->tensors[static_cast<size_t>(input)], first));
  const int output = chain->chain.output();
  arguments.push_back(storage(body, chain->tensors[static_cast<size_t>(output)],
                              c_identifier(chain->nodes.back()->name, "f")));
  calls_.push_back(tir::call_func(made.tiled.name, std::move(arguments)));
  module_.funcs.push_back(std::move(made.tiled));
}

}  // namespace intarsia::standard_lowering
