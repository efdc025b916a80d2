// A grid of operators on both sides of what is supported. What the support table refuses is refused for its reason, or,
// where that is asked for, taken in other operators and said so; what it supports is taken, or refused for a reason that
// this list knows. All that is taken is compiled and computed within the tolerance of the kind.
#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_operators.h"
#include "program/tables.h"
#include "support/support.h"

namespace intarsia::test::ethos_n {
namespace {

using graph::OpKind;
using intarsia::testing::Random;

// What this compiler does not make though the stack does (docs/ethos-n.md).
constexpr const char* kNotMade[] = {"no stripe of it fits into the",
                                    "is a constant",
                                    "the multiplication kernel takes products for unsigned",
                                    "this compiler has no layers for",
                                    "corners are aligned",
                                    "half pixel centres of an image",
                                    "weights of one output channel are above",
                                    "which this compiler walks only for convolutions",
                                    "is finer than the operand's",
                                    "the convolution it becomes has padding of",
                                    "makes its image larger",
                                    "is above"};

struct Tally {
  int asked = 0, supported = 0, taken = 0, rewritten = 0, exact = 0;
};

class Grid : public ::testing::Test {
 protected:
  void ask(const graph::Module& module, size_t variant, uint32_t seed) {
    const Result<void> good = graph::verify(module);
    ASSERT_TRUE(good.ok()) << good.error().to_string() << graph::print(module);
    const graph::Node& node = module.entry_function().nodes.at(0);
    Tally& tally = tallies_[node.kind];
    ++tally.asked;
    const std::optional<std::string> refused = targets::ethos_n::refuses_by_support(
        targets::ethos_n::variants()[variant], module, module.entry_function(), node);
    Random random(seed);
    const bool rewrites = tally.asked % 2 == 0;
    const std::string target = std::string(kTags[variant]) + (rewrites ? kRewriting : "");
    const Comparison result =
        run_one(module, target, intarsia::testing::random_inputs(random, module));
    const auto told = [&] { return target + ": " + result.refusal + "\n" + graph::print(module); };
    ASSERT_EQ(result.problem, "") << told();
    tally.supported += refused ? 0 : 1;
    if (result.kind != graph::to_string(node.kind)) {
      EXPECT_TRUE(result.taken || !rewrites) << told();
      EXPECT_EQ(result.most, 0) << told();
      return;
    }
    if (refused && result.taken) {
      EXPECT_TRUE(rewrites) << told();
      ++tally.rewritten;
      EXPECT_EQ(result.note, "in operators that the stack has; as it is, " + *refused) << told();
    } else if (refused) {
      EXPECT_EQ(result.refusal, *refused) << told();
      return;
    }
    if (!result.taken) {
      EXPECT_TRUE(std::any_of(std::begin(kNotMade), std::end(kNotMade), [&](const char* words) {
        return result.refusal.find(words) != std::string::npos;
      })) << told();
      return;
    }
    ++tally.taken;
    tally.exact += result.most == 0 ? 1 : 0;
    const bool moves = node.kind == OpKind::Reshape || node.kind == OpKind::Concat ||
                       node.kind == OpKind::Split || node.kind == OpKind::MaxPool2d ||
                       node.kind == OpKind::DepthToSpace || node.kind == OpKind::SpaceToDepth ||
                       node.kind == OpKind::Pack || node.kind == OpKind::Unpack ||
                       node.kind == OpKind::Slice || node.kind == OpKind::Transpose ||
                       node.kind == OpKind::Maximum || node.kind == OpKind::Minimum;
    ASSERT_LE(result.most, moves ? 0 : 1) << told();
  }

  void TearDown() override {
    for (const auto& [kind, tally] : tallies_)
      std::printf(
          "%-18s %5d asked, %5d supported, %5d taken, %5d of them in other operators, %5d exact\n",
          std::string(graph::to_string(kind)).c_str(), tally.asked, tally.supported, tally.taken,
          tally.rewritten, tally.exact);
  }

  std::map<OpKind, Tally> tallies_;
};

TEST_F(Grid, Windows) {
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 10};
  constexpr int64_t kImages[][3] = {{9, 12, 3},  {16, 15, 17}, {8, 8, 40},
                                    {21, 7, 16}, {7, 7, 33},   {33, 34, 5}};
  Random random(31);
  size_t turn = 0;
  for (const OpKind kind :
       {OpKind::Conv2d, OpKind::DepthwiseConv2d, OpKind::MaxPool2d, OpKind::AveragePool2d})
    for (const int64_t kernel_h : kSizes)
      for (const int64_t kernel_w : kSizes)
        for (const int64_t stride : {1, 2, 3})
          for (const bool same : {false, true}) {
            const bool is_square = kernel_h == kernel_w;
            if (!is_square && (kind != OpKind::Conv2d || stride == 3)) continue;
            for (const auto& [height, width, channels] : kImages) {
              if (kernel_h > height || kernel_w > width) continue;
              const size_t variant = turn++ % std::size(kTags);
              if (INTARSIA_GRID_SHARE > 1 && (turn * 2654435761u >> 8) % INTARSIA_GRID_SHARE != 0)
                continue;
              ask(windowed(random, kind,
                           {height, width, channels, 18, kernel_h, stride, same, kernel_w}),
                  variant, 3);
              if (HasFatalFailure()) return;
            }
          }
  for (const OpKind kind : {OpKind::Conv2d, OpKind::DepthwiseConv2d})
    EXPECT_GT(tallies_[kind].taken, 0) << graph::to_string(kind);
}

struct Unary {
  OpKind kind;
  Shape in, out;
  graph::Attributes attributes;
};

graph::Attributes pool_of(int64_t size, int64_t stride, const graph::Padding2d& padding) {
  graph::Pool2dAttrs attributes;
  attributes.filter_h = attributes.filter_w = size;
  attributes.stride_h = attributes.stride_w = stride;
  attributes.padding = padding;
  return attributes;
}
graph::Attributes nearest_of(int64_t height, int64_t width, bool half_pixel_centers) {
  graph::ResizeAttrs attributes;
  attributes.height = height, attributes.width = width;
  attributes.half_pixel_centers = half_pixel_centers;
  return attributes;
}
graph::Attributes mean_of() {
  graph::ReduceAttrs attributes;
  attributes.axes = {1, 2};
  attributes.keep_dims = true;
  return attributes;
}

// Shapes that chance seldom meets.
TEST_F(Grid, Shapes) {
  graph::ReduceAttrs to_scalar;
  to_scalar.axes = {0};
  std::vector<Unary> all = {{OpKind::Mean, {6}, {}, to_scalar}};
  for (const int64_t channels : {1, 15, 16, 17, 48, 130}) {
    for (const int64_t size : {6, 7, 8, 9})
      all.push_back({OpKind::Mean, {1, size, size, channels}, {1, 1, 1, channels}, mean_of()});
    all.push_back({OpKind::AveragePool2d,
                   {1, 13, 9, channels},
                   {1, 13, 9, channels},
                   pool_of(3, 1, {1, 1, 1, 1})});
    for (const int64_t size : {12, 13, 32, 33}) {
      all.push_back({OpKind::MaxPool2d,
                     {1, size, size, channels},
                     {1, size / 2, size / 2, channels},
                     pool_of(2, 2, {})});
      all.push_back({OpKind::MaxPool2d,
                     {1, size, size, channels},
                     {1, (size - 1) / 2, (size - 1) / 2, channels},
                     pool_of(3, 2, {})});
      graph::Padding2d behind;
      behind.bottom = behind.right = 1;
      all.push_back({OpKind::MaxPool2d,
                     {1, size, size, channels},
                     {1, size / 2, size / 2, channels},
                     pool_of(3, 2, behind)});
    }
    all.push_back({OpKind::DepthToSpace,
                   {1, 5, 7, 4 * channels},
                   {1, 10, 14, channels},
                   graph::BlockAttrs{2}});
    all.push_back({OpKind::DepthToSpace,
                   {1, 40, 3, 4 * channels},
                   {1, 80, 6, channels},
                   graph::BlockAttrs{2}});
    for (const bool half : {false, true})
      for (const int64_t height : {10, 9})
        for (const int64_t width : {14, 13, 15})
          all.push_back({OpKind::ResizeNearest,
                         {1, 5, 7, channels},
                         {1, height, width, channels},
                         nearest_of(height, width, half)});
  }
  for (const Unary& one : all)
    for (size_t variant = 0; variant < std::size(kTags); ++variant) {
      if (INTARSIA_GRID_SHARE > 1 &&
          variant != static_cast<size_t>(&one - all.data()) % std::size(kTags))
        continue;
      Made made;
      const graph::TensorId in = made.tensor("in", one.in, 0.05f, -3),
                            out = made.tensor("out", one.out, 0.05f, -3);
      made.main().nodes = {{one.kind, "node", one.attributes, {in}, {out}, ""}};
      made.main().inputs = {in};
      made.main().outputs = {out};
      ask(made.module, variant, 5);
      if (HasFatalFailure()) return;
    }
  for (const OpKind kind : {OpKind::Mean, OpKind::AveragePool2d, OpKind::MaxPool2d,
                            OpKind::ResizeNearest, OpKind::DepthToSpace})
    EXPECT_GT(tallies_[kind].taken, 0) << graph::to_string(kind);
}

TEST_F(Grid, RandomOperators) {
  for (const OpKind kind : {OpKind::Conv2d,
                            OpKind::DepthwiseConv2d,
                            OpKind::TransposeConv2d,
                            OpKind::FullyConnected,
                            OpKind::MaxPool2d,
                            OpKind::AveragePool2d,
                            OpKind::Mean,
                            OpKind::Add,
                            OpKind::Mul,
                            OpKind::Logistic,
                            OpKind::Tanh,
                            OpKind::LeakyRelu,
                            OpKind::Relu,
                            OpKind::Quantize,
                            OpKind::Pad,
                            OpKind::ResizeNearest,
                            OpKind::ResizeBilinear,
                            OpKind::Reshape,
                            OpKind::Concat,
                            OpKind::Split,
                            OpKind::DepthToSpace,
                            OpKind::SpaceToDepth,
                            OpKind::Sub,
                            OpKind::Maximum,
                            OpKind::Minimum,
                            OpKind::Pack,
                            OpKind::Unpack,
                            OpKind::Slice,
                            OpKind::Transpose}) {
    Random random(static_cast<uint32_t>(kind) + 77);
    for (int i = 0; i < 640 / INTARSIA_GRID_SHARE; ++i) {
      const graph::Module module = intarsia::testing::random_operator(random, kind, DataType::Int8);
      ask(module, static_cast<size_t>(i) % std::size(kTags), static_cast<uint32_t>(i));
      if (HasFatalFailure()) return;
    }
  }
  for (const OpKind kind : {OpKind::FullyConnected, OpKind::Add, OpKind::Relu, OpKind::LeakyRelu,
                            OpKind::Logistic, OpKind::Reshape})
    EXPECT_GT(tallies_[kind].taken, 0) << graph::to_string(kind);
}

}  // namespace
}  // namespace intarsia::test::ethos_n
