// The bounds proof: patterns that must be proven, accesses that must be refused (and how), and
// random loop nests in which whatever is proven is tried out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "intarsia/tir_build.h"
#include "support/tir_interpreter.h"

namespace intarsia::tir {
namespace {

using ::testing::HasSubstr;

Expr imm(int64_t value) {
  return int_imm(value);
}

struct Leaf {
  FuncBuilder f{"leaf"};
  Module module;

  std::string verified(Stmt body) {
    module.funcs.push_back(f.finish(std::move(body)));
    const auto result = verify(module);
    return result.ok() ? "" : result.error().to_string();
  }
};

Stmt touch(FuncBuilder& f, BufferId buffer, std::vector<Expr> indices) {
  return f.store(buffer, std::move(indices), int_imm(1, DataType::Int8));
}

TEST(Bounds, PaddedWindow) {
  for (const int64_t last : {3, 4}) {
    Leaf t;
    const BufferId in = t.f.parameter("in", DataType::Int8, {9, last}, Access::Write);
    const Stmt body = t.f.loop("oy", 5, [&](Expr oy) {
      return t.f.let("origin", oy * 2 - 1, [&](Expr origin) {
        return t.f.loop(
            "ky", max(imm(0), imm(0) - origin), min(imm(3), imm(9) - origin), [&](Expr ky) {
              return t.f.loop("c", 4, [&](Expr c) { return touch(t.f, in, {origin + ky, c}); });
            });
      });
    });
    EXPECT_EQ(t.verified(body), last == 4 ? ""
                                          : "function 'leaf': store %in[origin + ky, c]: dimension "
                                            "1 of extent 3: cannot prove c <= 2; bound the loops "
                                            "around it, or guard it with an if\n");
  }
}

TEST(Bounds, WindowWithoutItsClipIsRefused) {
  Leaf t;
  const BufferId in = t.f.parameter("in", DataType::Int8, {9}, Access::Write);
  const Stmt body = t.f.loop("oy", 5, [&](Expr oy) {
    return t.f.loop("ky", imm(0), min(imm(3), imm(10) - oy * 2),
                    [&](Expr ky) { return touch(t.f, in, {oy * 2 - 1 + ky}); });
  });
  EXPECT_THAT(t.verified(body), HasSubstr("cannot prove oy * 2 - 1 + ky >= 0"));
}

TEST(Bounds, GuardsOfDilatedWindows) {
  Leaf t;
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
  Leaf t;
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
  Leaf t;
  const BufferId out = t.f.parameter("out", DataType::Int8, {5}, Access::Write);
  const Stmt body = t.f.loop("i", 12, [&](Expr i) {
    const Expr outside =
        binary(BinaryOp::Or, binary(BinaryOp::Lt, i, imm(3)), binary(BinaryOp::Ge, i, imm(8)));
    return if_then(outside, seq({}), touch(t.f, out, {i - 3}));
  });
  EXPECT_EQ(t.verified(body), "");
}

TEST(Bounds, QuotientsAndRemainders) {
  Leaf t;
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
    Leaf t;
    const BufferId out = t.f.parameter("out", DataType::Int8, {3}, Access::Write);
    const Stmt body = t.f.loop("i", 15, [&](Expr i) {
      return touch(t.f, out, {binary(BinaryOp::Div, i - 7, imm(4)) + shift});
    });
    EXPECT_EQ(t.verified(body).empty(), shift == 1);
  }
}

TEST(Bounds, IndicesFromTables) {
  for (const uint8_t largest : {4, 5}) {
    Leaf t;
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
  Leaf t;
  const BufferId in = t.f.parameter("in", DataType::UInt8, {4}, Access::Read);
  const BufferId out = t.f.parameter("out", DataType::Int8, {256}, Access::Write);
  const BufferId small = t.f.parameter("small", DataType::Int8, {255}, Access::Write);
  const auto body = t.f.loop("i", 4, [&](Expr i) {
    const Expr index = cast(DataType::Int32, t.f.load(in, {i}));
    return seq({touch(t.f, out, {index}), touch(t.f, small, {min(index, imm(254))}),
                touch(t.f, small, {index})});
  });
  EXPECT_EQ(t.verified(body),
            "function 'leaf': store %small[i32(%in[i])]: dimension 0 of extent 255: cannot prove "
            "i32(%in[i]) <= 254; bound the loops around it, or guard it with an if\n");
}

TEST(Bounds, OverflowingIndexArithmeticIsNoProof) {
  Leaf t;
  const BufferId out = t.f.parameter("out", DataType::Int8, {4}, Access::Write);
  // Mathematically i * 2^30 * 4 - i * 2^32 is 0; in i32 it is undefined.
  const Stmt body = t.f.loop("i", 4, [&](Expr i) {
    return t.f.let("big", i * (1 << 30), [&](Expr big) {
      return touch(t.f, out, {i + (big - big)});  // folds
    });
  });
  EXPECT_EQ(t.verified(body), "");
  Leaf u;
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
    Leaf t;
    const BufferId in = t.f.parameter("in", DataType::Int8, {4, 10}, Access::Read);
    const Stmt body = t.f.loop("row", 4, [&](Expr row) {
      return intrinsic("use", {BufferRun{in, {row, imm(0)}, count, Access::Read}});
    });
    EXPECT_EQ(t.verified(body),
              count == 10 ? ""
                          : "function 'leaf': use: read %in[row, 0] count 11: cannot prove that 11 "
                            "elements from there end within the 40 of 'in'\n");
  }
}

TEST(Bounds, ShiftAmounts) {
  Leaf t;
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

class NestGenerator {
 public:
  explicit NestGenerator(uint32_t seed) : f_("nest"), random_(seed) {}

  Module make() {
    Module module;
    tir::Constant table{"table", DataType::Int8, {5}, {}};
    for (int i = 0; i < 5; ++i) table.bytes.push_back(static_cast<uint8_t>(pick(9) - 2));
    module.constants.push_back(table);
    data_ = f_.parameter("data", DataType::Int8, {3}, Access::Read);
    const bool flat = pick(2);
    const Shape extents = flat ? Shape{2 + pick(30)} : Shape{1 + pick(9), 1 + pick(9)};
    out_ = f_.parameter("out", DataType::Int8, extents, Access::Write);
    table_ = f_.constant("lookup", DataType::Int8, {5}, ConstantId{0});
    extents_ = extents;
    module.funcs.push_back(f_.finish(nest(1 + pick(3))));
    return module;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  Stmt nest(int depth) {
    if (depth == 0) return access();
    const auto inner = [&](Expr value) {
      values_.push_back(value);
      Stmt body = nest(depth - 1);
      values_.pop_back();
      return body;
    };
    const Stmt made = f_.loop("i", bound(true), bound(false), [&](Expr i) {
      values_.push_back(i);
      Stmt body;
      switch (pick(4)) {
        case 0:
          body = f_.let("v", value(2), inner);
          break;
        case 1:
          body = if_then(condition(), nest(depth - 1), pick(3) ? nullptr : access());
          break;
        default:
          body = nest(depth - 1);
      }
      values_.pop_back();
      return body;
    });
    return made;
  }

  Expr affine() {
    Expr sum = imm(pick(7) - 2);
    for (const Expr& v : values_)
      if (pick(2)) sum = sum + v * (pick(5) - 2);
    return sum;
  }

  Expr bound(bool low) {
    if (values_.empty() || pick(2)) return imm(low ? pick(3) - 1 : 1 + pick(6));
    const Expr limit = imm(low ? 0 : 2 + pick(5));
    if (pick(5) == 0) return affine();
    return low ? max(limit, affine()) : min(limit, affine());
  }

  Expr value(int depth) {
    if (depth == 0) return values_.empty() || pick(6) == 0 ? imm(pick(6)) : any_value();
    const Expr a = value(depth - 1);
    switch (pick(12)) {
      case 0:
        return binary(BinaryOp::Div, a, imm(1 + pick(5)));
      case 1:
        return binary(BinaryOp::Mod, a, imm(1 + pick(5)));
      case 2:
        return binary(BinaryOp::Shr, a, imm(pick(3)));
      case 3:
        return binary(BinaryOp::And, a, imm(pick(8)));
      case 4:
        return min(a, value(depth - 1));
      case 5:
        return max(a, value(depth - 1));
      case 6:
        return select(condition(), a, value(depth - 1));
      case 7:
        return cast(DataType::Int32, f_.load(table_, {clamped(a, 5)}));
      case 8:
        return cast(DataType::Int32, f_.load(data_, {clamped(a, 3)}));
      case 9:
        return a * value(depth - 1);
      case 10:
        return cast(DataType::Int32, cast(DataType::UInt8, a));
      default:
        return pick(2) ? a + value(depth - 1) : a - value(depth - 1);
    }
  }

  Expr any_value() { return values_[static_cast<size_t>(pick(static_cast<int>(values_.size())))]; }
  Expr clamped(Expr e, int64_t extent) {
    return pick(4) ? max(imm(0), min(e, imm(extent - 1))) : e;
  }

  Expr condition() {
    constexpr BinaryOp kCompare[] = {BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt,
                                     BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne};
    const Expr compare =
        binary(kCompare[pick(6)], pick(2) ? affine() : value(1), pick(2) ? imm(pick(9)) : value(1));
    if (pick(3)) return compare;
    if (pick(3) == 0) return unary(UnaryOp::Not, compare);
    return binary(pick(2) ? BinaryOp::And : BinaryOp::Or, compare, condition());
  }

  Stmt access() {
    std::vector<Expr> indices;
    for (const int64_t extent : extents_)
      indices.push_back(pick(4) == 0 ? clamped(value(2), extent) : pick(2) ? affine() : value(2));
    if (pick(5) == 0)
      return intrinsic("fill", {BufferRun{out_, indices, 1 + pick(4), Access::Write}});
    return touch(f_, out_, indices);
  }

  FuncBuilder f_;
  std::mt19937 random_;
  BufferId data_, out_, table_;
  Shape extents_;
  std::vector<Expr> values_;
};

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
