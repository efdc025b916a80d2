// How the kind presents itself: tags, the composite it needs, what it refuses and why, and its
// streams as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/partition.h"
#include "kinds.h"
#include "stream.h"

namespace intarsia::test::example_npu {
namespace {

using testing::HasSubstr;

TEST(Kind, AloneItNeedsAHostAndItsTagHasOne) {
  const TargetRegistry registry = make_registry();
  EXPECT_TRUE(registry.catalogue().check_tags().ok());
  const Result<TargetSpec> alone = parse_target(registry.catalogue(), "example-npu");
  ASSERT_FALSE(alone.ok());
  EXPECT_THAT(alone.error().to_string(), HasSubstr("c + example-npu"));
  EXPECT_EQ(to_string(parsed_target(registry, "example-npu-16")), "c + example-npu");
  EXPECT_EQ(to_string(parsed_target(registry, "cortex-m7 + example-npu -clock-mhz=100")),
            "c -mcpu=cortex-m7 + example-npu -clock-mhz=100");
}

// Why the device does not take the only operator of a function, or "taken".
std::string reason(const std::string& body) {
  const TargetRegistry registry = make_registry();
  const Result<Partitioned> result =
      partition(parsed_graph("intarsia.graph m\nfunc @main" + body + "\nentry @main\n"), registry,
                parsed_target(registry, "example-npu-16"));
  if (!result.ok()) return result.error().to_string();
  for (const Offer& offer : result->explanation.operators.at(0).offers)
    if (offer.device == "example-npu")
      return offer.can ? "taken" : offer.reason.value_or("no reason");
  return "not asked";
}

std::string binary(const std::string& op, const std::string& a, const std::string& b,
                   const std::string& out, const std::string& attributes = "") {
  return "(%0, %1) -> (%2) {\n  %0 a: " + a + "\n  %1 b: " + b + "\n  %2 c: " + out + "\n  " + op +
         " n(%0, %1) -> (%2)" + attributes + "\n}";
}

std::string pool(const std::string& in, const std::string& out, const std::string& attributes) {
  return "(%0) -> (%1) {\n  %0 a: " + in + "\n  %1 b: " + out + "\n  max_pool2d n(%0) -> (%1) {" +
         attributes + "}\n}";
}

TEST(Kind, TakesWhatItCan) {
  const std::string t = "i8[2,16] q(0.5:3)";
  EXPECT_EQ(reason(binary("add", t, t, t)), "taken");
  EXPECT_EQ(reason(binary("mul", t, t, t, " {activation=relu6}")), "taken");
  EXPECT_EQ(reason(pool("i8[1,4,4,32] q(0.5)", "i8[1,2,2,32] q(0.5)",
                        "filter_h=2, filter_w=2, stride_h=2, stride_w=2, activation=relu")),
            "taken");
}

TEST(Kind, SaysWhyItRefuses) {
  const std::string t = "i8[2,16] q(0.5)";
  EXPECT_EQ(reason(binary("add", "i8[3,5] q(0.5)", "i8[3,5] q(0.5)", "i8[3,5] q(0.5)")),
            "15 elements are not a multiple of 16");
  EXPECT_THAT(reason(binary("add", t, "i8[1,16] q(0.5)", t)),
              HasSubstr("shapes [2,16] and [1,16] need broadcasting"));
  EXPECT_THAT(reason(binary("add", "f32[16]", "f32[16]", "f32[16]")),
              HasSubstr("is f32, the device computes i8"));
  EXPECT_THAT(reason(binary("mul", t, t, t, " {activation=relu_n1_to_1}")),
              HasSubstr("relu_n1_to_1"));
  EXPECT_THAT(reason(binary("mul", "i8[16] q(1000)", "i8[16] q(1000)", "i8[16] q(1)")),
              HasSubstr("shift by 20 bits"));
  EXPECT_EQ(reason(pool("i8[1,4,4,24] q(0.5)", "i8[1,2,2,24] q(0.5)",
                        "filter_h=2, filter_w=2, stride_h=2, stride_w=2")),
            "24 channels are not a multiple of 16");
  EXPECT_EQ(reason(pool("i8[1,9,9,16] q(0.5)", "i8[1,3,3,16] q(0.5)",
                        "filter_h=1, filter_w=1, stride_h=4, stride_w=4")),
            "stride 4 is above 3");
  EXPECT_EQ(reason(pool("i8[1,16,1,16] q(0.5)", "i8[1,1,1,16] q(0.5)",
                        "filter_h=16, filter_w=1, stride_h=1, stride_w=1")),
            "filter height 16 is above 15");
}

TEST(Kind, StreamsAsText) {
  const TargetRegistry registry = make_registry();
  const TargetKind& kind = registry.kind("example-npu");
  const auto text = kind.disassemble(stream({48}, {command("mul", small_mul())}));
  ASSERT_TRUE(text.has_value());
  ASSERT_TRUE(text->ok());
  EXPECT_EQ(
      **text,
      "    0  begin stream_version=1 lanes=16 region_count=1 command_count=3 region0_bytes=48\n"
      "    1  mul region_a=0 region_b=0 region_out=0 offset_a=0x0 offset_b=0x10 offset_out=0x20 "
      "vectors=1 "
      "zero_a=0 zero_b=0 zero_out=0 low=-128 high=127 left_shift=0 shift=1 multiplier=1073741824\n"
      "    2  end\n");
  EXPECT_FALSE(kind.disassemble(std::vector<uint8_t>(480)).has_value()) << "not one of ours";
  std::vector<uint8_t> cut = stream({48}, {});
  cut.pop_back();
  const auto damaged = kind.disassemble(cut);
  ASSERT_TRUE(damaged.has_value());
  EXPECT_FALSE(damaged->ok());
}

TEST(Kind, CostFollowsTheWork) {
  const TargetRegistry registry = make_registry();
  const TargetSpec target = parsed_target(registry, "example-npu-16");
  const auto cost = [&](const std::string& shape) {
    const std::string tensor = "i8" + shape + " q(0.5)";
    const graph::Module module = parsed_graph(
        "intarsia.graph m\nfunc @main" + binary("add", tensor, tensor, tensor) + "\nentry @main\n");
    const graph::Function& main = module.entry_function();
    return registry.kind("example-npu").cost(target.beside_host()[0], module, main, {}).cycles;
  };
  EXPECT_EQ(cost("[16]"), 10);
  EXPECT_EQ(cost("[100,16]"), 208);
}

}  // namespace
}  // namespace intarsia::test::example_npu
