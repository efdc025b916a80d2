// Which operators become one layer, and which do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/layers/layer.h"
#include "support/parsed.h"

namespace intarsia::layers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A library that takes everything, or all but some layers.
Library library(std::function<Reason(const Layer&)> refuses = nullptr) {
  if (!refuses) refuses = [](const Layer&) -> Reason { return std::nullopt; };
  return {"some", std::move(refuses)};
}

// Layers as their operators, "a+b".
std::vector<std::string> fused(const Library& library, const std::string& tensors,
                               const std::string& outputs, const std::string& nodes) {
  const graph::Module module = test::parsed_graph(
      "intarsia.graph m\nconst @0 w = x\"0000803f000080bf\"\nfunc @main(%0, %1) -> (" + outputs +
      ") {\n  %0 a: f32[3,1]\n  %1 b: f32[3,2]\n  %2 w: f32[2,1] = @0\n" + tensors + nodes +
      "}\nentry @main\n");
  const graph::Function& function = module.entry_function();
  std::vector<std::string> names;
  for (const LayerOfNodes& layer : fused_layers(library, function)) {
    std::string name;
    for (const graph::NodeId id : layer.nodes)
      name += (name.empty() ? "" : "+") + function.nodes[id.at()].name;
    names.push_back(name);
  }
  return names;
}

constexpr const char* kThree = "  %3 x: f32[3,2]\n  %4 y: f32[3,2]\n  %5 z: f32[3,2]\n";
constexpr const char* kProduct = "  fully_connected p(%0, %2) -> (%3)\n";

TEST(FusedLayers, FunctionsAndSumsBecomePartOfTheProductBeforeThem) {
  EXPECT_THAT(fused(library(), kThree, "%5",
                    std::string(kProduct) + "  add s(%1, %3) -> (%4)\n  tanh t(%4) -> (%5)\n"),
              ElementsAre("p+s+t"));
  EXPECT_THAT(fused(library(), kThree, "%5",
                    std::string(kProduct) + "  tanh t(%3) -> (%4)\n  add s(%4, %1) -> (%5)\n"),
              ElementsAre("p+t+s"));
}

TEST(FusedLayers, AResultThatSomebodyElseReadsStays) {
  EXPECT_THAT(fused(library(), kThree, "%3, %5",
                    std::string(kProduct) + "  tanh t(%3) -> (%4)\n  abs u(%4) -> (%5)\n"),
              ElementsAre("p", "t+u"));
  EXPECT_THAT(fused(library(), kThree, "%4, %5",
                    std::string(kProduct) + "  tanh t(%3) -> (%4)\n  abs u(%3) -> (%5)\n"),
              ElementsAre("p", "t", "u"));
  EXPECT_THAT(fused(library(), kThree, "%4", std::string(kProduct) + "  add s(%3, %3) -> (%4)\n"),
              ElementsAre("p", "s"));
}

TEST(FusedLayers, ASumIsOfOneShape) {
  EXPECT_THAT(fused(library(), "  %3 x: f32[3,2]\n  %4 y: f32[3,2]\n", "%4",
                    std::string(kProduct) + "  add s(%3, %0) -> (%4)\n"),
              ElementsAre("p", "s"));
}

TEST(FusedLayers, OfTwoProductsOneTakesTheSum) {
  EXPECT_THAT(fused(library(), kThree, "%5",
                    std::string(kProduct) +
                        "  fully_connected q(%0, %2) -> (%4)\n  add s(%3, %4) -> (%5)\n"),
              ElementsAre("q", "p+s"));
}

TEST(FusedLayers, WhatTheLibraryRefusesTogetherStaysApart) {
  const Library without_sums = library([](const Layer& layer) -> Reason {
    if (layer.is_weighted() && layer.has(Operand::addend)) return "no sums";
    return std::nullopt;
  });
  EXPECT_THAT(fused(without_sums, kThree, "%5",
                    std::string(kProduct) + "  tanh t(%3) -> (%4)\n  add s(%4, %1) -> (%5)\n"),
              ElementsAre("p+t", "s"));
}

TEST(FusedLayers, TwoFunctionsAtMost) {
  EXPECT_THAT(fused(library(), std::string(kThree) + "  %6 u: f32[3,2]\n", "%6",
                    std::string(kProduct) +
                        "  tanh t(%3) -> (%4)\n  abs u(%4) -> (%5)\n  exp v(%5) -> (%6)\n"),
              ElementsAre("p+t+u", "v"));
}

TEST(MakeLayer, NamesWhatIsNoLayer) {
  const graph::Module module = test::parsed_graph(
      "intarsia.graph m\nfunc @main(%0) -> (%1) {\n  %0 a: f32[2,3]\n  %1 b: f32[3,2]\n"
      "  transpose t(%0) -> (%1) {permutation=[1,0]}\n}\nentry @main\n");
  LayerOfNodes made;
  const Reason reason = make_layer(module.entry_function(), {0}, made);
  ASSERT_TRUE(reason.has_value());
  EXPECT_THAT(*reason, HasSubstr("transpose is no layer"));
}

TEST(MakeLayer, SaysAllThatACallIsConfiguredWith) {
  const graph::Module module = test::parsed_graph(
      "intarsia.graph m\nconst @0 w = x\"" + std::string(8 * 2 * 3 * 3 * 2, '0') +
      "\"\nfunc @main(%0) -> (%2) {\n  %0 a: f32[1,9,8,4]\n  %1 w: f32[2,3,3,2] = @0\n"
      "  %2 b: f32[1,4,3,2]\n  conv2d c(%0, %1) -> (%2) {stride_h=2,stride_w=2,dilation_h=1,"
      "dilation_w=1,padding={top=1,left=0,bottom=0,right=0},activation=relu_n1_to_1}\n}\n"
      "entry @main\n");
  LayerOfNodes made;
  ASSERT_EQ(make_layer(module.entry_function(), {0}, made), std::nullopt);
  EXPECT_EQ(describe(made.layer),
            "convolution 1x9x8x4 -> 1x4x3x2, kernel 3x3, strides 2 2, pads 1 0 0 0, 2 groups, "
            "clip -1 1");
}

}  // namespace
}  // namespace intarsia::layers
