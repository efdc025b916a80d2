// The bounds proof: patterns that must be proven, accesses that must be refused (and how), and
// random loop nests in which whatever is proven is tried out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <limits>
#include <random>

#include "intarsia/plugin/tir_build.h"
#include "random_nest.h"
#include "support/tir_interpreter.h"

namespace intarsia::tir {
namespace {

using ::testing::HasSubstr;

struct Kernel {
  FuncBuilder f{"kernel"};
  Module module;

  std::string verified(Stmt body) {
    module.funcs.push_back(f.finish(std::move(body)));
    const auto result = verify(module);
    return result.ok() ? "" : result.error().to_string();
  }
};

TEST(Bounds, PaddedWindow) {
  for (const int64_t last : {3, 4}) {
    Kernel t;
    const BufferId in = t.f.parameter("in", DataType::Int8, {9, last}, Access::Write);
    const Stmt body = t.f.loop("oy", 5, [&](Expr oy) {
      return t.f.let("origin", oy * 2 - 1, [&](Expr origin) {
        return t.f.loop(
            "ky", max(imm(0), imm(0) - origin), min(imm(3), imm(9) - origin), [&](Expr ky) {
              return t.f.loop("c", 4, [&](Expr c) { return touch(t.f, in, {origin + ky, c}); });
            });
      });
    });
    EXPECT_EQ(t.verified(body), last == 4
                                    ? ""
                                    : "function 'kernel': store %in[origin + ky, c]: dimension "
                                      "1 of extent 3: cannot prove c <= 2; bound the loops "
                                      "around it, or guard it with an if\n");
  }
}

TEST(Bounds, WindowWithoutItsClipIsRefused) {
  Kernel t;
  const BufferId in = t.f.parameter("in", DataType::Int8, {9}, Access::Write);
  const Stmt body = t.f.loop("oy", 5, [&](Expr oy) {
    return t.f.loop("ky", imm(0), min(imm(3), imm(10) - oy * 2),
                    [&](Expr ky) { return touch(t.f, in, {oy * 2 - 1 + ky}); });
  });
  EXPECT_THAT(t.verified(body), HasSubstr("cannot prove oy * 2 - 1 + ky >= 0"));
}

TEST(Bounds, GuardsOfDilatedWindows) {
  Kernel t;
  const BufferId in = t.f.parameter("in", DataType::Int8, {7}, Access::Write);
  const Stmt body = t.f.loop("ox", 7, [&](Expr ox) {
    return t.f.loop("k", 3, [&](Expr k) {
      return t.f.let("ix", ox - 2 + k * 2, [&](Expr ix) {
        return if_then(binary(BinaryOp::And, binary(BinaryOp::Ge, ix, imm(0)),
                              binary(BinaryOp::Lt, ix, imm(7))),
                       touch(t.f, in, {ix}));
      });
    });
  });
  EXPECT_EQ(t.verified(body), "");
}

TEST(Bounds, GuardInsideASelectOrAConjunction) {
  Kernel t;
  const BufferId in = t.f.parameter("in", DataType::Int8, {7}, Access::Read);
  const BufferId out = t.f.parameter("out", DataType::Int8, {9}, Access::Write);
  const Stmt body = t.f.loop("i", 9, [&](Expr i) {
    const Expr inside =
        binary(BinaryOp::And, binary(BinaryOp::Gt, i, imm(0)), binary(BinaryOp::Lt, i, imm(8)));
    const Expr value = t.f.load(in, {i - 1});
    const Expr positive =
        binary(BinaryOp::And, inside, binary(BinaryOp::Gt, value, int_imm(0, DataType::Int8)));
    return t.f.let("is_positive", positive, [&](Expr is_positive) {
      return t.f.store(out, {i}, select(is_positive, value, int_imm(0, DataType::Int8)));
    });
  });
  EXPECT_EQ(t.verified(body), "");
}

TEST(Bounds, ElseAndDisjunctionAreTheOpposite) {
  Kernel t;
  const BufferId out = t.f.parameter("out", DataType::Int8, {5}, Access::Write);
  const Stmt body = t.f.loop("i", 12, [&](Expr i) {
    const Expr outside =
        binary(BinaryOp::Or, binary(BinaryOp::Lt, i, imm(3)), binary(BinaryOp::Ge, i, imm(8)));
    return if_then(outside, seq({}), touch(t.f, out, {i - 3}));
  });
  EXPECT_EQ(t.verified(body), "");
}

TEST(Bounds, QuotientsAndRemainders) {
  Kernel t;
  const BufferId out = t.f.parameter("out", DataType::Int8, {6, 5, 4}, Access::Write);
  const BufferId flat = t.f.parameter("flat", DataType::Int8, {120}, Access::Write);
  const auto div = [](Expr a, int64_t b) { return binary(BinaryOp::Div, a, imm(b)); };
  const auto mod = [](Expr a, int64_t b) { return binary(BinaryOp::Mod, a, imm(b)); };
  const Stmt body = t.f.loop("i", 120, [&](Expr i) {
    return seq({touch(t.f, out, {div(i, 20), mod(div(i, 4), 5), mod(i, 4)}),
                touch(t.f, flat, {div(i, 7) * 7 + mod(i, 7)}),
                touch(t.f, flat,
                      {binary(BinaryOp::Shr, i, imm(3)) * 8 + binary(BinaryOp::And, i, imm(7))})});
  });
  EXPECT_EQ(t.verified(body), "");
}

TEST(Bounds, QuotientRoundsTowardZero) {
  // (i - 7) / 4 is -1, 0, 1: with floor it would begin at -2.
  for (const int64_t shift : {0, 1}) {
    Kernel t;
    const BufferId out = t.f.parameter("out", DataType::Int8, {3}, Access::Write);
    const Stmt body = t.f.loop("i", 15, [&](Expr i) {
      return touch(t.f, out, {binary(BinaryOp::Div, i - 7, imm(4)) + shift});
    });
    EXPECT_EQ(t.verified(body).empty(), shift == 1);
  }
}

// The remainder is at least zero, and less than the divisor.
TEST(Bounds, WhatAQuotientLeaves) {
  for (const int64_t extent : {20, 19}) {
    Kernel t;
    const BufferId out = t.f.parameter("out", DataType::Int8, {extent}, Access::Write);
    const Stmt body = t.f.loop("i", 120, [&](Expr i) {
      return touch(t.f, out, {i - binary(BinaryOp::Div, i, imm(20)) * 20});
    });
    EXPECT_EQ(t.verified(body).empty(), extent == 20);
  }
}

TEST(Bounds, ANegatedIndexRunsBackwards) {
  for (const int64_t extent : {5, 4}) {
    Kernel t;
    const BufferId out = t.f.parameter("out", DataType::Int8, {extent}, Access::Write);
    const Stmt body =
        t.f.loop("i", 5, [&](Expr i) { return touch(t.f, out, {unary(UnaryOp::Neg, i) + 4}); });
    EXPECT_EQ(t.verified(body).empty(), extent == 5);
  }
}

// What cannot be negated or made positive is not proven, and breaks nothing.
TEST(Bounds, TheLeastIntegerAsACoefficient) {
  Kernel t;
  const BufferId out = t.f.parameter("out", DataType::Int8, {5}, Access::Write);
  const Stmt body = t.f.loop("i", 3, [&](Expr i) {
    const Expr least = int_imm(std::numeric_limits<int64_t>::min(), DataType::Int64);
    return touch(t.f, out, {cast(DataType::Int64, i) * least});
  });
  EXPECT_FALSE(t.verified(body).empty());
}

TEST(Bounds, IndicesFromTables) {
  for (const uint8_t largest : {4, 5}) {
    Kernel t;
    t.module.constants.push_back({"table", DataType::UInt8, {4}, {0, 2, largest, 1}});
    const BufferId out = t.f.parameter("out", DataType::Int8, {5}, Access::Write);
    const BufferId table = t.f.constant("lookup", DataType::UInt8, {4}, ConstantId{0});
    const Stmt body = t.f.loop("i", 4, [&](Expr i) {
      return touch(t.f, out, {cast(DataType::Int32, t.f.load(table, {i}))});
    });
    EXPECT_EQ(t.verified(body).empty(), largest == 4);
  }
}

TEST(Bounds, LoadedIndicesAreUnknown) {
  Kernel t;
  const BufferId in = t.f.parameter("in", DataType::UInt8, {4}, Access::Read);
  const BufferId out = t.f.parameter("out", DataType::Int8, {256}, Access::Write);
  const BufferId small = t.f.parameter("small", DataType::Int8, {255}, Access::Write);
  const auto body = t.f.loop("i", 4, [&](Expr i) {
    const Expr index = cast(DataType::Int32, t.f.load(in, {i}));
    return seq({touch(t.f, out, {index}), touch(t.f, small, {min(index, imm(254))}),
                touch(t.f, small, {index})});
  });
  EXPECT_EQ(t.verified(body),
            "function 'kernel': store %small[i32(%in[i])]: dimension 0 of extent 255: cannot prove "
            "i32(%in[i]) <= 254; bound the loops around it, or guard it with an if\n");
}

TEST(Bounds, OverflowingIndexArithmeticIsNoProof) {
  Kernel t;
  const BufferId out = t.f.parameter("out", DataType::Int8, {4}, Access::Write);
  // Mathematically i * 2^30 * 4 - i * 2^32 is 0; in i32 it is undefined.
  const Stmt body = t.f.loop("i", 4, [&](Expr i) {
    return t.f.let("big", i * (1 << 30), [&](Expr big) {
      return touch(t.f, out, {i + (big - big)});  // folds
    });
  });
  EXPECT_EQ(t.verified(body), "");
  Kernel u;
  u.f.parameter("out", DataType::Int8, {4}, Access::Write);
  const Stmt kept = u.f.loop("i", 4, [&](Expr i) {
    return u.f.let("big", i * (1 << 30), [&](Expr big) {
      return touch(u.f, out, {binary(BinaryOp::Shr, big, imm(30))});
    });
  });
  EXPECT_THAT(u.verified(kept), HasSubstr("cannot prove"));
}

TEST(Bounds, RunsEndWithinTheBuffer) {
  for (const int64_t count : {10, 11}) {
    Kernel t;
    const BufferId in = t.f.parameter("in", DataType::Int8, {4, 10}, Access::Read);
    const Stmt body = t.f.loop("row", 4, [&](Expr row) {
      return intrinsic("use", {BufferRun{in, {row, imm(0)}, count, Access::Read}});
    });
    EXPECT_EQ(t.verified(body),
              count == 10
                  ? ""
                  : "function 'kernel': use: read %in[row, 0] count 11: cannot prove that 11 "
                    "elements from there end within the 40 of 'in'\n");
  }
}

TEST(Bounds, ShiftAmounts) {
  Kernel t;
  const BufferId in = t.f.parameter("in", DataType::Int32, {1}, Access::Read);
  const BufferId out = t.f.parameter("out", DataType::Int32, {1}, Access::Write);
  const Expr amount = t.f.load(in, {imm(0)});
  const auto shifted = [&](Expr by) {
    return t.f.store(out, {imm(0)}, binary(BinaryOp::Shr, t.f.load(in, {imm(0)}), by));
  };
  const std::string problems =
      t.verified(seq({shifted(binary(BinaryOp::And, amount, imm(31))), shifted(amount)}));
  EXPECT_THAT(problems, HasSubstr("amount of a shift: cannot prove %in[0] >= 0"));
  EXPECT_EQ(std::count(problems.begin(), problems.end(), '\n'), 1);
}

// ---- random nests
// --------------------------------------------------------------------------------

TEST(Bounds, WhateverIsProvenNeverLeavesItsBuffer) {
  int proven = 0, harmless = 0;
  std::mt19937 random(3);
  for (uint32_t seed = 0; seed < 10000; ++seed) {
    const Module module = NestGenerator(seed).make();
    const bool yes = verify(module).ok();
    intarsia::testing::TirInterpreter interpreter(module);
    interpreter.define_intrinsic("fill", [](auto&) {});
    bool fine = true;
    for (int trial = 0; trial < 3; ++trial) {
      std::vector<uint8_t> data(3), out(static_cast<size_t>(module.funcs[0].buffers[1].bytes()));
      for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
      const auto result = interpreter.run("nest", {data, out});
      if (result.ok()) continue;
      const std::string what = result.error().items()[0].what;
      const bool left =
          what.find("outside") != std::string::npos || what.find("leaves") != std::string::npos;
      ASSERT_FALSE(yes && left) << "seed " << seed << ": " << what;
      fine &= !left;
    }
    proven += yes;
    harmless += fine;
  }
  EXPECT_GT(proven, 3000);
  EXPECT_GT(proven * 100, harmless * 60) << "of " << harmless << " proven " << proven;
  std::cout << proven << " of " << harmless << " harmless nests proven\n";
}

}  // namespace
}  // namespace intarsia::tir
