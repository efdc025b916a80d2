// How the kind presents itself: tags, and the composite it needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/cut_out.h"
#include "hardware/memory_systems.h"
#include "kinds.h"

namespace intarsia::test::ethos_u {
namespace {

using testing::HasSubstr;

std::string parsed(const std::string& text) {
  return printed_target(make_registry(), text);
}

TEST(Kind, EveryTagIsAReadyComposite) {
  EXPECT_TRUE(make_registry().catalogue().check_tags().ok());
  EXPECT_EQ(parsed("ethos-u55-128"), "c -mcpu=cortex-m55 + ethos-u");
  EXPECT_EQ(parsed("cortex-m7 + ethos-u65-512"),
            "c -mcpu=cortex-m7 + ethos-u -macs=512 -product=u65");
  for (const char* tag : {"ethos-u55-32", "ethos-u55-64", "ethos-u55-256", "ethos-u65-256"})
    EXPECT_THAT(parsed(tag), HasSubstr("c -mcpu=cortex-m55 + ethos-u -macs=")) << tag;
}

TEST(U85Kind, HasATagForEveryConfiguration) {
  EXPECT_EQ(parsed("ethos-u85-256"), "c -mcpu=cortex-m55 + ethos-u85");
  for (const char* macs : {"128", "512", "1024", "2048"})
    EXPECT_EQ(parsed(std::string("ethos-u85-") + macs),
              std::string("c -mcpu=cortex-m55 + ethos-u85 -macs=") + macs);
  EXPECT_THAT(parsed("ethos-u85 -macs=64"), HasSubstr("128"));
}

TEST(Kind, TheMemoryModeFollowsTheProduct) {
  const TargetRegistry registry = make_registry();
  const auto mode = [&](const std::string& text) {
    const Result<TargetSpec> target = parse_target(registry.catalogue(), text);
    return target.ok() ? target->beside_host()[0].get_string("memory-mode")
                       : target.error().to_string();
  };
  EXPECT_EQ(mode("ethos-u55-256"), "shared-sram");
  EXPECT_EQ(mode("ethos-u65-256"), "dedicated-sram");
  EXPECT_EQ(mode("ethos-u65-256 -memory-mode=sram-only"), "sram-only");
  EXPECT_EQ(parsed("ethos-u55-128 -memory-mode=sram-only"),
            "c -mcpu=cortex-m55 + ethos-u -memory-mode=sram-only");
  EXPECT_THAT(mode("ethos-u55-128 -memory-mode=fast"), HasSubstr("dedicated-sram"));
}

TEST(Kind, TheMemorySystemFollowsTheProductOrIsNamed) {
  const TargetRegistry registry = make_registry();
  const auto device = [&](const std::string& text) {
    return parse_target(registry.catalogue(), text)->beside_host()[0];
  };
  using targets::ethos_u::memory_system_of;
  EXPECT_EQ(memory_system_of(device("ethos-u55-128")).name, "Ethos_U55_High_End_Embedded");
  EXPECT_EQ(memory_system_of(device("ethos-u65-256")).name, "Ethos_U65_High_End");
  const auto slow = memory_system_of(device("ethos-u55-128 -system=Ethos_U55_Deep_Embedded"));
  EXPECT_EQ(slow.clock_mhz, 200);
  EXPECT_EQ(slow.memory_of_region(0).bytes_per_cycle, 0.5);
  EXPECT_EQ(parsed("ethos-u55-128 -system=Ethos_U55_Deep_Embedded"),
            "c -mcpu=cortex-m55 + ethos-u -system=Ethos_U55_Deep_Embedded");
  EXPECT_THAT(parsed("ethos-u55-128 -system=Ethos_U65_Mid_End"),
              HasSubstr("'Ethos_U65_Mid_End' is a memory system of another product than the "
                        "Ethos-u55; write -system=Ethos_U55_High_End_Embedded or "
                        "-system=Ethos_U55_Deep_Embedded, or"));
  EXPECT_THAT(parsed("ethos-u55-128 -system=mine"),
              HasSubstr("'mine' is no memory system; write -system=Ethos_U55_High_End_Embedded or "
                        "-system=Ethos_U55_Deep_Embedded, or -system=CLOCK:AXI0:AXI1 in numbers"));
  // In numbers, up to what the bus moves in a cycle.
  const auto own = memory_system_of(device("ethos-u55-128 -system=400:8/32/32/32:2/64/9/9"));
  EXPECT_EQ(own.clock_mhz, 400);
  EXPECT_EQ(own.memory_of_region(0).bytes_per_cycle, 2);
  EXPECT_THAT(parsed("ethos-u55-128 -system=400:16/32/32/32"),
              HasSubstr("bytes a cycle (up to 8)"));
  EXPECT_THAT(parsed("ethos-u65-256 -system=400:16/32/32/32"),
              testing::Not(HasSubstr("no memory system")));
  // The simulator beside an emulator counts by the same.
  const TargetKind& kind = registry.kind("ethos-u");
  EXPECT_THAT(kind.simulator(device("ethos-u65-256 -system=Ethos_U65_Mid_End")).attach_expression,
              HasSubstr("\"Ethos_U65_Mid_End\""));
}

TEST(Kind, SaysWhichConfigurationsThereAre) {
  EXPECT_THAT(parsed("c + ethos-u -product=u65 -macs=128"),
              HasSubstr("there is no Ethos-u65 with 128 MACs; write -macs=256 or -macs=512"));
  EXPECT_THAT(parsed("ethos-u"), HasSubstr("write 'c -mcpu=cortex-m55 + ethos-u'"));
}

// Operators that run together cost less than each by itself: the next one begins while the last one ends.
TEST(Kind, OperatorsTogetherCostLess) {
  const Result<graph::Module> module = graph::parse(R"(intarsia.graph m
func @main(%0) -> (%3) {
  %0 in: i8[1,64,64,32] q(0.5)
  %1 one: i8[1,32,32,32] q(0.5)
  %2 two: i8[1,16,16,32] q(0.5)
  %3 out: i8[1,8,8,32] q(0.5)
  max_pool2d first(%0) -> (%1) {filter_h=2, filter_w=2, stride_h=2, stride_w=2}
  max_pool2d second(%1) -> (%2) {filter_h=2, filter_w=2, stride_h=2, stride_w=2}
  max_pool2d third(%2) -> (%3) {filter_h=2, filter_w=2, stride_h=2, stride_w=2}
}
entry @main
)");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const TargetRegistry registry = make_registry();
  for (const std::string& text : {std::string("ethos-u55-128"), std::string("ethos-u65-512")}) {
    const Result<TargetSpec> spec = parse_target(registry.catalogue(), text);
    ASSERT_TRUE(spec.ok()) << spec.error().to_string();
    const Target& npu = spec->beside_host()[0];
    const graph::Function& function = module->entry_function();
    const graph::FunctionCutter cutter(function);
    const auto cycles = [&](const graph::Function& asked) {
      return registry.kind_of(npu).cost(npu, *module, asked, {}).cycles;
    };
    double apart = 0;
    for (int32_t n = 0; n < 3; ++n) {
      const graph::NodeId node{n};
      const double alone = cycles(cutter.cut({&node, 1}).function);
      EXPECT_GT(alone, 0) << text;
      apart += alone;
    }
    EXPECT_LT(cycles(function), apart) << text;
    EXPECT_GT(cycles(function), apart / 3) << text;
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
