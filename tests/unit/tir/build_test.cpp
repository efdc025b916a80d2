#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_walk.h"
#include "tir/fold.h"

namespace intarsia::tir {
namespace {

int64_t imm(const Expr& expr) {
  const auto* node = std::get_if<IntImm>(&expr->node);
  EXPECT_NE(node, nullptr) << "not folded to a constant";
  return node != nullptr ? node->value : INT64_MIN;
}

struct Var1 {
  FuncBuilder f{"f"};
  BufferId buffer;
  Expr x;
  explicit Var1(DataType type = DataType::Int32) {
    buffer = f.register_("x", type);
    x = f.load(buffer);
  }
};

TEST(Fold, ConstantsInTheArithmeticOfTheirType) {
  EXPECT_EQ(imm(int_imm(2) * 3 + 4), 10);
  EXPECT_EQ(imm(min(int_imm(3), int_imm(5))), 3);
  EXPECT_EQ(imm(int_imm(200, DataType::UInt8) + 100), 44);
  EXPECT_EQ(imm(int_imm(100, DataType::Int8) + 100), -56);
  EXPECT_EQ(imm(binary(BinaryOp::Shr, int_imm(-5), int_imm(1))), -3);
  EXPECT_EQ(imm(binary(BinaryOp::Mod, int_imm(-5), int_imm(3))), -2);
  EXPECT_EQ(imm(cast(DataType::Int8, int_imm(200))), -56);
  EXPECT_EQ(imm(binary(BinaryOp::Mul, int_imm(0xffffffff, DataType::UInt32),
                       int_imm(0xffffffff, DataType::UInt32))),
            1);
}

TEST(Fold, LeavesUndefinedOperationsAlone) {
  const auto is_binary = [](const Expr& e) { return std::holds_alternative<Binary>(e->node); };
  EXPECT_TRUE(is_binary(int_imm(std::numeric_limits<int32_t>::max()) + 1));
  EXPECT_TRUE(is_binary(int_imm(INT64_MAX, DataType::Int64) * 2));
  EXPECT_TRUE(is_binary(binary(BinaryOp::Div, int_imm(1), int_imm(0))));
  EXPECT_TRUE(is_binary(binary(BinaryOp::Shl, int_imm(1), int_imm(32))));
  EXPECT_TRUE(is_binary(binary(BinaryOp::Shl, int_imm(1), int_imm(31))));
  EXPECT_TRUE(std::holds_alternative<Unary>(
      unary(UnaryOp::Neg, int_imm(std::numeric_limits<int32_t>::min()))->node));
}

TEST(Fold, NeutralElementsDisappear) {
  const Var1 v;
  EXPECT_EQ(v.x + 0, v.x);
  EXPECT_EQ(int_imm(0) + v.x, v.x);
  EXPECT_EQ(v.x * 1, v.x);
  EXPECT_EQ(imm(v.x * 0), 0);
  EXPECT_EQ(imm(v.x - v.x), 0);
  EXPECT_EQ(min(v.x, v.x), v.x);
  EXPECT_EQ(v.x + 3 - 3, v.x);
  EXPECT_EQ(max(v.x, int_imm(std::numeric_limits<int32_t>::min())), v.x);
}

TEST(Fold, SumsKeepOnePositiveConstantAtTheEnd) {
  const Var1 v;
  const Expr sum = int_imm(3) + v.x - 5;
  const auto& node = std::get<Binary>(sum->node);
  EXPECT_EQ(node.op, BinaryOp::Sub);
  EXPECT_EQ(node.lhs, v.x);
  EXPECT_EQ(imm(node.rhs), 2);
}

TEST(Fold, FloatArithmeticStaysAsWritten) {
  const Var1 v(DataType::Float32);
  EXPECT_TRUE(std::holds_alternative<Binary>((v.x + float_imm(0.0f))->node));
  EXPECT_TRUE(std::holds_alternative<Binary>((float_imm(1.0f) + float_imm(2.0f))->node));
  EXPECT_EQ(std::get<FloatImm>(cast(DataType::Float32, int_imm(-7))->node).value, -7.0f);
}

TEST(Fold, CastsThatKeepTheValueVanish) {
  const Var1 v(DataType::Int8);
  EXPECT_EQ(cast(DataType::Int8, cast(DataType::Int32, v.x)), v.x);
  const Expr wide = cast(DataType::Int64, cast(DataType::Int32, v.x));
  EXPECT_EQ(std::get<Cast>(wide->node).operand, v.x);
  const Expr unsigned_way = cast(DataType::Int32, cast(DataType::UInt8, v.x));
  EXPECT_NE(std::get<Cast>(unsigned_way->node).operand, v.x);
}

TEST(Fold, SelectAndIfOfKnownConditions) {
  const Var1 v;
  EXPECT_EQ(select(binary(BinaryOp::Lt, int_imm(1), int_imm(2)), v.x, int_imm(0)), v.x);
  const Stmt a = seq({});
  const Stmt b = intrinsic("b", {});
  EXPECT_EQ(if_then(int_imm(0, DataType::Bool), a, b), b);
  EXPECT_EQ(if_then(int_imm(1, DataType::Bool), a, b), a);
}

// Every rule against plain evaluation: x op c1 op c2 for all values of an 8-bit x.
int64_t evaluate(const Expr& expr, int64_t x) {
  if (const auto* node = std::get_if<IntImm>(&expr->node)) return node->value;
  if (const auto* node = std::get_if<Binary>(&expr->node))
    return *fold(node->op, node->lhs->type, evaluate(node->lhs, x), evaluate(node->rhs, x));
  if (const auto* node = std::get_if<Unary>(&expr->node))
    return *fold(node->op, node->operand->type, evaluate(node->operand, x));
  return x;
}

TEST(Fold, AgreesWithStepByStepEvaluation) {
  constexpr BinaryOp kOps[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div,
                               BinaryOp::Mod, BinaryOp::Min, BinaryOp::Max, BinaryOp::And,
                               BinaryOp::Or,  BinaryOp::Xor, BinaryOp::Shl, BinaryOp::Shr};
  std::mt19937 random(7);
  for (const DataType type : {DataType::Int8, DataType::UInt8}) {
    const Var1 v(type);
    for (int trial = 0; trial < 4000; ++trial) {
      const BinaryOp op1 = kOps[random() % 12], op2 = kOps[random() % 12];
      int64_t c1 = wrap(type, random() % 4 != 0 ? random() % 9 - 4 : random());
      int64_t c2 = wrap(type, random() % 4 != 0 ? random() % 9 - 4 : random());
      const auto sane = [](BinaryOp op, int64_t c) {
        if (op == BinaryOp::Div || op == BinaryOp::Mod) return c > 0;
        if (op == BinaryOp::Shl || op == BinaryOp::Shr) return c >= 0 && c < 8;
        return true;
      };
      if (!sane(op1, c1) || !sane(op2, c2)) continue;
      const bool swap = random() % 2 != 0 && (op2 == BinaryOp::Sub || op2 == BinaryOp::Min);
      const Expr inner = binary(op1, v.x, int_imm(c1, type));
      const Expr built =
          swap ? binary(op2, int_imm(c2, type), inner) : binary(op2, inner, int_imm(c2, type));
      for (int64_t x = min_value(type); x <= max_value(type); ++x) {
        const int64_t step = *fold(op1, type, x, c1);
        const int64_t expected = swap ? *fold(op2, type, c2, step) : *fold(op2, type, step, c2);
        ASSERT_EQ(evaluate(built, x), expected)
            << "op" << int(op1) << " " << c1 << " then op" << int(op2) << " " << c2 << " of " << x;
      }
    }
  }
}

TEST(FuncBuilder, MakesNamesUniqueAndKeepsParametersFirst) {
  FuncBuilder f("conv");
  const BufferId input = f.parameter("input", DataType::Int8, {4}, Access::Read);
  const BufferId twin = f.local("input", DataType::Int32, {4});
  const Stmt a = f.loop("i", 4, [&](Expr i) { return f.store(input, {i}, f.load(input, {i})); });
  const Stmt b = f.loop("i", 1, [&](Expr i) {
    EXPECT_EQ(imm(i), 0);
    return f.let("register", f.load(twin, {i}), [&](Expr r) { return f.store(twin, {i}, r); });
  });
  const Func func = f.finish(seq({a, b}));
  EXPECT_EQ(func.buffers[1].name, "input_2");
  EXPECT_EQ(func.buffers[1].alignment, 4);
  ASSERT_EQ(func.vars.size(), 2u);
  EXPECT_EQ(func.vars[0].name, "i");
  EXPECT_EQ(func.vars[1].name, "register_2");
  EXPECT_EQ(std::get<Seq>(func.body->node).statements.size(), 2u);
}

TEST(Seq, FlattensUnlessCommented) {
  const Stmt one = intrinsic("a", {}), two = intrinsic("b", {});
  EXPECT_EQ(seq({one}), one);
  EXPECT_EQ(std::get<Seq>(seq({one, seq({two, one}), nullptr})->node).statements.size(), 3u);
  const Stmt commented = with_comment("why", seq({two, one}));
  EXPECT_EQ(std::get<Seq>(seq({one, commented})->node).statements.size(), 2u);
}

// Operands of intrinsics are rewritten like all expressions; a statement in which nothing changes stays the same one.
TEST(Rewrite, ReachesTheOperandsOfIntrinsics) {
  FuncBuilder f("kernel");
  const BufferId in = f.parameter("in", DataType::Int8, {16}, Access::Read);
  const auto use = [&](int64_t start, int64_t value) {
    return intrinsic("use", {BufferRun{in, {int_imm(start)}, 4, Access::Read}, int_imm(value)});
  };
  const auto with = [](int64_t from, int64_t to) {
    return [=](const Expr& e) {
      const auto* number = std::get_if<IntImm>(&e->node);
      return number != nullptr && number->value == from ? int_imm(to) : e;
    };
  };
  const Stmt stmt = use(3, 7);
  EXPECT_TRUE(equal(rewrite(stmt, with(7, 8)), use(3, 8)));
  EXPECT_TRUE(equal(rewrite(stmt, with(3, 5)), use(5, 7)));
  EXPECT_EQ(rewrite(stmt, with(1, 2)), stmt);
}

// Streams of commands are long: they are copied where a number changes, and not else.
TEST(RenameBuffers, CopiesWhatChangesItsNumberAlone) {
  Var1 it;
  const Stmt stmt = it.f.store(it.buffer, {}, int_imm(1));
  EXPECT_EQ(rename_buffers(stmt, {it.buffer}), stmt);
  EXPECT_EQ(rename_buffers(stmt, {BufferId{}}), stmt);
  const Stmt moved = rename_buffers(stmt, {BufferId{3}});
  ASSERT_NE(moved, stmt);
  EXPECT_EQ(std::get<Store>(moved->node).buffer, BufferId{3});
}

}  // namespace
}  // namespace intarsia::tir
