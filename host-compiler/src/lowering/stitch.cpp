#include "lowering/stitch.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_walk.h"
#include "lowering/aliases.h"
#include "support/c_identifier.h"

namespace intarsia::lowering {
namespace {

using tir::Buffer;
using tir::BufferId;
using tir::Func;

// Calls of a schedule in order; empty for a kernel.
std::vector<tir::Call> calls_of(const Func& func) {
  std::vector<tir::Call> calls;
  tir::for_each_statement(func.body, [&](const tir::Stmt& stmt) {
    if (const auto* call = std::get_if<tir::Call>(&stmt->node)) calls.push_back(*call);
  });
  return calls;
}

// Turns Local buffers of a kernel into parameters after its own. Returns what the caller must provide;
// aliases among it name the kernel's parameters, the new ones included.
std::vector<Buffer> lift_scratch(Func& kernel) {
  std::vector<Buffer> scratch, rest;
  std::vector<BufferId> moved(kernel.buffers.size());
  const size_t parameters = kernel.parameters.size();
  for (size_t i = parameters; i < kernel.buffers.size(); ++i)
    if (kernel.buffers[i].scope == tir::Scope::Local) scratch.push_back(kernel.buffers[i]);
  if (scratch.empty()) return {};

  size_t next_scratch = parameters, next_rest = parameters + scratch.size();
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    const bool is_scratch = i >= parameters && kernel.buffers[i].scope == tir::Scope::Local;
    moved[i].index = static_cast<int32_t>(i < parameters ? i
                                          : is_scratch   ? next_scratch++
                                                         : next_rest++);
    if (i >= parameters && !is_scratch) rest.push_back(kernel.buffers[i]);
  }
  kernel.buffers.resize(parameters);
  for (Buffer& buffer : scratch) {
    if (buffer.alias.valid()) buffer.alias = moved[buffer.alias.at()];
    Buffer parameter{buffer.name, buffer.type, buffer.extents,  tir::Scope::Parameter,
                     {},          {},          buffer.alignment};
    kernel.buffers.push_back(std::move(parameter));
    kernel.parameters.push_back({tir::Access::ReadWrite});
  }
  kernel.buffers.insert(kernel.buffers.end(), rest.begin(), rest.end());
  kernel.body = tir::rename_buffers(kernel.body, moved);
  return scratch;
}

class Stitcher {
 public:
  Stitcher(const graph::Module& module, Merger& merger)
      : module_(module), entry_(module.entry_function()), merger_(merger) {}

  Result<Func> stitch(const std::vector<std::string>& lowered) {
    schedule_.name = merger_.unique(entry_.name);
    declare_parameters();
    for (size_t n = 0; n < entry_.nodes.size(); ++n) {
      const graph::Node& node = entry_.nodes[n];
      std::vector<BufferId> arguments;
      for (const graph::TensorId id : node.inputs) arguments.push_back(buffer_of(id));
      for (const graph::TensorId id : node.outputs) arguments.push_back(buffer_of(id));
      append_call(lowered[n], arguments);
    }
    schedule_.body = tir::seq(std::move(body_));
    if (!loops_.empty()) schedule_.vars = loops_;
    INTARSIA_TRY_VOID(fulfil_aliases(schedule_, requests_));
    return std::move(schedule_);
  }

  const std::set<std::string>& inlined() const { return inlined_; }

 private:
  void declare_parameters() {
    for (size_t i = 0; i < entry_.inputs.size(); ++i)
      declare_parameter(entry_.inputs[i], fmt::format("input{}", i), tir::Access::Read);
    for (size_t i = 0; i < entry_.outputs.size(); ++i)
      declare_parameter(entry_.outputs[i], fmt::format("output{}", i), tir::Access::Write);
  }

  void declare_parameter(graph::TensorId id, const std::string& name, tir::Access access) {
    const graph::Tensor& tensor = entry_.tensor(id);
    buffers_[id.index] = add({name, tensor.type, tensor.shape, tir::Scope::Parameter, {}, {}, 16});
    schedule_.parameters.push_back({access});
  }

  BufferId add(Buffer buffer) {
    buffer.name = names_.take(buffer.name);
    schedule_.buffers.push_back(std::move(buffer));
    return BufferId{static_cast<int32_t>(schedule_.buffers.size() - 1)};
  }

  // Tensors between regions become buffers when first mentioned.
  BufferId buffer_of(graph::TensorId id) {
    const auto [place, fresh] = buffers_.try_emplace(id.index, BufferId{});
    if (fresh) {
      const graph::Tensor& tensor = entry_.tensor(id);
      place->second = add({fmt::format("between{}", between_++),
                           tensor.type,
                           tensor.shape,
                           tir::Scope::Local,
                           {},
                           {},
                           16});
      // State that several regions share.
      if (tensor.variable) {
        tir::Buffer& buffer = schedule_.buffers.back();
        buffer.name = fmt::format("state{}", place->second.index);
        buffer.initial = tensor.quantization.present() ? tensor.quantization.zero_point[0] : 0;
        if (tensor.initial.valid())
          buffer.initial_values = merger_.add_constant(initial_values(tensor));
      }
    }
    return place->second;
  }

  tir::Constant initial_values(const graph::Tensor& tensor) const {
    return {c_identifier(tensor.name, "state") + "_initial", tensor.type, tensor.shape,
            module_.constant(tensor.initial).bytes};
  }

  void append_call(const std::string& function, const std::vector<BufferId>& arguments) {
    const size_t index = index_of(function);
    const Func& lowered = merger_.module().funcs[index];
    if (lowered.tiled || calls_of(lowered).empty()) {
      append_kernel(index, arguments);
      return;
    }
    inlined_.insert(function);
    const Func callee = merger_.module().funcs[index];  // a copy: kernels may be changed below
    std::vector<BufferId> bound = arguments;
    bind({callee.buffers.begin() + static_cast<ptrdiff_t>(arguments.size()), callee.buffers.end()},
         bound);
    for (size_t i = 0; i < arguments.size(); ++i)
      if (const Buffer& parameter = callee.buffers[i]; parameter.alias.valid())
        requests_.push_back({bound[i], bound[parameter.alias.at()], parameter.alias_offset});
    append_statement(callee.body, bound);
  }

  // A statement of a schedule whose buffers are now `bound`.
  void append_statement(const tir::Stmt& stmt, const std::vector<BufferId>& bound) {
    if (const auto* call = std::get_if<tir::Call>(&stmt->node)) {
      std::vector<BufferId> arguments;
      for (const BufferId id : call->arguments) arguments.push_back(bound[id.at()]);
      append_call(call->function, arguments);
    } else if (const auto* sequence = std::get_if<tir::Seq>(&stmt->node)) {
      for (const tir::Stmt& inner : sequence->statements) append_statement(inner, bound);
    } else if (const auto* branch = std::get_if<tir::If>(&stmt->node)) {
      const tir::Stmt then_body = appended_apart(branch->then_body, bound);
      const tir::Stmt else_body =
          branch->else_body == nullptr ? nullptr : appended_apart(branch->else_body, bound);
      const auto& flag = std::get<tir::Load>(branch->condition->node);
      const auto condition = std::make_shared<tir::ExprNode>(
          tir::ExprNode{branch->condition->type, tir::Load{bound[flag.buffer.at()], flag.indices}});
      body_.push_back(tir::if_then(condition, then_body, else_body));
    } else if (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
      const tir::VarId var{static_cast<int32_t>(loops_.size())};
      loops_.push_back({fmt::format("iteration{}", loops_.size())});
      const tir::Stmt inner = appended_apart(loop->body, bound);
      body_.push_back(std::make_shared<tir::StmtNode>(
          tir::StmtNode{tir::For{var, loop->lo, loop->hi, inner}, {}}));
    }
  }

  tir::Stmt appended_apart(const tir::Stmt& stmt, const std::vector<BufferId>& bound) {
    std::vector<tir::Stmt> outside = std::exchange(body_, {});
    append_statement(stmt, bound);
    return tir::seq(std::exchange(body_, std::move(outside)));
  }

  void append_kernel(size_t index, std::vector<BufferId> arguments) {
    Func& kernel = merger_.module().funcs[index];
    if (kernel.tiled && !scratch_.contains(kernel.name)) share_scratch(kernel);
    std::vector<Buffer> buffers = scratch_of(kernel);
    for (Buffer& buffer : buffers) buffer.name = kernel.name + "_" + buffer.name;
    bind(std::move(buffers), arguments);
    keep_alignments(kernel, arguments);
    body_.push_back(tir::call_func(kernel.name, std::move(arguments)));
  }

  // A buffer is aligned as all who are handed it ask for.
  void keep_alignments(const Func& kernel, const std::vector<BufferId>& arguments) {
    for (size_t i = 0; i < arguments.size() && i < kernel.parameters.size(); ++i) {
      Buffer& buffer = schedule_.buffers[arguments[i].at()];
      if (buffer.scope != tir::Scope::Constant)
        buffer.alignment = std::max(buffer.alignment, kernel.buffers[i].alignment);
    }
  }

  // What the kernel has as scratch, which becomes parameters of it.
  const std::vector<Buffer>& scratch_of(Func& kernel) {
    auto [scratch, fresh] = scratch_.try_emplace(kernel.name);
    if (fresh) scratch->second = lift_scratch(kernel);
    return scratch->second;
  }

  // The kernels of a tiled function run one after another and share their scratch: the n-th buffer of a
  // type of all of them is one buffer of the tiled function.
  void share_scratch(Func& tiled) {
    std::map<std::pair<DataType, int>, BufferId> shared;
    tiled.body = tir::rewrite_statements(tiled.body, [&](const tir::Stmt& stmt) -> tir::Stmt {
      const auto* call = std::get_if<tir::Call>(&stmt->node);
      if (call == nullptr) return stmt;
      tir::Call with_scratch = *call;
      std::map<DataType, int> count;
      for (const Buffer& scratch : scratch_of(merger_.module().funcs[index_of(call->function)])) {
        const auto [place, fresh] = shared.try_emplace({scratch.type, count[scratch.type]++});
        if (fresh) {
          place->second = {static_cast<int32_t>(tiled.buffers.size())};
          tiled.buffers.push_back(scratch);
          tiled.buffers.back().name = unique_in(tiled, scratch.name);
          tiled.buffers.back().extents = {element_count(scratch.extents)};
        }
        Buffer& whole = tiled.buffers[place->second.at()];
        whole.extents = {std::max(element_count(whole.extents), element_count(scratch.extents))};
        whole.alignment = std::max(whole.alignment, scratch.alignment);
        with_scratch.arguments.push_back(place->second);
        if (!with_scratch.offsets.empty()) with_scratch.offsets.push_back(tir::int_imm(0));
      }
      return std::make_shared<tir::StmtNode>(tir::StmtNode{std::move(with_scratch), stmt->comment});
    });
  }

  static std::string unique_in(const Func& func, const std::string& hint) {
    const auto taken = [&](const std::string& name) {
      return std::any_of(func.buffers.begin(), func.buffers.end(),
                         [&](const Buffer& b) { return b.name == name; }) ||
             std::any_of(func.vars.begin(), func.vars.end(),
                         [&](const tir::Var& v) { return v.name == name; });
    };
    std::string name = hint;
    for (int i = 2; taken(name); ++i) name = hint + "_" + std::to_string(i);
    return name;
  }

  // Adds a callee's buffers behind what is bound already. Their aliases are numbers in that list.
  void bind(std::vector<Buffer> buffers, std::vector<BufferId>& bound) {
    const size_t first = bound.size();
    for (const Buffer& buffer : buffers) {
      bound.push_back(add(buffer));
      schedule_.buffers.back().alias = {};
    }
    for (size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].alias.valid())
        schedule_.buffers[bound[first + i].at()].alias = bound[buffers[i].alias.at()];
  }

  size_t index_of(const std::string& function) const { return merger_.index_of(function); }

  const graph::Module& module_;
  const graph::Function& entry_;
  Merger& merger_;
  Func schedule_;
  std::vector<tir::Stmt> body_;
  std::vector<tir::Var> loops_;
  std::vector<AliasRequest> requests_;
  std::map<int32_t, BufferId> buffers_;
  std::map<std::string, std::vector<Buffer>> scratch_;
  UniqueNames names_;
  std::set<std::string> inlined_;
  int between_ = 0;
};

}  // namespace

Result<void> stitch(const graph::Module& graph, const std::vector<std::string>& lowered,
                    Merger& merger) {
  Stitcher stitcher(graph, merger);
  INTARSIA_TRY(Func schedule, stitcher.stitch(lowered));
  tir::Module& module = merger.module();
  std::erase_if(module.funcs,
                [&](const Func& func) { return stitcher.inlined().contains(func.name); });
  module.entry = schedule.name;
  module.funcs.push_back(std::move(schedule));
  return {};
}

}  // namespace intarsia::lowering
