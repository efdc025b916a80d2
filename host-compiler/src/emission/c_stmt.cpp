#include "intarsia/plugin/c_stmt.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/tir_walk.h"
#include "tir/identifiers.h"

namespace intarsia::emission {

using tir::BinaryOp;

namespace {

// Cheap to evaluate before each iteration, and the same every time.
bool is_plain_bound(const tir::Expr& expr) {
  bool plain = true;
  tir::walk(expr, [&](const tir::ExprNode& e) {
    const auto* binary = std::get_if<tir::Binary>(&e.node);
    const bool sum =
        binary != nullptr &&
        (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub || binary->op == BinaryOp::Mul);
    plain &= sum || std::holds_alternative<tir::IntImm>(e.node) ||
             std::holds_alternative<tir::VarRef>(e.node);
  });
  return plain;
}

}  // namespace

std::string FreshNames::make(const std::string& wanted) {
  return taken_.take(wanted, tir::is_reserved_in_c);
}

void StmtEmitter::emit(const tir::Stmt& stmt) {
  if (!stmt->comment.empty()) out_.comment({stmt->comment});
  std::visit([&](const auto& node) { emit(*stmt, node); }, stmt->node);
}

void StmtEmitter::emit(const tir::StmtNode&, const tir::Seq& node) {
  for (const tir::Stmt& inner : node.statements) emit(inner);
}

void StmtEmitter::emit(const tir::StmtNode&, const tir::For& node) {
  const std::string& var = names_.vars[node.var.at()];
  std::string end = expr_.value(node.hi);
  if (!is_plain_bound(node.hi)) {
    const std::string name = fresh_.make(var + "_end");
    out_.line(fmt::format("const int32_t {} = {};", name, end));
    end = name;
  }
  out_.open(fmt::format("for (int32_t {} = {}; {} < {}; ++{})", var, expr_.value(node.lo), var, end,
                        var));
  emit(node.body);
  out_.close();
}

void StmtEmitter::emit(const tir::StmtNode&, const tir::If& node) {
  out_.open(fmt::format("if ({})", expr_.condition(node.condition)));
  emit(node.then_body);
  tir::Stmt rest = node.else_body;
  while (rest != nullptr) {
    const auto* chained = std::get_if<tir::If>(&rest->node);
    if (chained == nullptr || !rest->comment.empty()) {
      out_.reopen("else");
      emit(rest);
      break;
    }
    out_.reopen(fmt::format("else if ({})", expr_.condition(chained->condition)));
    emit(chained->then_body);
    rest = chained->else_body;
  }
  out_.close();
}

void StmtEmitter::emit(const tir::StmtNode&, const tir::Let& node) {
  out_.line(fmt::format("const {} {} = {};", c_name(func_.var(node.var).type),
                        names_.vars[node.var.at()], expr_.value(node.value)));
  emit(node.body);
}

bool StmtEmitter::emit_compound(const tir::Store& node, const std::string& element) {
  const auto* sum = std::get_if<tir::Binary>(&node.value->node);
  if (sum == nullptr || (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub)) return false;
  const DataType type = node.value->type;
  // C computes narrow types in int, and gcc sees changes of sign in `u += (uint32_t)(...)`.
  if (type == DataType::UInt32 || (type != DataType::Float32 && bits(type) < 32)) return false;
  const auto* old = std::get_if<tir::Load>(&sum->lhs->node);
  if (old == nullptr || old->buffer != node.buffer || !tir::equal(old->indices, node.indices))
    return false;
  out_.line(fmt::format("{} {} {};", element,
                        sum->op == BinaryOp::Add ? "+=" : "-=", expr_.value(sum->rhs)));
  return true;
}

void StmtEmitter::emit(const tir::StmtNode& at, const tir::Store& node) {
  const RegisterDeclaration& declaration = registers_[node.buffer.at()];
  const std::string element = expr_.element(node.buffer, node.indices);
  if (declaration.first_store == &at) {
    out_.line(fmt::format("{}{} {} = {};", declaration.stores == 1 ? "const " : "",
                          c_name(func_.buffer(node.buffer).type), element,
                          expr_.value(node.value)));
    if (!declaration.loaded) out_.line(fmt::format("(void){};", element));
  } else if (!emit_compound(node, element)) {
    out_.line(fmt::format("{} = {};", element, expr_.value(node.value)));
  }
}

// Of a tiled function.
void StmtEmitter::emit(const tir::StmtNode&, const tir::Call& node) {
  std::string arguments;
  for (size_t i = 0; i < node.arguments.size(); ++i)
    arguments += (i == 0 ? "" : ", ") + (node.offsets.empty()
                                             ? names_.buffers[node.arguments[i].at()]
                                             : expr_.address(node.arguments[i], node.offsets[i]));
  out_.line(fmt::format("{}{}({});", options_.symbol_prefix, node.function, arguments));
}

std::string StmtEmitter::constant_struct(const tir::Intrinsic& node,
                                         const ConstantStruct& declared) {
  constexpr size_t kFieldsPerLine = 6;
  const std::string name = fresh_.make(declared.name);
  // Numbers that are loaded are known when the function is called, not before.
  const bool known = std::ranges::none_of(node.operands, [](const auto& operand) {
    const auto* number = std::get_if<tir::Expr>(&operand);
    return number != nullptr && !std::holds_alternative<tir::IntImm>((*number)->node) &&
           !std::holds_alternative<tir::FloatImm>((*number)->node);
  });
  out_.open(fmt::format("{}const {} {} =", known ? "static " : "", declared.type, name));
  std::string line;
  size_t field = 0;
  for (const auto& operand : node.operands) {
    const auto* number = std::get_if<tir::Expr>(&operand);
    if (number == nullptr) continue;
    INTARSIA_CHECK(field < declared.fields.size(),
                   "a kernel's numbers are the fields of its struct");
    line += fmt::format("{}.{} = {},", line.empty() ? "" : " ", declared.fields[field],
                        expr_.value(*number));
    if (++field % kFieldsPerLine == 0) out_.line(std::exchange(line, {}));
  }
  INTARSIA_CHECK(field == declared.fields.size(),
                 "a kernel's numbers are the fields of its struct");
  if (!line.empty()) out_.line(line);
  out_.close(";");
  return "&" + name;
}

void StmtEmitter::emit(const tir::StmtNode&, const tir::Intrinsic& node) {
  std::string arguments;
  const auto declared = options_.structs.find(node.name);
  if (declared != options_.structs.end()) arguments = constant_struct(node, declared->second);
  for (const auto& operand : node.operands) {
    if (declared != options_.structs.end() && std::holds_alternative<tir::Expr>(operand)) continue;
    if (!arguments.empty()) arguments += ", ";
    const auto* run = std::get_if<tir::BufferRun>(&operand);
    arguments += run != nullptr ? expr_.address(*run) : expr_.value(std::get<tir::Expr>(operand));
  }
  out_.line(fmt::format("{}({});", node.name, arguments));
}

}  // namespace intarsia::emission
