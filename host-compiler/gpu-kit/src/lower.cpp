#include <fmt/format.h>

#include "intarsia/gpu/lower.h"

#include "intarsia/gpu/kernel_text.h"
#include "intarsia/plugin/standard_lowering.h"
#include "intarsia/plugin/tir_build.h"

namespace intarsia::gpu {
namespace {

using tir::Access;
using tir::BufferId;

constexpr int32_t kAlignment = 16;

// Turns the schedule of the portable lowering into one function of launches.
class Lowering {
 public:
  Lowering(const Dialect& dialect, tir::LoweredFunction lowered, const graph::Function& function)
      : dialect_(dialect),
        lowered_(std::move(lowered)),
        schedule_(*lowered_.module.find(lowered_.entry)) {
    func_ = schedule_;
    func_.origin =
        fmt::format("{}: {} operators on {}", function.name, function.nodes.size(), dialect.kind);
    func_.node = function.nodes.at(0).name;
    func_.stepwise = true;
    func_.in_place.clear();
    func_.macs = 0;
    for (tir::Buffer& buffer : func_.buffers)
      buffer.alignment = std::max(buffer.alignment, kAlignment);
  }

  tir::LoweredFunction run() {
    source_ = prelude(dialect_);
    std::vector<tir::Stmt> body;
    for (const tir::Stmt& stmt : calls()) launch(std::get<tir::Call>(stmt->node), body);
    body.insert(body.begin(), source_statement());
    func_.body = tir::seq(std::move(body));
    tir::LoweredFunction result;
    result.entry = func_.name;
    result.module.constants = std::move(lowered_.module.constants);
    for (tir::Constant& constant : result.module.constants) constant.use = tir::ConstantUse::Stream;
    result.module.constants.push_back(std::move(source_constant_));
    result.module.funcs.push_back(std::move(func_));
    return result;
  }

 private:
  std::vector<tir::Stmt> calls() const {
    if (const auto* sequence = std::get_if<tir::Seq>(&schedule_.body->node))
      return sequence->statements;
    return {schedule_.body};
  }

  BufferId add(tir::Buffer buffer, const std::string& owner) {
    buffer.name = fmt::format("{}_{}", owner, buffer.name);
    buffer.alignment = std::max(buffer.alignment, kAlignment);
    func_.buffers.push_back(std::move(buffer));
    return {static_cast<int32_t>(func_.buffers.size()) - 1};
  }

  // The buffers of the called function as buffers of ours.
  std::vector<BufferId> bind(const tir::Func& callee, const tir::Call& call) {
    std::vector<BufferId> bound(callee.buffers.size());
    for (size_t i = 0; i < callee.buffers.size(); ++i) {
      if (i < call.arguments.size())
        bound[i] = call.arguments[i];
      else if (callee.buffers[i].scope != tir::Scope::Register)
        bound[i] = add(callee.buffers[i], callee.name);
    }
    return bound;
  }

  tir::BufferRun whole(BufferId id, Access access) const {
    const Shape& extents = func_.buffer(id).extents;
    return {id, std::vector<tir::Expr>(extents.size(), tir::int_imm(0)), element_count(extents),
            access};
  }

  static Access access_of(const tir::Func& callee, BufferId id) {
    if (id.at() < callee.parameters.size()) return callee.parameters[id.at()].access;
    return callee.buffer(id).scope == tir::Scope::Constant ? Access::Read : Access::ReadWrite;
  }

  void launch(const tir::Call& call, std::vector<tir::Stmt>& body) {
    const tir::Func& callee = *lowered_.module.find(call.function);
    func_.macs += callee.macs;
    const std::vector<BufferId> bound = bind(callee, call);
    for (const Kernel& kernel : kernels_of(dialect_, callee, kernels_)) {
      source_ += "\n" + kernel.text;
      std::vector<std::variant<tir::BufferRun, tir::Expr>> operands;
      for (const BufferId id : kernel.arguments)
        operands.push_back(whole(bound[id.at()], access_of(callee, id)));
      operands.push_back(tir::int_imm(kernels_++));
      for (const int64_t extent : kernel.global) operands.push_back(tir::int_imm(extent));
      body.push_back(tir::with_comment(
          one_line(callee.node), tir::intrinsic(launch_intrinsic(dialect_), std::move(operands))));
    }
  }

  static std::string one_line(std::string name) {
    for (char& c : name)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return name;
  }

  tir::Stmt source_statement() {
    source_constant_.name = func_.name + "_source";
    source_constant_.type = DataType::Int8;
    std::vector<uint8_t> bytes(source_.begin(), source_.end());
    bytes.push_back(0);
    source_constant_.bytes = std::move(bytes);
    source_constant_.extents = {static_cast<int64_t>(source_constant_.bytes.size())};
    source_constant_.use = tir::ConstantUse::Stream;
    tir::Buffer buffer;
    buffer.name = "source";
    buffer.extents = source_constant_.extents;
    buffer.scope = tir::Scope::Constant;
    buffer.constant = {static_cast<int32_t>(lowered_.module.constants.size())};
    func_.buffers.push_back(std::move(buffer));
    const BufferId id{static_cast<int32_t>(func_.buffers.size()) - 1};
    return tir::intrinsic(source_intrinsic(dialect_), {whole(id, Access::Read)});
  }

  const Dialect& dialect_;
  tir::LoweredFunction lowered_;
  const tir::Func& schedule_;
  tir::Func func_;
  tir::Constant source_constant_;
  std::string source_;
  int kernels_ = 0;
};

}  // namespace

std::string source_intrinsic(const Dialect& dialect) {
  return std::string(dialect.kind) + ".source";
}

std::string launch_intrinsic(const Dialect& dialect) {
  return std::string(dialect.kind) + ".launch";
}

Result<tir::LoweredFunction> lower(const Dialect& dialect, const graph::Module& module,
                                   const graph::Function& function) {
  INTARSIA_TRY(tir::LoweredFunction lowered, standard_graph_to_tir(module, function));
  return Lowering(dialect, std::move(lowered), function).run();
}

}  // namespace intarsia::gpu
