// Bytes between DRAM and SRAM, with layers that run together and without: never more, and figures for some networks.
// That plans say what is moved is what cascade_test finds out.
#include <array>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "encode/generate.h"
#include "end_to_end.h"
#include "intarsia/import.h"
#include "kinds.h"
#include "legalise/legalise.h"
#include "made_chains.h"
#include "recorded_data.h"

namespace intarsia::test::ethos_n {
namespace {

namespace ours = targets::ethos_n;
using intarsia::testing::Random;

const ours::Variant& variant_of(const std::string& tag) {
  for (const ours::Variant& variant : ours::variants())
    if (variant.tag == tag) return variant;
  throw std::logic_error("no such variant");
}

struct Moved {
  int64_t together = 0, apart = 0, stripes_together = 0, stripes_apart = 0;
};

// What of the model the NPU takes.
Moved moved(const graph::Module& model, const std::string& tag) {
  Moved moved;
  const Result<CompiledModel> compiled = compile_for(model, tag);
  EXPECT_TRUE(compiled.ok());
  if (!compiled.ok()) return moved;
  const graph::Module& cut = compiled->partitioned.module;
  for (const graph::Function& function : cut.functions) {
    if (function.target != "ethosn") continue;
    for (const bool allows : {true, false}) {
      ours::Legaliser legaliser(variant_of(tag), cut, function, function.inputs, function.outputs);
      for (const graph::Node& node : function.nodes) EXPECT_FALSE(legaliser.add(node)) << node.name;
      const ours::GeneratedNetwork network =
          ours::generate(variant_of(tag), legaliser.finish(), {allows});
      (allows ? moved.together : moved.apart) += network.traffic.bytes;
      (allows ? moved.stripes_together : moved.stripes_apart) += network.traffic.stripes;
    }
  }
  return moved;
}

// `most`: percent of layer by layer, on each of the variants.
void expect_traffic(const std::string& name, const graph::Module& model,
                    const std::array<int64_t, 4>& most) {
  for (size_t i = 0; i < most.size(); ++i) {
    const Moved bytes = moved(model, kTags[i]);
    fmt::print("| {} | {} | {} | {} | {} and {} stripes\n", name, kTags[i], bytes.apart,
               bytes.together, bytes.stripes_apart, bytes.stripes_together);
    EXPECT_LE(bytes.together, bytes.apart) << name << " on " << kTags[i];
    EXPECT_LE(bytes.together * 100, bytes.apart * most[i]) << name << " on " << kTags[i];
  }
}

graph::Module mobilenet(int64_t size, int64_t percent) {
  Random random(4);
  const auto channels = [&](int64_t of) { return of * percent / 100; };
  Chain chain(random, size, size, 3);
  chain.conv(channels(32), 3, 2);
  const std::pair<int64_t, int64_t> blocks[] = {{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                                                {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                                                {512, 1}, {1024, 2}, {1024, 1}};
  for (const auto& [ofms, stride] : blocks) chain.depthwise(3, stride).conv(channels(ofms), 1);
  return chain.finish();
}

// `most`: percent of layer by layer.
void expect_traffic_of_recorded(const std::string& name, int64_t most) {
  const Result<graph::Module> model =
      import_model(read_bytes(recorded_folder(name) / "model.tflite"), {"model.tflite"});
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  expect_traffic(name, *model, {most, most, most, most});
}

TEST(Traffic, OfModels) {
  expect_traffic_of_recorded("separable_s8", 70);
  expect_traffic_of_recorded("residual_s8", 52);
}

TEST(Traffic, OfModelsBesideTheRepository) {
  INTARSIA_NEEDS_SHARED("models");
  expect_traffic_of_recorded("kws_ref_model", 100);
  expect_traffic_of_recorded("pretrainedResnet_quant", 40);
  expect_traffic_of_recorded("vww_96_int8", 80);
}

TEST(Traffic, IsExplained) {
  Random random(6);
  const graph::Module model =
      Chain(random, 224, 224, 16).conv(48, 1).depthwise(3).conv(16, 1).finish();
  const TargetRegistry registry = make_registry();
  const Result<CompiledModel> compiled = compile_for(model, kTags[2]);
  const Result<TargetSpec> target = parse_target_argument(registry.catalogue(), kTags[2]);
  ASSERT_TRUE(compiled.ok() && target.ok());
  const graph::Module& cut = compiled->partitioned.module;
  std::vector<std::string> notes;
  for (const graph::Function& function : cut.functions)
    if (function.target == "ethosn")
      notes = registry.kind("ethosn").notes(target->beside_host().front(), cut, function);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_THAT(notes[0], ::testing::HasSubstr("bytes between DRAM and SRAM: n1, n2, n3"));
}

TEST(Traffic, OfMobilenets) {
  expect_traffic("mobilenet 0.25 of 224", mobilenet(224, 25), {30, 25, 25, 95});
  expect_traffic("mobilenet 1.0 of 224", mobilenet(224, 100), {45, 30, 30, 97});
}

}  // namespace
}  // namespace intarsia::test::ethos_n
