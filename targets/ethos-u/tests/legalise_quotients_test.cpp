// Quotients of two activations.
#include <cmath>

#include <gtest/gtest.h>

#include "graph_maker.h"
#include "support/rounds.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;
using testing::Random;
using testing::rounds;

constexpr graph::Activation kActivationsOfQuotients[] = {
    graph::Activation::None, graph::Activation::Relu, graph::Activation::Relu6};

// A quotient of one step by one is so many steps of the result.
struct QuotientScales {
  float a, b, out;
  static QuotientScales of(Random& random, float steps) {
    const float a = random.real(0.001f, 0.1f), b = random.real(0.001f, 0.1f);
    return {a, b, a / b / steps};
  }
};

// Every pair of operands, from quotients that are nothing to those that are beyond the range, and with zero points at the ends.
TEST(Quotients, OfEveryPairOfBytes) {
  Random random(71);
  const auto [first, second] = every_pair_of_bytes();
  const auto zero = [&] { return random.pick<int64_t>({-128, 127, 0, random.range(-127, 126)}); };
  for (int i = 0; i < rounds(12) && !::testing::Test::HasFailure(); ++i) {
    const float exact = std::ldexp(1.0f, static_cast<int>(random.range(-3, 9)));
    const QuotientScales s =
        QuotientScales::of(random, random.chance(40) ? exact : std::exp(random.real(-3.0f, 7.0f)));
    Graph g;
    const TensorId x = g.input(DataType::Int8, {256, 256}, s.a, zero());
    const TensorId y = g.input(DataType::Int8, {256, 256}, s.b, zero());
    const graph::Module module = g.finish(
        g.node(OpKind::Div, graph::BinaryAttrs{kActivationsOfQuotients[random.range(0, 2)]}, {x, y},
               1, DataType::Int8, s.out, zero()));
    ASSERT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]), "")
        << graph::print(module);
    expect_same(module, {first, second});
  }
}

// One table is enough as a rule: its factors for the divisors, the numerators on 32 bits, their products. Where the scales'
// quotient is a power of two, halves are not rounded to the same side everywhere.
TEST(Quotients, OfBytesTakeThreeOperations) {
  const auto count = [](float steps) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, {1, 64, 16}, 0.03125f, -128);
    const TensorId y = g.input(DataType::Int8, {1, 64, 1}, 0.0625f, -128);
    return operation_count(g.finish(
        g.node(OpKind::Div, graph::BinaryAttrs{}, {x, y}, 1, DataType::Int8, 0.5f / steps, -128)));
  };
  EXPECT_EQ(count(93.7f), 5u);  // two of these in bands of the rows
  EXPECT_GT(count(4.0f), 30u);
}

// A table of all quotients, of numerators and of divisors.
TEST(Quotients, OfAKnownNumber) {
  Random random(74);
  for (const bool divides : {false, true})
    for (const Shape& known : {Shape{}, Shape{1}, Shape{1, 1, 1}}) {
      const QuotientScales s = QuotientScales::of(random, divides ? 3000.0f : 90.0f);
      Graph g;
      const TensorId x = g.input(DataType::Int8, {1, 16, 16}, s.a, -9);
      const TensorId c = g.constant(random, DataType::Int8, known, {{s.b}, {-120}, 0});
      const graph::Module module = g.finish(
          g.node(OpKind::Div, graph::BinaryAttrs{graph::Activation::Relu},
                 divides ? std::vector{c, x} : std::vector{x, c}, 1, DataType::Int8, s.out, -128));
      EXPECT_EQ(operation_count(module), 1u);
      graph::TensorValue all(256);
      for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
      expect_same(module, {all});
    }
}

// Every divisor of 16 bits, by numerators from all of the range and those that have rooms of their own.
TEST(Quotients, OfInt16) {
  Random random(73);
  for (int i = 0; i < rounds(6) && !::testing::Test::HasFailure(); ++i) {
    const float exact = std::ldexp(1.0f, static_cast<int>(random.range(-14, 25)));
    const QuotientScales s = QuotientScales::of(
        random, random.chance(40) ? exact : std::exp(random.real(-12.0f, 18.0f)));
    Graph g;
    const TensorId x = g.input(DataType::Int16, {1, 64, 64, 16}, s.a, 0);
    const TensorId y = g.input(DataType::Int16, {1, 64, 64, 16}, s.b, 0);
    const graph::Module module = g.finish(
        g.node(OpKind::Div, graph::BinaryAttrs{kActivationsOfQuotients[random.range(0, 2)]}, {x, y},
               1, DataType::Int16, s.out, 0));
    ASSERT_EQ(refusal(module, module.entry_function(), module.entry_function().nodes[0]), "")
        << graph::print(module);
    graph::TensorValue numerators, divisors;
    const auto put = [](graph::TensorValue& to, int64_t value) {
      to.push_back(static_cast<uint8_t>(value));
      to.push_back(static_cast<uint8_t>(value >> 8));
    };
    for (int64_t divisor = -32768; divisor <= 32767; ++divisor) {
      const int64_t power = int64_t{1} << random.range(0, 15);
      put(numerators, random.pick<int64_t>({random.range(-32768, 32767), random.range(-40, 40),
                                            -power, std::min<int64_t>(power, 32767)}));
      put(divisors, random.chance(20) ? random.range(-3, 3) : divisor);
    }
    expect_same(module, {numerators, divisors});
  }
}

// By one number for each row, as attention without a softmax has it, and whatever else repeats.
TEST(Quotients, OfWhatRepeats) {
  Random random(72);
  const std::vector<std::pair<Shape, Shape>> cases = {{{1, 9, 11, 13}, {1, 9, 11, 1}},
                                                      {{1, 2, 60, 16}, {1, 2, 60, 1}},
                                                      {{60, 16}, {60, 1}},
                                                      {{1, 1, 1, 13}, {1, 9, 11, 13}},
                                                      {{2, 9, 11, 13}, {2, 1, 1, 13}},
                                                      {{2, 9, 11, 1}, {2, 9, 11, 13}},
                                                      {{2, 3, 5, 7}, {1}},
                                                      {{1, 9, 1, 4}, {1, 1, 6, 4}},
                                                      {{1, 1200}, {1, 1200}}};
  for (const DataType type : kTypes)
    for (const auto& [a, b] : cases) {
      const QuotientScales s = QuotientScales::of(random, type == DataType::Int8 ? 90.0f : 9000.0f);
      Graph g;
      const TensorId x = g.input(type, a, s.a, zero_for(random, type));
      const TensorId y = g.input(type, b, s.b, zero_for(random, type));
      expect_taken_and_same(random, g.finish(g.node(OpKind::Div, graph::BinaryAttrs{}, {x, y}, 1,
                                                    type, s.out, zero_for(random, type))));
    }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
