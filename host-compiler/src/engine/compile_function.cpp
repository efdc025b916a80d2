#include "engine/compile_function.h"

#include <fmt/format.h>

#include "engine/lane_loops.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/overloaded.h"
#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_simplify.h"

namespace intarsia::engine {
namespace {

using tir::Expr;
using tir::Stmt;

constexpr int32_t kInMemory = -1;

class Compiler {
 public:
  Compiler(const tir::Module& module, const tir::Func& func, FunctionTable& table,
           const FindKernel& find_kernel)
      : module_(module),
        func_(func),
        table_(table),
        find_kernel_(find_kernel),
        body_(tir::simplify(func.body)),
        lane_loops_(choose_lane_loops(func, body_)),
        plain_(func.buffers.size(), kInMemory) {}

  Result<FunctionCode> run() {
    FunctionCode code;
    code.name = func_.name;
    code.buffers = static_cast<int32_t>(func_.buffers.size());
    code.parameters = static_cast<int32_t>(func_.parameters.size());
    code.slots = static_cast<int32_t>(func_.vars.size());
    for (size_t i = 0; i < func_.buffers.size(); ++i) {
      const tir::Buffer& buffer = func_.buffers[i];
      const auto id = static_cast<int32_t>(i);
      if (buffer.scope == tir::Scope::Register && is_plain_register(func_, body_, {id}))
        plain_[i] = code.slots++;
      else if (buffer.scope == tir::Scope::Constant)
        code.constants.push_back({id, module_.constant(buffer.constant).bytes.data()});
      else if (buffer.scope != tir::Scope::Parameter)
        code.own.push_back({id, buffer.bytes()});
    }
    code.body = compile(body_);
    if (!problem_.empty()) return Diagnostics(fmt::format("'{}'", shown_name()), problem_);
    return code;
  }

 private:
  std::string shown_name() const { return func_.node.empty() ? func_.name : func_.node; }
  void fail(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }
  bool is_plain(tir::BufferId id) const { return plain_[id.at()] != kInMemory; }

  // ---- expressions ------------------------------------------------------------------------------

  ExprCode element_number(tir::BufferId id, const std::vector<Expr>& indices) {
    const Shape& extents = func_.buffer(id).extents;
    Expr flat = tir::int_imm(0);
    for (size_t d = 0; d < indices.size(); ++d) flat = flat * extents[d] + indices[d];
    return compile(flat);
  }

  ExprCode compile(const Expr& expr) {
    ExprCode code =
        std::visit([&](const auto& node) { return compile(node, expr->type); }, expr->node);
    code.type = expr->type;
    if (in_lanes_) code.course = course_of(func_, scope_, expr);
    return code;
  }

  ExprCode compile(const tir::IntImm& node, DataType) {
    return {.kind = ExprCode::Kind::Number, .number = of_int(node.value)};
  }
  ExprCode compile(const tir::FloatImm& node, DataType) {
    return {.kind = ExprCode::Kind::Number, .number = of_float(node.value)};
  }
  ExprCode compile(const tir::VarRef& node, DataType) {
    return {.kind = ExprCode::Kind::Slot, .slot = node.var.index};
  }
  ExprCode compile(const tir::Load& node, DataType type) {
    if (is_plain(node.buffer))
      return {.kind = ExprCode::Kind::Slot, .slot = plain_[node.buffer.at()]};
    if (type == DataType::Int4) fail("reads single elements of a packed tensor");
    return {.kind = ExprCode::Kind::Load,
            .slot = node.buffer.index,
            .operands = {element_number(node.buffer, node.indices)}};
  }
  ExprCode compile(const tir::Unary& node, DataType type) {
    return {.kind = node.op == tir::UnaryOp::Not ? ExprCode::Kind::Not : ExprCode::Kind::Negate,
            .operand_type = type,
            .operands = {compile(node.operand)}};
  }
  ExprCode compile(const tir::Binary& node, DataType) {
    return {.kind = ExprCode::Kind::Binary,
            .op = node.op,
            .operand_type = node.lhs->type,
            .operands = {compile(node.lhs), compile(node.rhs)}};
  }
  ExprCode compile(const tir::Cast& node, DataType) {
    return {.kind = ExprCode::Kind::Cast,
            .operand_type = node.operand->type,
            .operands = {compile(node.operand)}};
  }
  ExprCode compile(const tir::Select& node, DataType) {
    return {.kind = ExprCode::Kind::Select,
            .operands = {compile(node.condition), compile(node.if_true), compile(node.if_false)}};
  }
  ExprCode compile(const tir::ExprCall& node, DataType type) {
    const ScalarFunction* function = find_scalar_function(node.function);
    if (function == nullptr || function->arguments != node.arguments.size() ||
        held(function->result) != held(type)) {
      fail(fmt::format("calls {}, which only a program built from C has", node.function));
      return {};
    }
    ExprCode code{.kind = ExprCode::Kind::Call, .function = function};
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      // Converted as C does where a function is called.
      const DataType wanted = function->parameters[i];
      const bool same = held(wanted) == held(node.arguments[i]->type);
      code.operands.push_back(
          compile(same ? node.arguments[i] : tir::cast(wanted, node.arguments[i])));
    }
    return code;
  }

  // ---- statements -------------------------------------------------------------------------------

  StmtCode compile(const Stmt& stmt) {
    return std::visit([&](const auto& node) { return compile(node, *stmt); }, stmt->node);
  }

  StmtCode compile(const tir::Seq& node, const tir::StmtNode&) {
    StmtCode code;
    for (const Stmt& inner : node.statements) code.inner.push_back(compile(inner));
    return code;
  }
  StmtCode compile(const tir::For& node, const tir::StmtNode& stmt) {
    StmtCode code{.kind = StmtCode::Kind::Loop,
                  .slot = node.var.index,
                  .exprs = {compile(node.lo), compile(node.hi)}};
    const auto chosen = lane_loops_.find(&stmt);
    if (chosen == lane_loops_.end()) {
      code.inner.push_back(compile(node.body));
      return code;
    }
    code.kind = StmtCode::Kind::LaneLoop;
    in_lanes_ = &chosen->second;
    scope_ = {};
    scope_.variables[node.var] = Course::linear(1);
    scope_.registers = chosen->second.own_registers;
    code.inner.push_back(compile(node.body));
    in_lanes_ = nullptr;
    return code;
  }
  StmtCode compile(const tir::If& node, const tir::StmtNode&) {
    StmtCode code{.kind = StmtCode::Kind::Branch,
                  .exprs = {compile(node.condition)},
                  .inner = {compile(node.then_body)}};
    if (node.else_body != nullptr) code.inner.push_back(compile(node.else_body));
    return code;
  }
  StmtCode compile(const tir::Let& node, const tir::StmtNode&) {
    StmtCode value{.kind = StmtCode::Kind::Assign,
                   .type = node.value->type,
                   .slot = node.var.index,
                   .exprs = {compile(node.value)}};
    if (in_lanes_) {
      const Course course = course_of(func_, scope_, node.value);
      scope_.variables[node.var] = course;
      value.by_lane = course.kind == Course::Kind::Free;
    }
    StmtCode code;
    code.inner.push_back(std::move(value));
    code.inner.push_back(compile(node.body));
    return code;
  }
  StmtCode compile(const tir::Store& node, const tir::StmtNode& stmt) {
    const DataType type = func_.buffer(node.buffer).type;
    if (in_lanes_ && in_lanes_->reductions.contains(&stmt)) {
      const std::optional<Reduction> reduction = reduction_of(node);
      INTARSIA_CHECK(reduction.has_value(), "it was chosen for being one");
      return {.kind = StmtCode::Kind::Reduce,
              .op = reduction->op,
              .type = type,
              .slot = plain_[node.buffer.at()],
              .exprs = {compile(reduction->added)}};
    }
    if (is_plain(node.buffer)) {
      return {.kind = StmtCode::Kind::Assign,
              .type = type,
              .slot = plain_[node.buffer.at()],
              .by_lane = in_lanes_ != nullptr,
              .exprs = {compile(node.value)}};
    }
    if (type == DataType::Int4) fail("writes single elements of a packed tensor");
    return {.kind = StmtCode::Kind::Store,
            .type = type,
            .slot = node.buffer.index,
            .exprs = {element_number(node.buffer, node.indices), compile(node.value)}};
  }
  StmtCode compile(const tir::Call& node, const tir::StmtNode&) {
    Result<const FunctionCode*> callee = table_.compiled(node.function);
    if (!callee.ok()) {
      fail(callee.error().items().front().to_string());
      return {};
    }
    StmtCode code{.kind = StmtCode::Kind::Function, .function = *callee};
    for (size_t i = 0; i < node.arguments.size(); ++i)
      code.addresses.push_back(
          {node.arguments[i].index,
           node.offsets.empty() ? compile(tir::int_imm(0)) : compile(node.offsets[i]),
           bits(func_.buffer(node.arguments[i]).type)});
    return code;
  }
  StmtCode compile(const tir::Intrinsic& node, const tir::StmtNode&) {
    StmtCode code{.kind = StmtCode::Kind::Kernel};
    for (const auto& operand : node.operands) {
      if (const auto* run = std::get_if<tir::BufferRun>(&operand))
        code.addresses.push_back({run->buffer.index, element_number(run->buffer, run->start),
                                  bits(func_.buffer(run->buffer).type)});
      else
        code.exprs.push_back(compile(std::get<Expr>(operand)));
    }
    const KernelFunction* kernel = find_library_kernel(node.name);
    if (kernel == nullptr) kernel = find_kernel_(node.name);
    if (kernel == nullptr || kernel->addresses != code.addresses.size() ||
        kernel->numbers != code.exprs.size()) {
      fail(fmt::format("calls {}, which only a program built from C has", node.name));
      return {};
    }
    code.kernel = *kernel;
    return code;
  }

  const tir::Module& module_;
  const tir::Func& func_;
  FunctionTable& table_;
  const FindKernel& find_kernel_;
  const Stmt body_;
  const std::map<const tir::StmtNode*, LaneLoop> lane_loops_;
  std::vector<int32_t> plain_;  // by buffer: its slot, or kInMemory
  const LaneLoop* in_lanes_ = nullptr;
  LaneScope scope_;
  std::string problem_;
};

}  // namespace

FunctionTable::FunctionTable(const tir::Module& module, FindKernel find_kernel)
    : module_(module), index_(module), find_kernel_(std::move(find_kernel)) {}

Result<const FunctionCode*> FunctionTable::compiled(const std::string& name) {
  if (const auto found = functions_.find(name); found != functions_.end())
    return static_cast<const FunctionCode*>(found->second.get());
  INTARSIA_TRY(FunctionCode code, Compiler(module_, index_.at(name), *this, find_kernel_).run());
  auto kept = std::make_unique<FunctionCode>(std::move(code));
  const FunctionCode* answer = kept.get();
  functions_[name] = std::move(kept);
  return answer;
}

}  // namespace intarsia::engine
