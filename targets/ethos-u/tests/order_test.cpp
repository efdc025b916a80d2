// The order of a program's operations, and other ways to walk over the memory of one: neither changes any result.
#include "legalise/order.h"

#include <gtest/gtest.h>

#include "graph_maker.h"
#include "hardware/hardware.h"
#include "legalise/interleave.h"
#include "program_interpreter.h"
#include "schedule/views.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using targets::ethos_u::choose_order;
using targets::ethos_u::interleave_chains;
using targets::ethos_u::NpuTensor;
using targets::ethos_u::Operand;
using targets::ethos_u::Operation;
using targets::ethos_u::OperationKind;

// Operations that are told apart by their names; what they compute is of no account.
class Ordered {
 public:
  int32_t tensor(NpuTensor::Kind kind, int32_t elements) {
    NpuTensor made;
    made.kind = kind;
    made.extent = {1, 1, elements};
    program_.tensors.push_back(made);
    return static_cast<int32_t>(program_.tensors.size()) - 1;
  }
  void operation(const std::string& name, int32_t from, int32_t to, int32_t other = -1) {
    Operation made;
    made.kind = other < 0 ? OperationKind::AveragePool : OperationKind::Add;
    made.node = name;
    made.kernel = {.height = 3, .width = 3};  // its result takes nobody's place
    made.ifm = whole(from), made.ofm = whole(to);
    if (other >= 0) made.ifm2 = whole(other);
    program_.operations.push_back(made);
  }
  // Makes a part of `to`, from that element on.
  void part(const std::string& name, int32_t from, int32_t to, int32_t first) {
    operation(name, from, to);
    Operand& made = program_.operations.back().ofm;
    made.origin.depth = first;
    made.extent = program_.tensors[static_cast<size_t>(from)].extent;
  }
  Program& program() { return program_; }
  std::string turns() {
    interleave_chains(program_);
    std::string names;
    for (const Operation& op : program_.operations) names += op.node;
    return names;
  }
  std::string order(bool may_make_parts_early = true) {
    choose_order(program_, may_make_parts_early);
    std::string names;
    for (const Operation& op : program_.operations) names += op.node;
    return names;
  }

 private:
  Operand whole(int32_t id) const {
    return {.tensor = id, .extent = program_.tensors[static_cast<size_t>(id)].extent};
  }
  Program program_;
};

constexpr auto kIn = NpuTensor::Kind::Input, kInner = NpuTensor::Kind::Inner,
               kOut = NpuTensor::Kind::Output;

// Two products of the input, each read by one step: the second is made when the first has been read.
TEST(Order, WhatIsLargerIsMadeRightBeforeItIsRead) {
  Ordered steps;
  const int32_t x = steps.tensor(kIn, 8), y = steps.tensor(kOut, 8);
  const int32_t first = steps.tensor(kInner, 64), second = steps.tensor(kInner, 64);
  const int32_t state = steps.tensor(kInner, 8), next = steps.tensor(kInner, 8);
  steps.operation("a", x, first);
  steps.operation("b", x, second);
  steps.operation("c", first, state);
  steps.operation("d", state, next);
  steps.operation("e", next, y, second);
  EXPECT_EQ(steps.order(), "acdbe");
}

// What would have to stay for it takes more than it takes itself.
TEST(Order, WhatIsSmallerIsMadeAtOnce) {
  Ordered steps;
  const int32_t x = steps.tensor(kIn, 8), y = steps.tensor(kOut, 8);
  const int32_t large = steps.tensor(kInner, 64), small = steps.tensor(kInner, 8);
  const int32_t other = steps.tensor(kInner, 16), third = steps.tensor(kInner, 16);
  steps.operation("a", x, large);
  steps.operation("b", large, small);
  steps.operation("c", x, other);
  steps.operation("d", other, third);
  steps.operation("e", third, y, small);
  EXPECT_EQ(steps.order(), "abcde");
}

// A sequence of which three products are made, each smaller than the sequence, which has to stay for the last of them: together they
// take more than it does. A second layer of an unrolled network is such.
TEST(Order, WhatHasToStayIsWorthItForAllTogether) {
  Ordered steps;
  const int32_t x = steps.tensor(kIn, 8), y = steps.tensor(kOut, 8);
  const int32_t sequence = steps.tensor(kInner, 64);
  steps.operation("a", x, sequence);
  int32_t products[3];
  for (const int step : {0, 1, 2}) {
    products[step] = steps.tensor(kInner, 48);
    steps.operation(std::string(1, static_cast<char>('b' + step)), sequence, products[step]);
  }
  const int32_t first = steps.tensor(kInner, 8), second = steps.tensor(kInner, 8);
  steps.operation("e", products[0], first);
  steps.operation("f", first, second, products[1]);
  steps.operation("g", second, y, products[2]);
  EXPECT_EQ(steps.order(), "abecfdg");
}

// Where the peak is elsewhere, nothing is gained.
TEST(Order, StaysWhereItNeedsNoMoreMemory) {
  Ordered steps;
  const int32_t x = steps.tensor(kIn, 8), y = steps.tensor(kOut, 8);
  const int32_t early = steps.tensor(kInner, 16), state = steps.tensor(kInner, 8);
  const int32_t high = steps.tensor(kInner, 400), low = steps.tensor(kInner, 8);
  steps.operation("a", x, early);
  steps.operation("b", x, state);
  steps.operation("c", state, low);
  steps.operation("d", low, y, early);
  const int32_t z = steps.tensor(kOut, 8);
  steps.operation("e", x, high);
  steps.operation("f", high, z);
  EXPECT_EQ(steps.order(false), "abcdef");
}

// A shortcut that is smaller than what it is made from, behind a branch whose maps are the largest: twice, with the same peak.
TEST(Order, WhatIsSmallerIsMadeBeforeThePeak) {
  Ordered steps;
  const int32_t x = steps.tensor(kIn, 8), y = steps.tensor(kOut, 8), z = steps.tensor(kOut, 8);
  for (const int32_t out : {y, z}) {
    const bool is_first = out == y;
    const int32_t large = steps.tensor(kInner, 64), shortcut = steps.tensor(kInner, 16);
    const int32_t one = steps.tensor(kInner, 128), other = steps.tensor(kInner, 128);
    steps.operation(is_first ? "a" : "A", x, large);
    steps.operation(is_first ? "b" : "B", large, one);
    steps.operation(is_first ? "c" : "C", one, other);
    steps.operation(is_first ? "d" : "D", large, shortcut);
    steps.operation(is_first ? "e" : "E", other, out, shortcut);
  }
  EXPECT_EQ(steps.order(), "adbceADBCE");
}

// The same where the branch is no larger than what comes later.
TEST(Order, WhatIsSmallerStaysBehindWhereThePeakIsElsewhere) {
  Ordered steps;
  const int32_t x = steps.tensor(kIn, 8), y = steps.tensor(kOut, 8), z = steps.tensor(kOut, 8);
  const int32_t large = steps.tensor(kInner, 64), shortcut = steps.tensor(kInner, 16);
  const int32_t one = steps.tensor(kInner, 128), other = steps.tensor(kInner, 128);
  const int32_t high = steps.tensor(kInner, 400);
  steps.operation("a", x, large);
  steps.operation("b", large, one);
  steps.operation("c", one, other);
  steps.operation("d", large, shortcut);
  steps.operation("e", other, y, shortcut);
  steps.operation("f", x, high);
  steps.operation("g", high, z);
  EXPECT_EQ(steps.order(false), "abcdefg");
}

// Two chains of three, whose ends are added. `other` elements are taken somewhere else, if any.
std::string turns_of_chains(int32_t elements, int32_t other, NpuTensor::Kind last = kInner) {
  Ordered steps;
  const int32_t x = steps.tensor(kIn, 32), y = steps.tensor(kOut, elements);
  int32_t ends[2];
  for (const int chain : {0, 1}) {
    const int32_t first = steps.tensor(kInner, 4 * elements),
                  second = steps.tensor(kInner, elements);
    ends[chain] = steps.tensor(chain == 0 ? last : kInner, elements);
    steps.operation(chain == 0 ? "a" : "A", x, first);
    steps.operation(chain == 0 ? "b" : "B", first, second);
    steps.operation(chain == 0 ? "c" : "C", second, ends[chain]);
  }
  if (last == NpuTensor::Kind::State)
    steps.program().tensors[static_cast<size_t>(ends[0])].is_kept = true;
  steps.operation("d", ends[0], y, ends[1]);
  if (other > 0) {
    const int32_t large = steps.tensor(kInner, other), z = steps.tensor(kOut, 16);
    steps.operation("e", x, large);
    steps.operation("f", large, z);
  }
  return steps.turns();
}

TEST(Turns, ChainsRunBetweenEachOther) {
  const std::string order = turns_of_chains(32, 4000);
  for (const char* pair : {"ab", "bc", "AB", "BC"})
    EXPECT_EQ(order.find(pair), std::string::npos) << order;
  for (const char* chain : {"abcd", "ABCd"})
    for (size_t i = 0; i + 1 < 4; ++i)
      EXPECT_LT(order.find(chain[i]), order.find(chain[i + 1])) << order;
}

// The two large ones would be there at once.
TEST(Turns, TakeNoMoreMemory) {
  const auto second_is_early = [](const std::string& order) {
    return order.find('A') < order.find('b');
  };
  EXPECT_TRUE(second_is_early(turns_of_chains(32, 4000)));
  EXPECT_FALSE(second_is_early(turns_of_chains(32, 0)));
}

// It takes longer than its results take to be there.
TEST(Turns, AreForShortOperations) {
  EXPECT_EQ(turns_of_chains(1024, 400000), "abcABCdef");
}

TEST(Turns, NothingPassesWhatIsKept) {
  const std::string order = turns_of_chains(32, 4000, NpuTensor::Kind::State);
  EXPECT_LT(order.find('c'), order.find('A')) << order;
}

// Rows of `b` take the place of those of `a` as they are made: nobody who reads `a` comes between them.
TEST(Turns, NothingComesBetweenRowsThatReplaceOthers) {
  Ordered steps;
  const int32_t x = steps.tensor(kIn, 32), y = steps.tensor(kOut, 32), z = steps.tensor(kOut, 32);
  const int32_t a = steps.tensor(kInner, 32), wide = steps.tensor(kInner, 32);
  const int32_t b = steps.tensor(kInner, 32), other = steps.tensor(kInner, 32);
  steps.operation("a", x, a);
  for (int row = 0; row < 2; ++row) {
    steps.operation("b", a, wide);
    steps.operation("b", wide, b);
  }
  steps.operation("c", a, other);
  steps.operation("d", other, y);
  steps.operation("e", b, z);
  const int32_t large = steps.tensor(kInner, 4000), w = steps.tensor(kOut, 32);
  steps.operation("f", x, large);
  steps.operation("g", large, w);
  steps.program().tensors[static_cast<size_t>(b)].may_replace = {a};
  EXPECT_NE(steps.turns().find("bbbb"), std::string::npos);
}

// What is left for the next run lies where others read what the last one left, maybe under another name.
TEST(Order, NothingPassesWhatIsKept) {
  Ordered steps;
  const int32_t x = steps.tensor(kIn, 8), y = steps.tensor(kOut, 8);
  const int32_t old = steps.tensor(NpuTensor::Kind::State, 8),
                kept = steps.tensor(NpuTensor::Kind::State, 8);
  const int32_t first = steps.tensor(kInner, 64), second = steps.tensor(kInner, 64);
  steps.program().tensors[static_cast<size_t>(kept)].is_kept = true;
  steps.operation("a", x, first);
  steps.operation("b", old, second);
  steps.operation("c", first, kept);
  steps.operation("d", x, y, second);
  EXPECT_EQ(steps.order(), "abcd");
}

// Parts of one tensor are written in the order in which they stand: windows of others may reach into them.
TEST(Order, WritersOfOneTensorStayInOrder) {
  Ordered steps;
  const int32_t x = steps.tensor(kIn, 8), y = steps.tensor(kOut, 8);
  const int32_t joined = steps.tensor(kInner, 64), other = steps.tensor(kInner, 64);
  steps.operation("a", x, joined);
  steps.operation("b", x, joined);
  steps.operation("c", x, other);
  steps.operation("d", x, y, other);
  const int32_t z = steps.tensor(kOut, 8);
  steps.operation("e", joined, z);
  EXPECT_EQ(steps.order(), "abecd");  // the last one lets go of the parts
}

// A chain of which all are joined behind it at a scale in common, as converters write it: the last one is made where it is joined, and
// the others are copied there.
Ordered chain_that_is_joined() {
  Ordered steps;
  constexpr int32_t kPart = 64, kCopies = 3;
  int32_t from = steps.tensor(kIn, 8);
  const int32_t y = steps.tensor(kOut, 8), joined = steps.tensor(kInner, (kCopies + 1) * kPart);
  std::vector<int32_t> copied;
  for (const char* name : {"a", "b", "c"}) {
    copied.push_back(steps.tensor(kInner, kPart));
    steps.operation(name, from, copied.back());
    from = copied.back();
  }
  steps.part("d", from, joined, kCopies * kPart);
  for (int32_t i = 0; i < kCopies; ++i)
    steps.part(std::string(1, static_cast<char>('A' + i)), copied[static_cast<size_t>(i)], joined,
               i * kPart);
  steps.operation("y", joined, y);
  return steps;
}

TEST(Order, PartsAreMadeAsSoonAsNobodyElseReadsWhatTheyCopy) {
  Ordered steps = chain_that_is_joined();
  EXPECT_EQ(steps.order(), "abAcBdCy");
  EXPECT_TRUE(steps.program().parts_are_early);
  Ordered as_it_stands = chain_that_is_joined();
  EXPECT_EQ(as_it_stands.order(false), "abcdABCy");
  EXPECT_FALSE(as_it_stands.program().parts_are_early);
}

// Branches that are joined: of a small map behind the first layer, and of a pool of the large one, which makes as much as it reads. The
// large one need not stay beside what is joined, when the pool's branch comes first.
TEST(Order, BranchesComeEarlyWithAllThatIsTheirs) {
  const auto branches = [](bool may_make_parts_early) {
    Ordered steps;
    const int32_t x = steps.tensor(kIn, 8), y = steps.tensor(kOut, 8);
    const int32_t large = steps.tensor(kInner, 64), small = steps.tensor(kInner, 16);
    const int32_t pooled = steps.tensor(kInner, 64), joined = steps.tensor(kInner, 64);
    steps.operation("a", x, large);
    steps.operation("b", large, small);
    const auto to_part = [&](const char* name, int32_t from, int32_t part) {
      steps.operation(name, from, joined);
      Operand& made = steps.program().operations.back().ofm;
      made.origin.depth = 16 * part, made.extent.depth = 16;
    };
    to_part("c", small, 0), to_part("d", small, 1), to_part("e", small, 2);
    steps.operation("p", large, pooled);
    to_part("f", pooled, 3);
    steps.operation("y", joined, y);
    const std::string order = steps.order(may_make_parts_early);
    EXPECT_EQ(steps.program().parts_are_early, may_make_parts_early);
    return order;
  };
  EXPECT_EQ(branches(true), "abpfcdey");
  EXPECT_EQ(branches(false), "abcdepfy");
}

// The whole of what they are joined to would be there beside what is the largest anyway.
TEST(Order, PartsStayWhereTheyAreWhereThatTakesNoLess) {
  Ordered steps;
  const int32_t x = steps.tensor(kIn, 8), y = steps.tensor(kOut, 8);
  const int32_t one = steps.tensor(kInner, 16), large = steps.tensor(kInner, 200);
  const int32_t other = steps.tensor(kInner, 16), joined = steps.tensor(kInner, 32);
  steps.operation("a", x, one);
  steps.operation("b", one, large);
  steps.operation("c", large, other);
  steps.part("A", one, joined, 0);
  steps.part("B", other, joined, 16);
  steps.operation("y", joined, y);
  EXPECT_EQ(steps.order(), "abcABy");
  EXPECT_FALSE(steps.program().parts_are_early);
}

// Every operation of random sums and products walked over in every other way, one way at a time.
TEST(Views, GiveTheSameResults) {
  const targets::ethos_u::Hardware& hardware = targets::ethos_u::hardware_named("ethos-u55-128");
  testing::Random random(5);
  int flat = 0;
  for (int round = 0; round < 60; ++round) {
    const DataType type = kTypes[round % 2];
    const Shape shape = {1, random.range(1, 6), random.range(1, 40), random.range(17, 48)};
    Graph g;
    const graph::TensorId a = g.input(type, shape, 0.01f, zero_for(random, type));
    const graph::TensorId b = g.input(type, shape, 0.017f, zero_for(random, type));
    constexpr OpKind kKinds[] = {OpKind::Add, OpKind::Sub, OpKind::Mul};
    const auto y = g.node(kKinds[round % 3], graph::BinaryAttrs{}, {a, b}, 1, type,
                          type == DataType::Int8 ? 0.02f : 0.03f, zero_for(random, type));
    const graph::Module module = g.finish(y);
    const Program program = targets::ethos_u::legalise(module, module.entry_function());
    const auto inputs = testing::random_inputs(random, module);
    const auto expected = graph::Evaluator(module).run(inputs);
    ASSERT_TRUE(expected.ok());
    for (size_t i = 0; i < program.operations.size(); ++i)
      for (const Operation& view :
           targets::ethos_u::other_views(hardware, program, program.operations[i])) {
        flat += view.ofm.extent.depth == 16 ? 1 : 0;
        Program other = program;
        other.operations[i] = view;
        const std::vector<std::string> wrong = violations(other);
        ASSERT_TRUE(wrong.empty()) << wrong[0] << "\n" << print(other);
        std::vector<std::string> seen;
        EXPECT_EQ(execute(other, inputs, &seen), *expected) << print(other);
        EXPECT_TRUE(seen.empty()) << seen[0] << "\n" << print(other);
      }
  }
  EXPECT_GT(flat, 40);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
