// Random functions: what gcc and clang make of the emitted text equals the interpreter, and neither
// has anything to warn about.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "c_prologue.h"
#include "intarsia/plugin/c_function.h"
#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_walk.h"
#include "support/c_program.h"
#include "support/tir_interpreter.h"

namespace intarsia::emission {
namespace {

using tir::BinaryOp;
using tir::Expr;
using tir::Stmt;

constexpr DataType kTypes[] = {DataType::Int8,   DataType::UInt8,  DataType::Int16,
                               DataType::UInt16, DataType::Int32,  DataType::UInt32,
                               DataType::Int64,  DataType::Float32};
constexpr int64_t kElements = 6;

class Generator {
 public:
  Generator(const std::string& name, uint32_t seed) : f_(name), random_(seed) {}

  tir::Func make() {
    for (const DataType type : kTypes)
      inputs_.push_back(f_.parameter(fmt::format("in_{}", to_string(type)), type, {kElements},
                                     tir::Access::Read));
    for (const DataType type : kTypes)
      outputs_.push_back(f_.parameter(fmt::format("out_{}", to_string(type)), type, {kElements},
                                      tir::Access::ReadWrite));
    scalar_ = f_.register_("scalar", DataType::Int32);
    const Stmt body = f_.loop("i", kElements, [&](Expr i) {
      i_ = i;
      std::vector<Stmt> statements;
      if (pick(2)) statements.push_back(f_.store(scalar_, {}, expr(DataType::Int32, 2)));
      has_scalar_ = !statements.empty();
      const int count = 1 + pick(3);
      for (int n = 0; n < count; ++n) statements.push_back(stmt(2));
      return tir::seq(std::move(statements));
    });
    return f_.finish(body);
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  DataType any_type() { return kTypes[pick(8)]; }

  Stmt stmt(int depth) {
    switch (depth > 0 ? pick(6) : 5) {
      case 0:
        return tir::if_then(condition(2), stmt(depth - 1), pick(2) ? stmt(depth - 1) : nullptr);
      case 1:
        return f_.let("v", expr(any_type(), 2), [&](Expr v) {
          vars_.push_back(v);
          Stmt body = tir::seq({stmt(depth - 1), stmt(depth - 1)});
          vars_.pop_back();
          return body;
        });
      case 2:
        if (has_scalar_) return f_.store(scalar_, {}, f_.load(scalar_) + expr(DataType::Int32, 1));
        [[fallthrough]];
      default: {
        const int which = pick(8);
        const tir::BufferId to = outputs_[static_cast<size_t>(which)];
        const Expr value = expr(kTypes[which], 3);
        return f_.store(to, {i_}, pick(4) ? value : f_.load(to, {i_}) + value);
      }
    }
  }

  Expr leaf(DataType type) {
    for (const Expr& v : vars_)
      if (v->type == type && pick(2)) return v;
    if (type == DataType::Int32 && pick(3) == 0) return i_;
    if (type == DataType::Int32 && has_scalar_ && pick(3) == 0) return f_.load(scalar_);
    if (pick(3) == 0) {
      if (type == DataType::Float32) return tir::float_imm(static_cast<float>(pick(9) - 4) * 0.3f);
      int64_t value = is_signed(type) ? pick(41) - 20 : pick(41);
      if (pick(6) == 0 && bits(type) >= 32)
        value = is_signed(type) ? int64_t{INT32_MIN} : int64_t{UINT32_MAX};
      if (pick(6) == 0 && type == DataType::Int64) value = (int64_t{1} << 40) + pick(9);
      return tir::int_imm(value, type);
    }
    for (size_t t = 0; t < 8; ++t)
      if (kTypes[t] == type) return f_.load(pick(4) ? inputs_[t] : outputs_[t], {i_});
    return nullptr;
  }

  Expr expr(DataType type, int depth) {
    if (depth == 0) return leaf(type);
    const bool is_float = type == DataType::Float32;
    const Expr a = expr(type, depth - 1);
    switch (pick(9)) {
      case 0:
        return tir::cast(type, expr(any_type(), depth - 1));
      case 1:
        return tir::select(condition(depth - 1), a, expr(type, depth - 1));
      case 2:
        return tir::unary(tir::UnaryOp::Neg, a);
      case 3:
        if (is_float) return a;
        return tir::binary(pick(2) ? BinaryOp::Div : BinaryOp::Mod, a,
                           tir::int_imm(1 + pick(9), type));
      case 4:
        if (is_float) return a;
        return tir::binary(pick(2) ? BinaryOp::Shl : BinaryOp::Shr, a,
                           tir::int_imm(pick(bits(type)), type));
      case 5: {
        if (is_float) return a;
        // An amount that is not constant: the low bits of something.
        const Expr amount =
            tir::binary(BinaryOp::And, expr(type, depth - 1), tir::int_imm(7, type));
        return tir::binary(pick(2) ? BinaryOp::Shl : BinaryOp::Shr, a, amount);
      }
      default: {
        constexpr BinaryOp kOps[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Min,
                                     BinaryOp::Max, BinaryOp::And, BinaryOp::Or,  BinaryOp::Xor};
        return tir::binary(kOps[pick(is_float ? 5 : 8)], a, expr(type, depth - 1));
      }
    }
  }

  Expr condition(int depth) {
    constexpr BinaryOp kCompare[] = {BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt,
                                     BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne};
    if (depth > 0 && pick(4) == 0)
      return tir::binary(pick(2) ? BinaryOp::And : BinaryOp::Or, condition(depth - 1),
                         condition(depth - 1));
    if (depth > 0 && pick(6) == 0) return tir::unary(tir::UnaryOp::Not, condition(depth - 1));
    const DataType type = any_type();
    const int d = depth > 0 ? depth - 1 : 0;
    return tir::binary(kCompare[pick(type == DataType::Float32 ? 4 : 6)], expr(type, d),
                       expr(type, d));
  }

  tir::FuncBuilder f_;
  std::mt19937 random_;
  std::vector<tir::BufferId> inputs_, outputs_;
  tir::BufferId scalar_;
  bool has_scalar_ = false;
  Expr i_;
  std::vector<Expr> vars_;
};

std::vector<std::vector<uint8_t>> random_memory(std::mt19937& random) {
  std::vector<std::vector<uint8_t>> memory;
  for (int copy = 0; copy < 2; ++copy)
    for (const DataType type : kTypes) {
      std::vector<uint8_t> bytes(static_cast<size_t>(byte_size(type, {kElements})));
      for (int64_t i = 0; i < kElements; ++i) {
        testing::Scalar value{type};
        value.i = static_cast<int64_t>(random() % 256) - (is_signed(type) ? 128 : 0);
        value.f = static_cast<float>(value.i) * 0.25f;
        testing::store_element(bytes, i, value);
      }
      memory.push_back(std::move(bytes));
    }
  return memory;
}

// void call_<func>(void **p) { m_<func>(p[0], p[1], ...); }
std::string trampoline(const std::string& func) {
  std::vector<std::string> pointers;
  for (int i = 0; i < 16; ++i) pointers.push_back(fmt::format("p[{}]", i));
  return fmt::format("void call_{0}(void **p);\nvoid call_{0}(void **p) {{\n  m_{0}({1});\n}}\n",
                     func, fmt::join(pointers, ", "));
}

// What compilers object to whatever the casts: operations on constants that overflow (the builders
// leave them alone), and in gcc the sign of a bitwise operation with a negative constant.
bool compilers_object(const tir::Func& func) {
  const auto is_constant = [](const Expr& e) {
    return std::holds_alternative<tir::IntImm>(e->node);
  };
  const auto is_negative = [](const Expr& e) {
    const auto* imm = std::get_if<tir::IntImm>(&e->node);
    return imm != nullptr && imm->value < 0;
  };
  bool found = false;
  tir::walk(
      func.body, [](const tir::StmtNode&) {},
      [&](const tir::ExprNode& e) {
        if (const auto* n = std::get_if<tir::Binary>(&e.node)) {
          found |= is_constant(n->lhs) && (is_constant(n->rhs) || n->op == BinaryOp::Shl);
          found |= n->op == BinaryOp::Or && is_negative(n->rhs);
        }
        if (const auto* n = std::get_if<tir::Unary>(&e.node)) found |= is_constant(n->operand);
      });
  return found;
}

struct Trial {
  size_t func;
  std::vector<std::vector<uint8_t>> before, after;
};

// Inputs for which the function does nothing undefined, with the interpreter's results.
std::vector<Trial> defined_trials(const tir::Module& module, size_t func, std::mt19937& random) {
  std::vector<Trial> trials;
  for (int n = 0; n < 6; ++n) {
    Trial trial{func, random_memory(random), {}};
    trial.after = trial.before;
    const std::vector<std::span<uint8_t>> arguments(trial.after.begin(), trial.after.end());
    if (testing::TirInterpreter(module).run(module.funcs[func].name, arguments).ok())
      trials.push_back(std::move(trial));
  }
  return trials;
}

TEST(CRandom, CompiledTextEqualsTheInterpreter) {
  std::mt19937 random(11);
  tir::Module module;
  std::string text = testing::kPrologue;
  std::vector<Trial> trials;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    module.funcs.push_back(Generator(fmt::format("f{}", seed), seed).make());
    std::vector<Trial> defined = defined_trials(module, module.funcs.size() - 1, random);
    if (compilers_object(module.funcs.back()) || defined.empty()) {
      module.funcs.pop_back();
      continue;
    }
    std::move(defined.begin(), defined.end(), std::back_inserter(trials));
    const auto emitted = emit_c_function(module, module.funcs.back(), {"m_", {}});
    ASSERT_TRUE(emitted.ok()) << emitted.error().to_string();
    text += *emitted + trampoline(module.funcs.back().name);
  }
  EXPECT_GT(trials.size(), 500u) << "too few programs were free of overflow";
  // Random conditions need not make sense.
  const std::string flags = std::string(testing::kFlags) + " -Wno-tautological-overlap-compare";
  for (const std::string& compiler : testing::c_compilers()) {
    const testing::CProgram program(compiler, text, flags);
    ASSERT_TRUE(program.ok()) << compiler << ":\n" << program.errors();
    for (const Trial& trial : trials) {
      const tir::Func& func = module.funcs[trial.func];
      auto actual = trial.before;
      std::vector<void*> pointers;
      for (auto& bytes : actual) pointers.push_back(bytes.data());
      program.find<void(void**)>("call_" + func.name)(pointers.data());
      ASSERT_EQ(actual, trial.after) << compiler << "\n" << *emit_c_function(module, func, {});
    }
  }
}

}  // namespace
}  // namespace intarsia::emission
