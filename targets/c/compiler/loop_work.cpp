#include "loop_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "intarsia/plugin/tir_walk.h"

namespace intarsia::targets::c {
namespace {

using namespace tir;

struct Helper {
  std::string_view function;
  LoopStep step;
};
constexpr Helper kHelpers[] = {
    {"intarsia_requantize", LoopStep::Requantize},
    {"intarsia_requantize_right", LoopStep::RequantizeRight},
    {"intarsia_requantize_wide", LoopStep::RequantizeWide},
    {"intarsia_clamp_i32", LoopStep::Clamp},
    {"intarsia_divide_round_i32", LoopStep::Divide},
    {"intarsia_divide_i32", LoopStep::Divide},
    {"intarsia_floor_div_i32", LoopStep::Divide},
    {"intarsia_floor_mod_i32", LoopStep::Divide},
    {"intarsia_square_i32", LoopStep::Multiply},
    {"intarsia_add_wrapping_i32", LoopStep::Alu},
    {"intarsia_sigmoid_s16", LoopStep::Sigmoid},
    {"intarsia_tanh_s16", LoopStep::Tanh},
    {"intarsia_rsqrt_s16", LoopStep::NormalizeRow},  // which is mostly an inverse square root
    {"intarsia_divide_f32", LoopStep::FloatDivide},
    {"intarsia_floor_mod_f32", LoopStep::FloatModulo},
    {"intarsia_exp_f32", LoopStep::FloatExponential},
    {"intarsia_logistic_f32", LoopStep::FloatLogistic},
    {"intarsia_tanh_f32", LoopStep::FloatTanh},
    // Each an exponential, a division and some products, as tanh is.
    {"intarsia_erf_f32", LoopStep::FloatTanh},
    {"intarsia_gelu_f32", LoopStep::FloatTanh},
    {"intarsia_gelu_tanh_f32", LoopStep::FloatTanh},
    {"intarsia_atan2_f32", LoopStep::FloatTanh},  // a division and nine products
    {"intarsia_log_f32", LoopStep::FloatLogarithm},
    {"intarsia_pow_f32", LoopStep::FloatPower},
    {"intarsia_sin_f32", LoopStep::FloatSine},
    {"intarsia_cos_f32", LoopStep::FloatSine},
    {"intarsia_sqrt_f32", LoopStep::FloatRoot},
    {"intarsia_ceil_f32", LoopStep::FloatRound},
    {"intarsia_floor_f32", LoopStep::FloatRound},
    {"intarsia_round_even_f32", LoopStep::FloatRound},
    {"intarsia_truncate_f32", LoopStep::FloatRound},
    {"intarsia_quantize_f32", LoopStep::FloatQuantize},
};
// Of a run of elements: once, and for each of them.
struct RunHelper {
  std::string_view function;
  LoopStep once, each;
};
constexpr RunHelper kRunHelpers[] = {
    {"intarsia_softmax_s8", LoopStep::SoftmaxRow, LoopStep::SoftmaxElement},
    {"intarsia_softmax_s8_s16", LoopStep::HalfSoftmaxRow, LoopStep::HalfSoftmaxElement},
    {"intarsia_softmax_s16", LoopStep::WideSoftmaxRow, LoopStep::WideSoftmaxElement},
    {"intarsia_softmax_f32", LoopStep::FloatSoftmaxRow, LoopStep::FloatSoftmaxElement},
    {"intarsia_log_softmax_s8", LoopStep::SoftmaxRow, LoopStep::SoftmaxElement},
    {"intarsia_log_softmax_f32", LoopStep::FloatSoftmaxRow, LoopStep::FloatSoftmaxElement},
    {"intarsia_l2_normalize_s8", LoopStep::NormalizeRow, LoopStep::NormalizeElement},
    {"intarsia_l2_normalize_f32", LoopStep::FloatNormalizeRow, LoopStep::FloatNormalizeElement},
    // Two passes over the row and a division for all of it, as a norm takes.
    {"intarsia_quantize_row", LoopStep::FloatNormalizeRow, LoopStep::FloatNormalizeElement},
    {"intarsia_quantize_row_asymmetric", LoopStep::FloatNormalizeRow,
     LoopStep::FloatNormalizeElement},
    {"intarsia_quantize_rows_together", LoopStep::FloatNormalizeRow,
     LoopStep::FloatNormalizeElement},
    {"intarsia_move_back", LoopStep::MoveRow, LoopStep::MoveElement},
    // Not counted of their own: what takes about as long.
    {"intarsia_signal_auto_scale", LoopStep::MoveRow, LoopStep::MoveElement},
    {"intarsia_signal_rfft_s16", LoopStep::WideSoftmaxRow, LoopStep::WideSoftmaxElement},
    {"intarsia_signal_irfft_s16", LoopStep::WideSoftmaxRow, LoopStep::WideSoftmaxElement},
    {"intarsia_signal_energy", LoopStep::MoveRow, LoopStep::MoveElement},
    {"intarsia_signal_filter_bank", LoopStep::NormalizeRow, LoopStep::NormalizeElement},
    {"intarsia_signal_square_root", LoopStep::WideSoftmaxRow, LoopStep::WideSoftmaxElement},
    {"intarsia_signal_spectral_subtraction", LoopStep::NormalizeRow, LoopStep::NormalizeElement},
    {"intarsia_signal_pcan", LoopStep::NormalizeRow, LoopStep::NormalizeElement},
    {"intarsia_signal_log", LoopStep::NormalizeRow, LoopStep::NormalizeElement},
    {"intarsia_decode_boxes", LoopStep::FloatSoftmaxRow, LoopStep::FloatSoftmaxElement},
    {"intarsia_detect_boxes", LoopStep::FloatNormalizeRow, LoopStep::FloatNormalizeElement},
    {"intarsia_detect_boxes_by_class", LoopStep::FloatNormalizeRow,
     LoopStep::FloatNormalizeElement},
};

bool is_wide(DataType type) {
  return type == DataType::Int64;
}
bool is_real(DataType type) {
  return type == DataType::Float32;
}

class Counter {
 public:
  explicit Counter(const Func& func)
      : func_(func), depths_(func.vars.size()), bounds_(func.vars.size()) {}

  LoopWork count() {
    work_[static_cast<size_t>(LoopStep::Call)] = 1;
    visit(func_.body);
    return work_;
  }

 private:
  // Depth of loops: 0 is the function, and times_[d] how often the body of the d-th loop runs.
  size_t depth() const { return times_.size() - 1; }
  void charge(LoopStep step, size_t at, double often = 1) {
    work_[static_cast<size_t>(step)] += often * times_[std::min(at, depth())];
  }

  void visit(const Stmt& stmt) {
    std::visit(overloaded{[&](const Seq& n) {
                            for (const Stmt& inner : n.statements) visit(inner);
                          },
                          [&](const For& n) { loop(n); }, [&](const If& n) { branch(n); },
                          [&](const Let& n) {
                            depths_[n.var.at()] = expression(n.value);
                            lets_.push_back({n.var, n.value});
                            visit(n.body);
                            lets_.pop_back();
                          },
                          [&](const Store& n) {
                            indices(n.buffer, n.indices);
                            expression(n.value);
                            if (in_memory(n.buffer)) charge(LoopStep::Store, depth());
                          },
                          [](const Call&) {}, [&](const Intrinsic& n) { run(n); }},
               stmt->node);
  }

  void loop(const For& n) {
    expression(n.lo), expression(n.hi);
    const double count = iterations(n);
    charge(LoopStep::Loop, depth());
    bounds_[n.var.at()] = std::pair(n.lo, n.hi);
    std::set<const ExprNode*> outer;
    std::set<std::pair<BufferId, Terms>> outer_pointers;
    std::swap(outer, seen_), std::swap(outer_pointers, pointers_);
    times_.push_back(times_.back() * count);
    depths_[n.var.at()] = depth();
    charge(LoopStep::Iteration, depth());
    visit(n.body);
    times_.pop_back();
    std::swap(outer, seen_), std::swap(outer_pointers, pointers_);
  }

  void branch(const If& n) {
    expression(n.condition);
    charge(LoopStep::Branch, depth());
    // What data decide is taken as always true, or as true half of the time where there is something else to do.
    const double all = times_.back(),
                 taken = share_of(n.condition).value_or(n.else_body == nullptr ? 1 : 0.5);
    times_.back() = all * taken;
    visit(n.then_body);
    times_.back() = all * (1 - taken);
    if (n.else_body != nullptr) visit(n.else_body);
    times_.back() = all;
  }

  void run(const Intrinsic& n) {
    int64_t elements = 0;
    for (const auto& operand : n.operands) {
      if (const auto* some = std::get_if<BufferRun>(&operand)) {
        if (elements == 0) elements = some->count;
        indices(some->buffer, some->start);
      } else {
        expression(std::get<Expr>(operand));
      }
    }
    for (const RunHelper& helper : kRunHelpers)
      if (helper.function == n.name) {
        charge(helper.once, depth());
        charge(helper.each, depth(), static_cast<double>(elements));
        return;
      }
    charge(LoopStep::Call, depth());
  }

  // Charges what computing it takes. The depth at which its value is known.
  size_t expression(const Expr& expr) {
    if (const auto* variable = std::get_if<VarRef>(&expr->node)) return depths_[variable->var.at()];
    const bool fresh = seen_.insert(expr.get()).second;
    size_t at = 0;
    if (const auto* load = std::get_if<Load>(&expr->node)) {
      at = depth();  // what is in memory may change in every loop
      if (!fresh) return at;
      indices(load->buffer, load->indices);
      if (in_memory(load->buffer)) charge(load_of(expr->type), at);
      return at;
    }
    bool added_product = false;
    for_each_operand(*expr, [&](const Expr& operand) {
      const auto* inner = std::get_if<Binary>(&operand->node);
      const auto* outer = std::get_if<Binary>(&expr->node);
      const bool product = inner != nullptr && inner->op == BinaryOp::Mul && outer != nullptr &&
                           outer->op == BinaryOp::Add && !added_product && !is_constant(*inner);
      if (product) {
        added_product = true;
        at = std::max({at, expression(inner->lhs), expression(inner->rhs)});
      } else {
        at = std::max(at, expression(operand));
      }
    });
    if (fresh) charge_node(*expr, at, added_product);
    return at;
  }

  static bool is_constant(const Binary& n) {
    return std::holds_alternative<IntImm>(n.rhs->node) ||
           std::holds_alternative<IntImm>(n.lhs->node);
  }

  void charge_node(const ExprNode& expr, size_t at, bool added_product) {
    std::visit(overloaded{[](const IntImm&) {}, [](const FloatImm&) {}, [](const VarRef&) {},
                          [](const Load&) {},
                          [&](const Unary&) {
                            charge(is_wide(expr.type) ? LoopStep::WideAlu : LoopStep::Alu, at);
                          },
                          [&](const Binary& n) { charge(step_of(n, added_product), at); },
                          [&](const Cast& n) {
                            const bool from = is_real(n.operand->type), to = is_real(expr.type);
                            if (from != to) charge(LoopStep::FloatConvert, at);
                          },
                          [&](const Select& n) {
                            charge(is_wide(n.if_true->type) ? LoopStep::WideAlu : LoopStep::Choice,
                                   at);
                          },
                          [&](const ExprCall& n) {
                            for (const Helper& helper : kHelpers)
                              if (helper.function == n.function) {
                                charge(helper.step, at);
                                return;
                              }
                            charge(LoopStep::Call, at);
                          }},
               expr.node);
  }

  static LoopStep step_of(const Binary& n, bool added_product) {
    const DataType type = n.lhs->type;
    const bool wide = is_wide(type), real = is_real(type);
    switch (n.op) {
      case BinaryOp::Add:
        if (added_product)
          return real   ? LoopStep::FloatMultiplyAdd
                 : wide ? LoopStep::WideMultiplyAdd
                        : LoopStep::MultiplyAdd;
        [[fallthrough]];
      case BinaryOp::Sub:
        return real ? LoopStep::FloatAdd : wide ? LoopStep::WideAlu : LoopStep::Alu;
      case BinaryOp::Mul:
        return real ? LoopStep::FloatMultiply : wide ? LoopStep::WideMultiply : LoopStep::Multiply;
      case BinaryOp::Div:
      case BinaryOp::Mod:
        return real ? LoopStep::FloatDivide : LoopStep::Divide;
      case BinaryOp::And:
      case BinaryOp::Or:
      case BinaryOp::Xor:
        return wide ? LoopStep::WideAlu : LoopStep::Alu;
      case BinaryOp::Shl:
      case BinaryOp::Shr:
        return wide ? LoopStep::WideShift : LoopStep::Alu;
      case BinaryOp::Min:
      case BinaryOp::Max:
        return real ? LoopStep::FloatCompare : wide ? LoopStep::WideAlu : LoopStep::Larger;
      default:
        return real ? LoopStep::FloatCompare : wide ? LoopStep::WideAlu : LoopStep::Choice;
    }
  }

  bool in_memory(BufferId id) const {
    const Buffer& buffer = func_.buffer(id);
    return buffer.scope != Scope::Register || element_count(buffer.extents) > 1;
  }

  static LoopStep load_of(DataType type) {
    return bits(type) == 8    ? LoopStep::LoadByte
           : bits(type) == 16 ? LoopStep::LoadHalf
                              : LoopStep::LoadWord;
  }

  // Variables times numbers. A sum of such terms is a pointer, which is moved on in the loop of each of the variables;
  // accesses that differ by a number alone share it.
  using Terms = std::map<VarId, int64_t>;

  void indices(BufferId buffer, const std::vector<Expr>& all) {
    if (!in_memory(buffer)) return;
    Terms terms;
    int64_t pitch = 1;
    const Shape& extents = func_.buffer(buffer).extents;
    for (size_t i = all.size(); i-- > 0;) {
      if (!add_terms(all[i], pitch, terms)) expression(all[i]);
      pitch *= extents[i];
    }
    if (!pointers_.insert({buffer, terms}).second) return;
    constexpr double kFew = 2;
    double variables = 0;
    size_t innermost = 0;
    bool apart = false;
    for (const auto& [var, factor] : terms) {
      if (factor == 0) continue;
      charge(LoopStep::Pointer, depths_[var.at()]), ++variables;
      if (depths_[var.at()] < innermost) continue;
      innermost = depths_[var.at()];
      apart = factor != 1;
    }
    if (apart) charge(LoopStep::Stride, innermost);
    // Addresses that are made of more are computed anew for every element.
    charge(LoopStep::FarPointer, depth(), std::max(0.0, variables - kFew));
  }
  static bool add_terms(const Expr& expr, int64_t factor, Terms& terms) {
    if (std::holds_alternative<IntImm>(expr->node)) return true;
    if (const auto* variable = std::get_if<VarRef>(&expr->node)) {
      terms[variable->var] += factor;
      return true;
    }
    const auto* n = std::get_if<Binary>(&expr->node);
    if (n == nullptr) return false;
    if (n->op == BinaryOp::Mul) {
      for (const auto& [number, other] : {std::pair(n->lhs, n->rhs), std::pair(n->rhs, n->lhs)})
        if (const auto* constant = std::get_if<IntImm>(&number->node))
          return add_terms(other, factor * constant->value, terms);
      return false;
    }
    if (n->op != BinaryOp::Add && n->op != BinaryOp::Sub) return false;
    return add_terms(n->lhs, factor, terms) &&
           add_terms(n->rhs, n->op == BinaryOp::Add ? factor : -factor, terms);
  }

  // ---- how often a loop runs ----

  using Values = std::vector<std::pair<VarId, int64_t>>;

  // The mean over the variables around it that its bounds depend on.
  double iterations(const For& n) {
    return mean_of({n.lo, n.hi}, [&](const Values& values) { return span(n, values); }).value_or(1);
  }

  // Of all times that the condition is asked, how often it holds; nothing where that depends on data. Its parts are seen as
  // independent: rows and columns of a window are.
  std::optional<double> share_of(const Expr& condition) {
    const auto* n = std::get_if<Binary>(&condition->node);
    if (n != nullptr && (n->op == BinaryOp::And || n->op == BinaryOp::Or)) {
      const auto a = share_of(n->lhs), b = share_of(n->rhs);
      if (!a || !b) return std::nullopt;
      return n->op == BinaryOp::And ? *a * *b : 1 - (1 - *a) * (1 - *b);
    }
    return mean_of({condition}, [&](const Values& values) -> std::optional<int64_t> {
      const auto value = evaluate(condition, values);
      return value ? std::optional<int64_t>(*value != 0) : std::nullopt;
    });
  }

  // Over the values of the variables of loops that the expressions depend on.
  template <typename F>
  std::optional<double> mean_of(const std::vector<Expr>& all, F&& value_for) {
    if (const auto fixed = value_for(Values{})) return static_cast<double>(*fixed);
    std::set<VarId> free;
    for (const Expr& expr : all) collect(expr, free);
    std::vector<VarId> variables;
    for (const VarId var : free)
      if (bounds_[var.at()]) variables.push_back(var);
    double sum = 0, count = 0;
    Values values;
    enumerate(variables, 0, values, [&] {
      if (const auto some = value_for(values)) sum += static_cast<double>(*some), count += 1;
    });
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  }

  void collect(const Expr& expr, std::set<VarId>& found) const {
    walk(expr, [&](const ExprNode& node) {
      if (const auto* variable = std::get_if<VarRef>(&node.node)) {
        found.insert(variable->var);
        for (const auto& [var, value] : lets_)
          if (var == variable->var) collect(value, found);
      }
    });
  }

  template <typename F>
  void enumerate(const std::vector<VarId>& variables, size_t next, Values& values, F&& f) {
    if (next == variables.size()) return f();
    const int64_t most = variables.size() <= 2 ? 64 : 12;  // others are like their neighbours
    const auto& [lo, hi] = *bounds_[variables[next].at()];
    const auto first = evaluate(lo, values), last = evaluate(hi, values);
    if (!first || !last) return;
    const int64_t step = std::max<int64_t>(1, (*last - *first) / most);
    for (int64_t value = *first; value < *last; value += step) {
      values.push_back({variables[next], value});
      enumerate(variables, next + 1, values, f);
      values.pop_back();
    }
  }

  std::optional<int64_t> span(const For& n, const Values& values) const {
    const auto lo = evaluate(n.lo, values), hi = evaluate(n.hi, values);
    if (!lo || !hi) return std::nullopt;
    return std::max<int64_t>(0, *hi - *lo);
  }

  std::optional<int64_t> evaluate(const Expr& expr, const Values& values) const {
    if (const auto* number = std::get_if<IntImm>(&expr->node)) return number->value;
    if (const auto* variable = std::get_if<VarRef>(&expr->node)) {
      for (const auto& [var, value] : values)
        if (var == variable->var) return value;
      for (const auto& [var, value] : lets_)
        if (var == variable->var) return evaluate(value, values);
      return std::nullopt;
    }
    if (const auto* cast = std::get_if<Cast>(&expr->node)) return evaluate(cast->operand, values);
    if (const auto* unary = std::get_if<Unary>(&expr->node)) {
      const auto value = evaluate(unary->operand, values);
      return value && unary->op == UnaryOp::Neg ? std::optional(-*value) : std::nullopt;
    }
    if (const auto* select = std::get_if<Select>(&expr->node)) {
      const auto condition = evaluate(select->condition, values);
      if (!condition) return std::nullopt;
      return evaluate(*condition != 0 ? select->if_true : select->if_false, values);
    }
    const auto* n = std::get_if<Binary>(&expr->node);
    if (n == nullptr) return std::nullopt;
    const auto a = evaluate(n->lhs, values), b = evaluate(n->rhs, values);
    if (!a || !b) return std::nullopt;
    return apply(n->op, *a, *b);
  }

  static std::optional<int64_t> apply(BinaryOp op, int64_t a, int64_t b) {
    switch (op) {
      case BinaryOp::Add:
        return a + b;
      case BinaryOp::Sub:
        return a - b;
      case BinaryOp::Mul:
        return a * b;
      case BinaryOp::Div:
        return b == 0 ? std::nullopt : std::optional(a / b);
      case BinaryOp::Mod:
        return b == 0 ? std::nullopt : std::optional(a % b);
      case BinaryOp::Min:
        return std::min(a, b);
      case BinaryOp::Max:
        return std::max(a, b);
      case BinaryOp::Lt:
        return a < b;
      case BinaryOp::Le:
        return a <= b;
      case BinaryOp::Gt:
        return a > b;
      case BinaryOp::Ge:
        return a >= b;
      case BinaryOp::Eq:
        return a == b;
      case BinaryOp::Ne:
        return a != b;
      default:
        return std::nullopt;
    }
  }

  const Func& func_;
  LoopWork work_ = {};
  std::vector<double> times_ = {1};
  std::vector<size_t> depths_;                                // of variables
  std::vector<std::optional<std::pair<Expr, Expr>>> bounds_;  // of loops' variables
  std::vector<std::pair<VarId, Expr>> lets_;
  std::set<const ExprNode*> seen_;                 // computed before in this loop's body
  std::set<std::pair<BufferId, Terms>> pointers_;  // known in this loop's body
};

}  // namespace

LoopWork work_of_loops(const Func& func) {
  return Counter(func).count();
}

}  // namespace intarsia::targets::c
