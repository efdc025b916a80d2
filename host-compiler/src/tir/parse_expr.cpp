#include "tir/parse_expr.h"

#include <fmt/format.h>

#include "tir/fold.h"
#include "tir/text_words.h"

namespace intarsia::tir {

namespace {

// Trees are walked and freed with the stack.
constexpr int kMaxDepth = 400;   // of parentheses
constexpr int kMaxChain = 1000;  // of operators in a row

template <typename Node>
Expr make(DataType type, Node node) {
  return std::make_shared<const ExprNode>(ExprNode{type, std::move(node)});
}

Expr nothing() {
  return make(DataType::Int32, IntImm{0});
}

}  // namespace

DataType parse_type(TextReader& in) {
  const Token token = in.peek();
  const std::string name = in.word("a type");
  const auto type = data_type_from_string(name);
  if (!type && in.ok())
    in.fail_at(token, fmt::format("'{}' is not a type", name), "i8, i32, f32, ...");
  return type.value_or(DataType::Int32);
}

BufferId ExprParser::buffer() {
  in_.expect("%");
  const Token token = in_.peek();
  const std::string name = in_.word("a buffer's name");
  for (size_t i = 0; i < func_.buffers.size(); ++i)
    if (func_.buffers[i].name == name) return {static_cast<int32_t>(i)};
  if (in_.ok()) in_.fail_at(token, fmt::format("no buffer is called '{}'", name));
  return {0};
}

std::vector<Expr> ExprParser::indices() {
  std::vector<Expr> list;
  if (in_.is("[")) in_.list("[", "]", [&] { list.push_back(expr()); });
  return list;
}

Expr ExprParser::infix(int least) {
  Expr left = unary();
  for (int length = 0; in_.ok(); ++length) {
    if (length > kMaxChain) in_.fail("the expression is too long");
    const Token token = in_.peek();
    const InfixText* found = nullptr;
    for (const InfixText& op : kInfix)
      if (token.kind == TokenKind::Punctuation && token.text == op.text) found = &op;
    if (found == nullptr || found->precedence < least) break;
    in_.next();
    const Expr right = infix(found->precedence + 1);
    const DataType type = is_comparison(found->op) ? DataType::Bool : left->type;
    left = make(type, Binary{found->op, left, right});
  }
  return left;
}

Expr ExprParser::unary() {
  if (++depth_ > kMaxDepth) in_.fail("the expression is nested too deeply");
  Expr made;
  if (!in_.ok()) {
    made = nothing();
  } else if (in_.accept("!")) {
    made = make(DataType::Bool, Unary{UnaryOp::Not, unary()});
  } else if (in_.is("-") && in_.peek(1).kind != TokenKind::Number &&
             !(in_.peek(1).text == "inf" && in_.is(":", 2))) {
    in_.next();
    const Expr operand = unary();
    made = make(operand->type, Unary{UnaryOp::Neg, operand});
  } else {
    made = primary();
  }
  --depth_;
  return made;
}

Expr ExprParser::typed_literal() {
  // The type decides how to read the number, so look behind the number first.
  const size_t sign = in_.is("-") ? 1 : 0;
  const bool is_float = in_.is(":", sign + 1) && in_.is("f32", sign + 2);
  if (is_float) {
    const float value = in_.real("a number");
    in_.expect(":");
    in_.expect("f32");
    return make(DataType::Float32, FloatImm{value});
  }
  const Token token = in_.peek();
  const int64_t value = in_.integer("an integer");
  const DataType type = in_.accept(":") ? parse_type(in_) : DataType::Int32;
  if (in_.ok() && wrap(type, value) != value)
    in_.fail_at(token, fmt::format("{} is out of the range of {}", value, to_string(type)));
  return make(type, IntImm{value});
}

Expr ExprParser::primary() {
  if (in_.accept("(")) {
    const Expr inner = expr();
    in_.expect(")");
    return inner;
  }
  if (in_.is("%")) {
    const BufferId id = buffer();
    const std::vector<Expr> list = indices();
    if (!in_.ok()) return nothing();
    return make(func_.buffer(id).type, Load{id, list});
  }
  const bool is_number = in_.peek().kind == TokenKind::Number || in_.is("-");
  const bool names_float = (in_.is("inf") || in_.is("nan")) && in_.is(":", 1);
  if (is_number || names_float) return typed_literal();
  return word();
}

std::vector<Expr> ExprParser::arguments(size_t count) {
  std::vector<Expr> list;
  in_.list("(", ")", [&] { list.push_back(expr()); });
  if (in_.ok() && list.size() != count) in_.fail(fmt::format("{} arguments are wanted", count));
  list.resize(count, nothing());
  return list;
}

Expr ExprParser::word() {
  if (in_.is("true") || in_.is("false"))
    return make(DataType::Bool, IntImm{in_.boolean("true or false") ? 1 : 0});
  const bool calls = in_.is("(", 1);
  if (calls && (in_.is("min") || in_.is("max"))) {
    const BinaryOp op = in_.word("") == "min" ? BinaryOp::Min : BinaryOp::Max;
    const std::vector<Expr> both = arguments(2);
    return make(both[0]->type, Binary{op, both[0], both[1]});
  }
  if (calls && in_.accept("select")) {
    const std::vector<Expr> three = arguments(3);
    return make(three[1]->type, Select{three[0], three[1], three[2]});
  }
  if (calls) {
    const DataType type = parse_type(in_);
    return make(type, Cast{arguments(1)[0]});
  }
  if (in_.is("@", 1)) {
    const DataType type = parse_type(in_);
    in_.expect("@");
    ExprCall call{in_.word("a function's name"), {}};
    in_.list("(", ")", [&] { call.arguments.push_back(expr()); });
    return make(type, std::move(call));
  }
  return variable();
}

Expr ExprParser::variable() {
  const Token token = in_.peek();
  const std::string name = in_.word("an expression");
  for (size_t i = 0; i < func_.vars.size(); ++i)
    if (func_.vars[i].name == name)
      return make(func_.vars[i].type, VarRef{{static_cast<int32_t>(i)}});
  if (in_.ok())
    in_.fail_at(token, fmt::format("no variable is called '{}'", name), "buffers begin with %");
  return nothing();
}

}  // namespace intarsia::tir
