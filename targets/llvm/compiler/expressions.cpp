#include <fmt/format.h>

#include "function_ir.h"
#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::targets::llvm {

using tir::BinaryOp;

namespace {

// May be computed although nobody needs the value: it reads no memory, divides by constants at most and calls nothing.
bool is_harmless(const tir::Func& func, const tir::Expr& expr) {
  bool harmless = true;
  tir::walk(expr, [&](const tir::ExprNode& e) {
    if (std::holds_alternative<tir::ExprCall>(e.node)) harmless = false;
    if (const auto* load = std::get_if<tir::Load>(&e.node))
      harmless &= func.buffer(load->buffer).scope == tir::Scope::Register && load->indices.empty();
  });
  return harmless;
}

bool is_float(DataType type) {
  return type == DataType::Float32;
}

// i32 and i64 do not overflow by the rules of the tensor IR; all other types wrap.
const char* no_overflow(DataType type) {
  return type == DataType::Int32 || type == DataType::Int64 ? "nsw " : "";
}

const char* predicate_of(BinaryOp op, DataType type) {
  struct Names {
    const char *real, *with_sign, *without_sign;
  };
  const Names names = [&]() -> Names {
    switch (op) {
      case BinaryOp::Lt:
      case BinaryOp::Min:
        return {"olt", "slt", "ult"};
      case BinaryOp::Le:
        return {"ole", "sle", "ule"};
      case BinaryOp::Gt:
      case BinaryOp::Max:
        return {"ogt", "sgt", "ugt"};
      case BinaryOp::Ge:
        return {"oge", "sge", "uge"};
      case BinaryOp::Eq:
        return {"oeq", "eq", "eq"};
      default:
        return {"une", "ne", "ne"};
    }
  }();
  return is_float(type) ? names.real : is_signed(type) ? names.with_sign : names.without_sign;
}

std::string compare(BinaryOp op, DataType type, const std::string& lhs, const std::string& rhs) {
  return fmt::format("{} {} {} {}, {}", is_float(type) ? "fcmp" : "icmp", predicate_of(op, type),
                     value_type(type), lhs, rhs);
}

bool compares(BinaryOp op) {
  return op >= BinaryOp::Lt;
}

}  // namespace

std::string instruction_of(BinaryOp op, DataType type) {
  const bool real = is_float(type), has_sign = is_signed(type);
  switch (op) {
    case BinaryOp::Add:
      return real ? "fadd" : fmt::format("add {}", no_overflow(type));
    case BinaryOp::Sub:
      return real ? "fsub" : fmt::format("sub {}", no_overflow(type));
    case BinaryOp::Mul:
      return real ? "fmul" : fmt::format("mul {}", no_overflow(type));
    case BinaryOp::Div:
      return real ? "fdiv" : has_sign ? "sdiv" : "udiv";
    case BinaryOp::Mod:
      return real ? "frem" : has_sign ? "srem" : "urem";
    case BinaryOp::And:
      return "and";
    case BinaryOp::Or:
      return "or";
    case BinaryOp::Xor:
      return "xor";
    case BinaryOp::Shl:
      return "shl";
    case BinaryOp::Shr:
      return has_sign ? "ashr" : "lshr";
    default:
      break;
  }
  INTARSIA_CHECK(false, "comparisons, minima and maxima are written elsewhere");
}

std::string FunctionIr::value(const tir::Expr& expr) {
  return std::visit([&](const auto& node) { return value(node, expr->type); }, expr->node);
}

std::string FunctionIr::value(const tir::IntImm& node, DataType type) {
  return int_literal(type, node.value);
}

std::string FunctionIr::value(const tir::FloatImm& node, DataType) {
  return float_literal(node.value);
}

std::string FunctionIr::value(const tir::VarRef& node, DataType) {
  return vars_[node.var.at()];
}

std::string FunctionIr::value(const tir::Load& node, DataType type) {
  const std::string memory = memory_type(type);
  const std::string address = element_address(node.buffer, node.indices);
  const std::string loaded =
      out_.define(fmt::format("load {0}, {1} {2}, align {3}", memory,
                              pointer_type(shared_.dialect, memory), address, element_bytes(type)));
  if (type != DataType::Bool) return loaded;
  return out_.define(fmt::format("icmp ne i8 {}, 0", loaded));
}

std::string FunctionIr::value(const tir::Unary& node, DataType type) {
  const std::string operand = value(node.operand);
  if (node.op == tir::UnaryOp::Not) return out_.define(fmt::format("xor i1 {}, true", operand));
  if (is_float(type)) return out_.define(fmt::format("fneg float {}", operand));
  return out_.define(fmt::format("sub {}{} 0, {}", no_overflow(type), value_type(type), operand));
}

std::string FunctionIr::value(const tir::Binary& node, DataType type) {
  const DataType operands = node.lhs->type;
  if (operands == DataType::Bool && (node.op == BinaryOp::And || node.op == BinaryOp::Or))
    return logical(node);
  if (compares(node.op)) return comparison(node);
  if (node.op == BinaryOp::Min || node.op == BinaryOp::Max) return least_or_greatest(node, type);
  const std::string lhs = value(node.lhs), rhs = value(node.rhs);
  return out_.define(
      fmt::format("{} {} {}, {}", instruction_of(node.op, type), value_type(type), lhs, rhs));
}

// The right side is evaluated only where it decides.
std::string FunctionIr::logical(const tir::Binary& node) {
  const bool both = node.op == BinaryOp::And;
  const std::string lhs = value(node.lhs);
  if (is_harmless(func_, node.rhs)) {
    const std::string rhs = value(node.rhs);
    return out_.define(both ? fmt::format("select i1 {}, i1 {}, i1 false", lhs, rhs)
                            : fmt::format("select i1 {}, i1 true, i1 {}", lhs, rhs));
  }
  return both ? branch_value(lhs, "i1", &node.rhs, nullptr, "false")
              : branch_value(lhs, "i1", nullptr, &node.rhs, "true");
}

std::string FunctionIr::comparison(const tir::Binary& node) {
  const std::string lhs = value(node.lhs), rhs = value(node.rhs);
  return out_.define(compare(node.op, node.lhs->type, lhs, rhs));
}

std::string FunctionIr::least_or_greatest(const tir::Binary& node, DataType type) {
  const std::string lhs = value(node.lhs), rhs = value(node.rhs);
  const std::string takes_lhs = out_.define(compare(node.op, type, lhs, rhs));
  return out_.define(
      fmt::format("select i1 {0}, {1} {2}, {1} {3}", takes_lhs, value_type(type), lhs, rhs));
}

std::string FunctionIr::branch_value(const std::string& condition, const std::string& type,
                                     const tir::Expr* if_true, const tir::Expr* if_false,
                                     const std::string& otherwise) {
  const std::string yes = out_.fresh_label(), no = out_.fresh_label(), end = out_.fresh_label();
  out_.line(fmt::format("br i1 {}, label %{}, label %{}", condition, yes, no));
  const auto arm = [&](const std::string& label, const tir::Expr* expr) {
    out_.begin_block(label);
    const std::string result = expr != nullptr ? value(*expr) : otherwise;
    const std::string from = out_.block();
    out_.line("br label %" + end);
    return fmt::format("[ {}, %{} ]", result, from);
  };
  const std::string from_yes = arm(yes, if_true), from_no = arm(no, if_false);
  out_.begin_block(end);
  return out_.define(fmt::format("phi {} {}, {}", type, from_yes, from_no));
}

std::string FunctionIr::value(const tir::Cast& node, DataType type) {
  return converted(value(node.operand), node.operand->type, type);
}

std::string FunctionIr::converted(const std::string& operand, DataType from, DataType to) {
  const std::string source = value_type(from), result = value_type(to);
  if (from == to) return operand;
  if (to == DataType::Bool)
    return out_.define(is_float(from)
                           ? fmt::format("fcmp une float {}, {}", operand, float_literal(0))
                           : fmt::format("icmp ne {} {}, 0", source, operand));
  const auto convert = [&](const char* how, const std::string& what) {
    return out_.define(fmt::format("{} {} {} to {}", how, source, operand, what));
  };
  if (is_float(to)) return convert(is_signed(from) ? "sitofp" : "uitofp", result);
  if (is_float(from)) {
    // Through 32 bits, whose low ones are kept.
    if (bits(to) < 32) return converted(convert("fptosi", "i32"), DataType::Int32, to);
    return convert(is_signed(to) ? "fptosi" : "fptoui", result);
  }
  if (from != DataType::Bool && bits(to) == bits(from)) return operand;
  if (from != DataType::Bool && bits(to) < bits(from)) return convert("trunc", result);
  return convert(is_signed(from) ? "sext" : "zext", result);
}

std::string FunctionIr::value(const tir::Select& node, DataType type) {
  const std::string condition = value(node.condition);
  if (!is_harmless(func_, node.if_true) || !is_harmless(func_, node.if_false))
    return branch_value(condition, value_type(type), &node.if_true, &node.if_false, "");
  const std::string yes = value(node.if_true), no = value(node.if_false);
  return out_.define(
      fmt::format("select i1 {0}, {1} {2}, {1} {3}", condition, value_type(type), yes, no));
}

std::string FunctionIr::helper_argument(const tir::Expr& expr) {
  const DataType type = expr->type;
  if (is_float(type) || (type != DataType::Bool && bits(type) >= 32))
    return value_type(type) + " " + value(expr);
  return "i32 " + converted(value(expr), type, DataType::Int32);
}

std::string FunctionIr::value(const tir::ExprCall& node, DataType type) {
  const DataType returned = is_float(type) || bits(type) >= 32 ? type : DataType::Int32;
  std::string arguments, types;
  for (const tir::Expr& argument : node.arguments) {
    const std::string given = helper_argument(argument);
    arguments += (arguments.empty() ? "" : ", ") + given;
    types += (types.empty() ? "" : ", ") + given.substr(0, given.find(' '));
  }
  shared_.helpers[node.function] =
      fmt::format("{} @{}({})", value_type(returned), node.function, types);
  const std::string result =
      out_.define(fmt::format("call {} @{}({})", value_type(returned), node.function, arguments));
  return converted(result, returned, type);
}

}  // namespace intarsia::targets::llvm
