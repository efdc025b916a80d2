// Loops whose iterations are computed side by side give what they give one after the other.
#include <gtest/gtest.h>

#include "engine/compile_function.h"
#include "engine/execute.h"
#include "engine/lane_loops.h"
#include "intarsia/plugin/tir_build.h"
#include "support/kernel_functions.h"
#include "support/random_operator.h"

namespace intarsia::testing {
namespace {

using namespace tir;
using Bytes = std::vector<uint8_t>;

// What the interpreter says: the buffers afterwards, or nothing where it met something undefined.
std::optional<std::vector<Bytes>> interpreted(const Module& module, std::vector<Bytes> buffers) {
  TirInterpreter interpreter(module);
  define_kernels(interpreter);
  std::vector<std::span<uint8_t>> arguments(buffers.begin(), buffers.end());
  if (!interpreter.run(module.funcs[0].name, arguments).ok()) return std::nullopt;
  return buffers;
}

std::vector<Bytes> executed(const Module& module, std::vector<Bytes> buffers) {
  engine::FunctionTable table(module, [](const std::string&) { return nullptr; });
  const auto code = table.compiled(module.funcs[0].name);
  EXPECT_TRUE(code.ok()) << code.error().to_string();
  std::vector<uint8_t*> addresses;
  for (Bytes& buffer : buffers) addresses.push_back(buffer.data());
  engine::Executor().run(**code, addresses);
  return buffers;
}

size_t lane_loops(const Module& module) {
  return engine::choose_lane_loops(module.funcs[0], module.funcs[0].body).size();
}

Module module_of(Func func) {
  Module module;
  module.funcs.push_back(std::move(func));
  return module;
}

Bytes counted(size_t bytes, int step) {
  Bytes values(bytes);
  for (size_t i = 0; i < bytes; ++i) values[i] = static_cast<uint8_t>(static_cast<int>(i) * step);
  return values;
}

// A function with an input and an output of 200 elements, whose body `make` writes.
struct Written {
  FuncBuilder f{"written"};
  BufferId in = f.parameter("in", DataType::Int8, {200}, Access::Read);
  BufferId out = f.parameter("out", DataType::Int8, {200}, Access::ReadWrite);

  Expr read(BufferId buffer, Expr at) { return cast(DataType::Int32, f.load(buffer, {at})); }
  Stmt write(Expr at, Expr value) { return f.store(out, {at}, cast(DataType::Int8, value)); }
  void expect_equal(Stmt body, size_t loops) {
    const Module module = module_of(f.finish(std::move(body)));
    EXPECT_EQ(lane_loops(module), loops) << print(module);
    const std::vector<Bytes> buffers = {counted(200, 7), counted(200, 3)};
    const auto expected = interpreted(module, buffers);
    ASSERT_TRUE(expected.has_value());
    EXPECT_EQ(executed(module, buffers), *expected) << print(module);
  }
};

TEST(LaneLoops, OfElementsGoSideBySide) {
  Written w;
  w.expect_equal(w.f.loop("i", int_imm(0), int_imm(200),
                          [&](Expr i) { return w.write(i, w.read(w.in, i) * 3 + i); }),
                 1);
}

TEST(LaneLoops, OfASumThatGoesOnDoNot) {
  Written w;
  w.expect_equal(w.f.loop("i", int_imm(1), int_imm(200),
                          [&](Expr i) { return w.write(i, w.read(w.out, i - 1) + 1); }),
                 0);
}

TEST(LaneLoops, ThatWriteWhereALaterOneReadsDoNot) {
  Written w;
  w.expect_equal(w.f.loop("i", int_imm(0), int_imm(199),
                          [&](Expr i) { return w.write(i, w.read(w.out, i + 1)); }),
                 0);
}

TEST(LaneLoops, ThatWriteOneElementDoNot) {
  Written w;
  w.expect_equal(w.f.loop("i", int_imm(0), int_imm(200),
                          [&](Expr i) { return w.write(int_imm(5), w.read(w.in, i)); }),
                 0);
}

TEST(LaneLoops, ReverseOrderIsKept) {
  Written w;
  w.expect_equal(w.f.loop("i", int_imm(0), int_imm(200),
                          [&](Expr i) { return w.write(int_imm(199) - i, w.read(w.in, i)); }),
                 1);
}

TEST(LaneLoops, RowsOfSeveralElementsDoNotMeet) {
  Written w;
  w.expect_equal(w.f.loop("i", int_imm(0), int_imm(50),
                          [&](Expr i) {
                            return w.f.loop("j", int_imm(0), int_imm(4), [&](Expr j) {
                              return w.write(i * 4 + j, w.read(w.in, i * 4 + j) - j);
                            });
                          }),
                 1);
}

TEST(LaneLoops, RowsThatMeetAreWrittenInTheirOrder) {
  Written w;
  // Columns of one row may go side by side, rows may not: each is five wide and begins four further.
  w.expect_equal(w.f.loop("i", int_imm(0), int_imm(39),
                          [&](Expr i) {
                            return w.f.loop("j", int_imm(0), int_imm(5), [&](Expr j) {
                              return w.write(i * 4 + j, w.read(w.in, i) + j * 5);
                            });
                          }),
                 1);
}

TEST(LaneLoops, AccumulatorsAreEachIterationsOwn) {
  Written w;
  const BufferId acc = w.f.register_("acc", DataType::Int32);
  w.expect_equal(w.f.loop("i", int_imm(0), int_imm(100),
                          [&](Expr i) {
                            const Stmt begin = w.f.store(acc, {}, i);
                            const Stmt sum = w.f.loop("k", int_imm(0), int_imm(3), [&](Expr k) {
                              return w.f.store(acc, {}, w.f.load(acc, {}) + w.read(w.in, i + k));
                            });
                            return seq({begin, sum, w.write(i, w.f.load(acc, {}))});
                          }),
                 1);
}

TEST(LaneLoops, SumsOfAllIterationsAreOneNumber) {
  for (const BinaryOp op : {BinaryOp::Add, BinaryOp::Min, BinaryOp::Max}) {
    Written w;
    const BufferId acc = w.f.register_("acc", DataType::Int32);
    w.expect_equal(seq({w.f.store(acc, {}, int_imm(-3)),
                        w.f.loop("i", int_imm(0), int_imm(200),
                                 [&](Expr i) {
                                   return w.f.store(acc, {},
                                                    binary(op, w.f.load(acc, {}), w.read(w.in, i)));
                                 }),
                        w.write(int_imm(0), w.f.load(acc, {}))}),
                   1);
  }
}

TEST(LaneLoops, AValueFromTheIterationBeforeIsKept) {
  Written w;
  const BufferId last = w.f.register_("last", DataType::Int32);
  w.expect_equal(
      seq({w.f.store(last, {}, int_imm(9)),
           w.f.loop(
               "i", int_imm(0), int_imm(200),
               [&](Expr i) {
                 return seq({w.write(i, w.f.load(last, {})), w.f.store(last, {}, w.read(w.in, i))});
               })}),
      0);
}

// Floats are added in the order of the text: another order is another sum.
TEST(LaneLoops, SumsOfFloatsKeepTheirOrder) {
  FuncBuilder f("sums");
  const BufferId in = f.parameter("in", DataType::Float32, {300}, Access::Read);
  const BufferId out = f.parameter("out", DataType::Float32, {1}, Access::Write);
  const BufferId acc = f.register_("acc", DataType::Float32);
  const Module module = module_of(f.finish(
      seq({f.store(acc, {}, float_imm(0.1f)),
           f.loop("i", int_imm(0), int_imm(300),
                  [&](Expr i) { return f.store(acc, {}, f.load(acc, {}) + f.load(in, {i})); }),
           f.store(out, {int_imm(0)}, f.load(acc, {}))})));
  EXPECT_EQ(lane_loops(module), 1u);
  std::vector<Bytes> buffers = {Bytes(1200), Bytes(4)};
  Random random(1);
  for (size_t i = 0; i < 300; ++i) {
    const float value = random.real(-1e3f, 1e3f) * (i % 7 == 0 ? 1e4f : 1e-3f);
    std::memcpy(&buffers[0][4 * i], &value, 4);
  }
  EXPECT_EQ(executed(module, buffers), *interpreted(module, buffers));
}

// Where the output may lie on the input, everything is read before its place is written.
TEST(LaneLoops, InPlaceIsExact) {
  FuncBuilder f("in_place");
  const BufferId in = f.parameter("in", DataType::Int8, {300}, Access::Read);
  const BufferId out = f.parameter("out", DataType::Int8, {300}, Access::Write);
  Func func = f.finish(f.loop("i", int_imm(0), int_imm(300), [&](Expr i) {
    return f.store(out, {i}, cast(DataType::Int8, cast(DataType::Int32, f.load(in, {i})) * 5 - i));
  }));
  func.in_place.push_back({0, 1});
  const Module module = module_of(std::move(func));
  const auto expected = interpreted(module, {counted(300, 11), Bytes(300)});
  Bytes shared = counted(300, 11);
  engine::FunctionTable table(module, [](const std::string&) { return nullptr; });
  engine::Executor().run(**table.compiled("in_place"),
                         std::vector<uint8_t*>{shared.data(), shared.data()});
  EXPECT_EQ(shared, (*expected)[1]);
}

// Random nests on two buffers, with accumulators, variables, conditions, and indices that may or may not meet.
class RandomNest {
 public:
  explicit RandomNest(uint32_t seed) : random_(seed) {}

  Module make() {
    in_ = f_.parameter("in", DataType::Int8, {4, 6, 40}, Access::Read);
    out_ = f_.parameter("out", DataType::Int8, {4, 6, 40}, Access::ReadWrite);
    for (int i = 0; i < 3; ++i)
      registers_.push_back(f_.register_("acc" + std::to_string(i), DataType::Int32));
    std::vector<Stmt> body;
    for (const BufferId acc : registers_) body.push_back(f_.store(acc, {}, int_imm(1)));
    body.push_back(nest(static_cast<int>(random_.range(1, 3))));
    body.push_back(nest(1));
    return module_of(f_.finish(seq(std::move(body))));
  }

 private:
  Stmt nest(int depth) {
    const int64_t most[] = {4, 6, 40};
    const int64_t end = random_.range(1, most[random_.range(0, 2)]);
    return f_.loop("i", int_imm(random_.range(0, 1)), int_imm(end), [&](Expr i) {
      loops_.push_back(i);
      ends_.push_back(end);
      std::vector<Stmt> body;
      for (int64_t n = random_.range(1, 3); n > 0; --n) body.push_back(statement());
      if (depth > 1) body.push_back(nest(depth - 1));
      if (random_.chance(60)) body.push_back(statement());
      loops_.pop_back();
      ends_.pop_back();
      return seq(std::move(body));
    });
  }

  Stmt statement() {
    if (random_.chance(15))
      return f_.let("v", value(1), [&](Expr v) {
        loops_.push_back(v);
        ends_.push_back(kUnknownEnd);
        Stmt inner = statement();
        loops_.pop_back();
        ends_.pop_back();
        return inner;
      });
    if (random_.chance(15)) return if_then(condition(), statement(), nullptr);
    const BufferId acc = random_.pick(registers_);
    if (random_.chance(10)) return f_.store(acc, {}, value(1));
    if (random_.chance(15)) return f_.store(acc, {}, f_.load(acc, {}) + narrow(value(1)));
    return f_.store(out_, indices(), cast(DataType::Int8, value(2)));
  }

  Expr narrow(Expr e) { return cast(DataType::Int32, cast(DataType::Int8, e)); }

  // Mostly a loop's own variable, where it stays inside; now and then anything, so that iterations meet.
  std::vector<Expr> indices() {
    std::vector<Expr> all;
    for (const int64_t extent : {4, 6, 40}) {
      const size_t loop = static_cast<size_t>(random_.range(0, std::ssize(loops_) - 1));
      const int64_t factor = random_.range(1, 3), more = random_.range(0, 2);
      if (random_.chance(85) && (ends_[loop] - 1) * factor + more < extent)
        all.push_back(loops_[loop] * factor + more);
      else
        all.push_back(random_.chance(40) ? max(int_imm(0), min(value(1), int_imm(extent - 1)))
                                         : int_imm(random_.range(0, extent - 1)));
    }
    return all;
  }

  Expr value(int depth) {
    if (depth == 0)
      return random_.chance(80) ? random_.pick(loops_) : int_imm(random_.range(-4, 9));
    switch (random_.range(0, 8)) {
      case 0:
        return narrow(value(depth - 1)) * random_.range(-3, 3);
      case 1:
        return value(depth - 1) - value(depth - 1);
      case 2:
        return cast(DataType::Int32, f_.load(in_, indices()));
      case 3:
        return cast(DataType::Int32, f_.load(out_, indices()));
      case 4:
        return narrow(f_.load(random_.pick(registers_), {}));
      case 5:
        return select(condition(), value(depth - 1), value(depth - 1));
      case 6:
        return binary(random_.chance(50) ? BinaryOp::Mod : BinaryOp::Div, value(depth - 1),
                      int_imm(random_.range(1, 5)));
      case 7:
        return random_.chance(50) ? min(value(depth - 1), value(depth - 1))
                                  : max(value(depth - 1), value(depth - 1));
      default:
        return value(depth - 1) + value(depth - 1);
    }
  }

  Expr condition() {
    return binary(random_.chance(50) ? BinaryOp::Lt : BinaryOp::Ne, value(1), value(1));
  }

  FuncBuilder f_{"nest"};
  Random random_;
  BufferId in_, out_;
  std::vector<BufferId> registers_;
  static constexpr int64_t kUnknownEnd = 1000;
  std::vector<Expr> loops_;    // and variables
  std::vector<int64_t> ends_;  // of their values
};

TEST(LaneLoops, RandomNestsEqualTheInterpreter) {
  size_t compared = 0, with_lanes = 0;
  for (uint32_t seed = 1; seed <= 6000; ++seed) {
    const Module module = RandomNest(seed).make();
    const std::vector<Bytes> buffers = {counted(960, 37), counted(960, 11)};
    const auto expected = interpreted(module, buffers);
    if (!expected) continue;  // left a buffer, or overflowed
    ++compared;
    with_lanes += lane_loops(module) > 0 ? 1 : 0;
    ASSERT_EQ(executed(module, buffers), *expected) << "seed " << seed << "\n" << print(module);
  }
  EXPECT_GT(compared, 1500u);
  EXPECT_GT(with_lanes, 400u);
}

}  // namespace
}  // namespace intarsia::testing
