#include "tir/bounds.h"

#include <algorithm>
#include <limits>

#include "tir/constant_values.h"
#include "tir/fold.h"

namespace intarsia::tir {

namespace {

Interval range_of_type(DataType type) {
  return {min_value(type), max_value(type)};
}

bool is_integral(DataType type) {
  return type != DataType::Float32;
}  // bool too: 0 and 1

std::optional<int64_t> constant_of(const Expr& e) {
  const auto* imm = std::get_if<IntImm>(&e->node);
  return imm != nullptr ? std::optional(imm->value) : std::nullopt;
}

}  // namespace

// ---- definitions and conditions
// ------------------------------------------------------------------

void Bounds::define_loop(VarId var, const Expr& lo, const Expr& hi) {
  const Linear first = linear(lo), end = linear(hi);
  const Interval from = prover_.range_of(first), to = prover_.range_of(end);
  const Symbol symbol =
      prover_.add_symbol({from.least, to.most == INT64_MIN ? to.most : to.most - 1});
  const Linear value = Linear::of_symbol(symbol);
  if (const auto above = combine(1, value, -1, first)) prover_.add_inequality(*above);
  if (const auto gap = combine(1, end, -1, value))
    if (const auto below = plus(*gap, -1)) prover_.add_inequality(*below);
  vars_[var] = value;
}

void Bounds::define_let(VarId var, const Expr& value) {
  if (value->type == DataType::Bool) {
    bools_[var] = value;
  } else if (is_integral(value->type)) {
    vars_[var] = linear(value);
  }
}

void Bounds::assume(const Expr& condition, bool holds) {
  std::vector<Linear> facts;
  facts_of(condition, holds, facts);
  for (const Linear& fact : facts) prover_.assume(fact);
}

void Bounds::facts_of(const Expr& condition, bool holds, std::vector<Linear>& facts) {
  if (const auto known = constant_of(condition)) {
    if ((*known != 0) != holds) facts.push_back(Linear::of(-1));
    return;
  }
  if (const auto* ref = std::get_if<VarRef>(&condition->node)) {
    const auto found = bools_.find(ref->var);
    if (found != bools_.end()) facts_of(found->second, holds, facts);
    return;
  }
  if (const auto* unary = std::get_if<Unary>(&condition->node)) {
    if (unary->op == UnaryOp::Not) facts_of(unary->operand, !holds, facts);
    return;
  }
  const auto* node = std::get_if<Binary>(&condition->node);
  if (node == nullptr) return;
  if (node->op == (holds ? BinaryOp::And : BinaryOp::Or)) {
    facts_of(node->lhs, holds, facts);
    facts_of(node->rhs, holds, facts);
    return;
  }
  const bool compares = is_comparison(node->op) && is_integer(node->lhs->type);
  if (!compares) return;
  const Linear a = linear(node->lhs), b = linear(node->rhs);
  // at_least(x, y, d): x >= y + d.
  const auto at_least = [&](const Linear& x, const Linear& y, int64_t distance) {
    if (const auto difference = combine(1, x, -1, y))
      if (const auto fact = plus(*difference, -distance)) facts.push_back(*fact);
  };
  switch (node->op) {
    case BinaryOp::Lt:
      return holds ? at_least(b, a, 1) : at_least(a, b, 0);
    case BinaryOp::Le:
      return holds ? at_least(b, a, 0) : at_least(a, b, 1);
    case BinaryOp::Gt:
      return holds ? at_least(a, b, 1) : at_least(b, a, 0);
    case BinaryOp::Ge:
      return holds ? at_least(a, b, 0) : at_least(b, a, 1);
    default:
      if ((node->op == BinaryOp::Eq) != holds) return;  // "different" is no inequality
      at_least(a, b, 0);
      at_least(b, a, 0);
  }
}

// ---- questions
// -----------------------------------------------------------------------------------

bool Bounds::is_less(const Expr& a, const Expr& b) {
  const auto difference = combine(1, linear(b), -1, linear(a));
  const auto gap = difference ? plus(*difference, -1) : std::nullopt;
  return gap && prover_.is_nonnegative(*gap);
}

bool Bounds::is_within(const Expr& e, int64_t least, int64_t most) {
  return is_integral(e->type) && prover_.is_within(linear(e), {least, most});
}

bool Bounds::is_flat_within(const std::vector<Expr>& indices, const Shape& extents, int64_t most) {
  std::optional<Linear> flat = Linear::of(0);
  for (size_t d = 0; d < indices.size() && flat; ++d)
    flat = combine(extents[d], *flat, 1, linear(indices[d]));
  return flat && prover_.is_within(*flat, {0, most});
}

// ---- values
// --------------------------------------------------------------------------------------

Linear Bounds::unknown(Interval range) {
  return Linear::of_symbol(prover_.add_symbol(range));
}
Linear Bounds::unknown(DataType type) {
  return unknown(range_of_type(type));
}

Linear Bounds::checked(const std::optional<Linear>& exact, DataType type) {
  return exact && prover_.is_within(*exact, range_of_type(type)) ? *exact : unknown(type);
}

const Linear* Bounds::known_operation(const std::string& operation,
                                      const std::vector<Linear>& operands) {
  const auto found = operations_.find({operation, operands});
  return found != operations_.end() ? &found->second : nullptr;
}

Linear Bounds::linear(const Expr& e) {
  const DataType type = e->type;
  if (type == DataType::Bool && !constant_of(e)) {
    // Is 1 when the condition holds, else 0.
    std::vector<Case> cases{{Linear::of(1), {}}, {Linear::of(0), {}}};
    facts_of(e, true, cases[0].conditions);
    facts_of(e, false, cases[1].conditions);
    const Linear value = unknown(Interval{0, 1});  // a symbol after those in the conditions
    prover_.add_cases(value.last_symbol(), std::move(cases));
    return value;
  }
  if (!is_integral(type)) return unknown(Interval{INT64_MIN, INT64_MAX});
  if (const auto* node = std::get_if<IntImm>(&e->node)) return Linear::of(node->value);
  if (const auto* node = std::get_if<VarRef>(&e->node)) {
    const auto found = vars_.find(node->var);
    return found != vars_.end() ? found->second : unknown(type);
  }
  if (const auto* node = std::get_if<Load>(&e->node)) return from_load(*node, type);
  if (const auto* node = std::get_if<Unary>(&e->node))
    return checked(times(linear(node->operand), -1), type);
  if (const auto* node = std::get_if<Binary>(&e->node)) return from_binary(e, *node);
  if (const auto* node = std::get_if<Cast>(&e->node))
    return is_integral(node->operand->type) ? checked(linear(node->operand), type) : unknown(type);
  if (const auto* node = std::get_if<Select>(&e->node)) return from_select(*node);
  return unknown(type);
}

Linear Bounds::from_binary(const Expr& e, const Binary& node) {
  const DataType type = e->type;
  if (node.op == BinaryOp::Min || node.op == BinaryOp::Max) return from_min_max(node);
  const Linear lhs = linear(node.lhs), rhs = linear(node.rhs);
  const bool by_constant = rhs.is_constant();
  switch (node.op) {
    case BinaryOp::Add:
      return checked(combine(1, lhs, 1, rhs), type);
    case BinaryOp::Sub:
      return checked(combine(1, lhs, -1, rhs), type);
    case BinaryOp::Mul:
      if (lhs.is_constant()) return checked(times(rhs, lhs.constant), type);
      if (by_constant) return checked(times(lhs, rhs.constant), type);
      return from_product(lhs, rhs, type);
    case BinaryOp::Div:
      return by_constant && rhs.constant > 0 ? from_div(lhs, rhs.constant) : unknown(type);
    case BinaryOp::Mod:
      return by_constant && rhs.constant > 0 ? from_mod(lhs, rhs.constant) : unknown(type);
    case BinaryOp::Shl:
      if (by_constant && rhs.constant >= 0 && rhs.constant < 62)
        return checked(times(lhs, int64_t{1} << rhs.constant), type);
      return unknown(type);
    case BinaryOp::Shr:
      if (by_constant && rhs.constant >= 0 && rhs.constant < 62)
        return from_shift_right(lhs, rhs.constant);
      return unknown(type);
    case BinaryOp::And:
      if (by_constant && rhs.constant >= 0) return from_mask(lhs, rhs.constant);
      return unknown(type);
    default:
      return unknown(type);
  }
}

Linear Bounds::from_product(const Linear& a, const Linear& b, DataType type) {
  const Interval x = prover_.range_of(a), y = prover_.range_of(b), limit = range_of_type(type);
  int64_t corners[4];
  bool exact = true;
  int i = 0;
  for (const int64_t p : {x.least, x.most})
    for (const int64_t q : {y.least, y.most}) exact &= !__builtin_mul_overflow(p, q, &corners[i++]);
  if (!exact) return unknown(type);
  const auto [least, most] = std::minmax_element(std::begin(corners), std::end(corners));
  if (*least < limit.least || *most > limit.most) return unknown(type);
  return unknown(Interval{*least, *most});
}

Linear Bounds::from_min_max(const Binary& node) {
  const bool is_min = node.op == BinaryOp::Min;
  std::vector<Linear> operands{linear(node.lhs), linear(node.rhs)};
  std::sort(operands.begin(), operands.end());
  const Linear &a = operands[0], &b = operands[1];
  const std::string operation = is_min ? "min" : "max";
  if (const Linear* known = known_operation(operation, operands)) return *known;
  const Interval x = prover_.range_of(a), y = prover_.range_of(b);
  const Linear value = is_min ? unknown({std::min(x.least, y.least), std::min(x.most, y.most)})
                              : unknown({std::max(x.least, y.least), std::max(x.most, y.most)});
  const int64_t sign = is_min ? -1 : 1;  // min: operand - value >= 0
  for (const Linear& operand : operands)
    if (const auto known = combine(sign, value, -sign, operand)) prover_.add_inequality(*known);
  const auto a_above = combine(sign, a, -sign, b), b_above = combine(sign, b, -sign, a);
  if (a_above && b_above)
    prover_.add_cases(value.last_symbol(), {{a, {*a_above}}, {b, {*b_above}}});
  return operations_.emplace(Operation{operation, operands}, value).first->second;
}

// q = x / divisor toward zero. What is known depends on whether x is known to be non-negative here,
// and so does the symbol: what is proven in one place must not leak to another.
Linear Bounds::from_div(const Linear& x, int64_t divisor) {
  if (x.is_constant()) return Linear::of(x.constant / divisor);
  const bool nonnegative = prover_.is_nonnegative(x);
  const std::string operation = nonnegative ? "div+" : "div";
  const std::vector<Linear> operands{x, Linear::of(divisor)};
  if (const Linear* known = known_operation(operation, operands)) return *known;
  const Interval range = prover_.range_of(x);
  const int64_t least = nonnegative ? std::max<int64_t>(range.least, 0) : range.least;
  const Linear q = unknown(Interval{least / divisor, range.most / divisor});
  // divisor * q lies less than divisor away from x, below it when x >= 0.
  const auto rest = combine(1, x, -divisor, q);
  const auto above = rest ? plus(*rest, nonnegative ? 0 : divisor - 1) : std::nullopt;
  const auto negated = rest ? times(*rest, -1) : std::nullopt;
  const auto below = negated ? plus(*negated, divisor - 1) : std::nullopt;
  if (above) prover_.add_inequality(*above);
  if (below) prover_.add_inequality(*below);
  return operations_.emplace(Operation{operation, operands}, q).first->second;
}

// x minus the divisor's multiple.
Linear Bounds::from_mod(const Linear& x, int64_t divisor) {
  if (x.is_constant()) return Linear::of(x.constant % divisor);
  const bool nonnegative = prover_.is_nonnegative(x);
  return remainder(nonnegative ? "mod+" : "mod", x, divisor, from_div(x, divisor),
                   {nonnegative ? 0 : 1 - divisor, divisor - 1}, nonnegative);
}

Linear Bounds::remainder(const std::string& operation, const Linear& x, int64_t divisor,
                         const Linear& quotient, Interval range, bool nonnegative) {
  const std::vector<Linear> operands{x, Linear::of(divisor)};
  if (const Linear* known = known_operation(operation, operands)) return *known;
  const Linear r = unknown(range);
  if (nonnegative)
    if (const auto below = combine(1, x, -1, r)) prover_.add_inequality(*below);
  if (const auto exact = combine(1, x, -divisor, quotient))
    prover_.add_cases(r.last_symbol(), {{*exact, {}}});
  return operations_.emplace(Operation{operation, operands}, r).first->second;
}

// Rounds down, whatever the sign.
Linear Bounds::from_shift_right(const Linear& x, int64_t amount) {
  if (x.is_constant()) return Linear::of(x.constant >> amount);
  const std::vector<Linear> operands{x, Linear::of(amount)};
  if (const Linear* known = known_operation("shr", operands)) return *known;
  const int64_t divisor = int64_t{1} << amount;
  const Interval range = prover_.range_of(x);
  const Linear q = unknown(Interval{range.least >> amount, range.most >> amount});
  if (const auto above = combine(1, x, -divisor, q)) {
    prover_.add_inequality(*above);
    if (const auto negated = times(*above, -1))
      if (const auto below = plus(*negated, divisor - 1)) prover_.add_inequality(*below);
  }
  return operations_.emplace(Operation{"shr", operands}, q).first->second;
}

Linear Bounds::from_mask(const Linear& x, int64_t mask) {
  if (x.is_constant()) return Linear::of(x.constant & mask);
  const bool nonnegative = prover_.is_nonnegative(x);
  if (mask < (int64_t{1} << 61) && (mask & (mask + 1)) == 0) {  // the low bits: x modulo mask + 1
    int64_t amount = 0;
    while ((int64_t{1} << amount) <= mask) ++amount;
    return remainder(nonnegative ? "low+" : "low", x, mask + 1, from_shift_right(x, amount),
                     {0, mask}, nonnegative);
  }
  return unknown(Interval{0, mask});
}

Linear Bounds::from_select(const Select& node) {
  std::vector<Case> cases(2);
  facts_of(node.condition, true, cases[0].conditions);
  facts_of(node.condition, false, cases[1].conditions);
  const Expr* arms[] = {&node.if_true, &node.if_false};
  Interval range{INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < 2; ++i) {
    const size_t before = assumed();
    for (const Linear& condition : cases[i].conditions) prover_.assume(condition);
    cases[i].value = linear(*arms[i]);
    drop_to(before);
    const Interval arm = prover_.range_of(cases[i].value);
    range = {std::min(range.least, arm.least), std::max(range.most, arm.most)};
  }
  const Linear value = unknown(range);
  prover_.add_cases(value.last_symbol(), std::move(cases));
  return value;
}

Linear Bounds::from_load(const Load& node, DataType type) {
  const Buffer& buffer = func_.buffer(node.buffer);
  if (buffer.scope != Scope::Constant) return unknown(type);  // may change at any time
  std::vector<Linear> indices;
  for (const Expr& index : node.indices) indices.push_back(linear(index));
  const std::string operation = "load " + std::to_string(buffer.constant.index);
  if (const Linear* known = known_operation(operation, indices)) return *known;
  const Linear value = unknown(contents(buffer.constant));
  return operations_.emplace(Operation{operation, indices}, value).first->second;
}

Interval Bounds::contents(ConstantId id) {
  const auto found = contents_.find(id);
  if (found != contents_.end()) return found->second;
  const Constant& constant = module_.constant(id);
  Interval range{INT64_MAX, INT64_MIN};
  for (const int64_t value : integer_values(constant))
    range = {std::min(range.least, value), std::max(range.most, value)};
  if (range.least > range.most) range = range_of_type(constant.type);
  return contents_[id] = range;
}

}  // namespace intarsia::tir
