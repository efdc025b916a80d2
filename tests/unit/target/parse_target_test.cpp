#include <gtest/gtest.h>

#include "fake_catalogue.h"

namespace intarsia::test {
namespace {

TEST(ParseTarget, PlainCpuIsItsOwnHost) {
  const TargetCatalogue catalogue = fake_catalogue();
  const auto target = parse_target(catalogue, "c");
  ASSERT_TRUE(target.ok()) << target.error().to_string();
  EXPECT_FALSE(target->is_composite());
  EXPECT_EQ(target->devices().size(), 1u);
  EXPECT_EQ(target->host().name, "c");
  EXPECT_TRUE(target->beside_host().empty());
}

TEST(ParseTarget, AttributesOfEveryType) {
  const auto target = parse_target(
      fake_catalogue(),
      "c -mcpu=cortex-m7 --unroll=4 -fast-math -libs=a,\"b,c\",'d e' -section=\"my section\"");
  ASSERT_TRUE(target.ok()) << target.error().to_string();
  const Target& host = target->host();
  EXPECT_EQ(host.get_string("mcpu"), "cortex-m7");
  EXPECT_EQ(host.get_int("unroll"), 4);
  EXPECT_TRUE(host.get_bool("fast-math"));
  EXPECT_EQ(host.get_list("libs"), (std::vector<std::string>{"a", "b,c", "d e"}));
  EXPECT_EQ(host.get_string("section"), "my section");
}

TEST(ParseTarget, DefaultsAndDerivedValuesAreThereAndToldFromWrittenOnes) {
  const auto target = parse_target(fake_catalogue(), "c -mcpu=cortex-m4");
  ASSERT_TRUE(target.ok());
  const Attributes& attributes = target->host().attributes;
  EXPECT_TRUE(attributes.written("mcpu"));
  EXPECT_EQ(attributes.get_string("mfpu"), "fpv4-sp-d16");
  EXPECT_FALSE(attributes.written("mfpu"));
  EXPECT_EQ(attributes.get_int("unroll"), 1);
  EXPECT_FALSE(attributes.written("unroll"));
  EXPECT_FALSE(attributes.has("section"));
}

TEST(ParseTarget, WhatWasWrittenWinsOverWhatIsDerived) {
  const auto target = parse_target(fake_catalogue(), "c -mcpu=cortex-m4 -mfpu=none");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->host().get_string("mfpu"), "none");
}

TEST(ParseTarget, WritingADefaultIsTheSameTarget) {
  const TargetCatalogue catalogue = fake_catalogue();
  EXPECT_EQ(*parse_target(catalogue, "c -mcpu=cortex-m7 -mfpu=fpv5-d16 -unroll=1"),
            *parse_target(catalogue, "c -mcpu=cortex-m7"));
  EXPECT_EQ(canonical("c -mcpu=cortex-m7 -mfpu=fpv5-d16 -unroll=1"), "c -mcpu=cortex-m7");
}

TEST(ParseTarget, AllSpellingsOfOneComposite) {
  const TargetCatalogue catalogue = fake_catalogue();
  const auto expected = parse_target(catalogue, "cortex-m55+ethos-u55-128");
  ASSERT_TRUE(expected.ok()) << expected.error().to_string();
  for (
      const char* spelling : {
          "ethos-u55-128",
          " cortex-m55 + ethos-u55-128 ",
          "c -mcpu=cortex-m55 + ethos-u",
          "c -mcpu=cortex-m55; ethos-u -macs=128;",
          R"({"kind":"composite","target_host":{"kind":"c","mcpu":"cortex-m55"},"devices":[{"kind":"ethos-u","macs":128}]})",
          R"({"kind":"composite","target_host":"cortex-m55","devices":["ethos-u55-128"]})",
          R"({"kind":"composite","target_host":"c -mcpu='cortex-m55'","devices":[{"tag":"ethos-u65-256","macs":128}]})",
          R"({"tag":"ethos-u55-128"})",
          R"({"tag":"cortex-m55"} + {"kind":"ethos-u"})",
          "cortex-m55 + ethos-u65-256 -macs=128",
      }) {
    const auto target = parse_target(catalogue, spelling);
    ASSERT_TRUE(target.ok()) << spelling << "\n" << target.error().to_string();
    EXPECT_EQ(*target, *expected) << spelling;
  }
  EXPECT_EQ(to_string(*expected), "c -mcpu=cortex-m55 + ethos-u");
}

TEST(ParseTarget, RfcExampleKeepsTheOrderOfDevices) {
  const auto target = parse_target(
      fake_catalogue(),
      R"({"kind":"composite","target_host":"c","devices":[{"kind":"ethosn"},{"kind":"opencl"}]})");
  ASSERT_TRUE(target.ok()) << target.error().to_string();
  EXPECT_EQ(target->host().kind, "c");
  ASSERT_EQ(target->beside_host().size(), 2u);
  EXPECT_EQ(target->beside_host()[0].kind, "ethosn");
  EXPECT_EQ(target->beside_host()[1].kind, "opencl");
}

TEST(ParseTarget, WhatHasAHostIsAComposite) {
  const TargetCatalogue catalogue = fake_catalogue();
  const auto target =
      parse_target(catalogue, R"({"target_host":"c","devices":["ethosn",{"kind":"opencl"}]})");
  ASSERT_TRUE(target.ok()) << target.error().to_string();
  EXPECT_EQ(*target, *parse_target(catalogue, "c + ethosn + opencl"));
}

TEST(ParseTarget, TagWithAttributesOverridesIt) {
  EXPECT_EQ(canonical("ethos-u55-128 -memory-mode=sram-only"),
            "c -mcpu=cortex-m55 + ethos-u -memory-mode=sram-only");
  EXPECT_EQ(canonical("cortex-m55 -mcpu=cortex-m0"), "c -mcpu=cortex-m0");
}

TEST(ParseTarget, AcceleratorTagBesideAHostLeavesItsOwnHostOut) {
  EXPECT_EQ(canonical("cortex-m7+ethos-u55-128"), "c -mcpu=cortex-m7 -mfloat-abi=hard + ethos-u");
}

TEST(ParseTarget, TwoAcceleratorsOfOneKind) {
  const auto target = parse_target(fake_catalogue(), "cortex-m55+ethos-u55-128+ethos-u65-256");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->devices()[1].name, "ethos-u");
  EXPECT_EQ(target->devices()[2].name, "ethos-u.2");
  EXPECT_EQ(target->device("ethos-u.2")->get_int("macs"), 256);
}

TEST(ParseTarget, PlusInsideQuotesAndJsonDoesNotSplit) {
  EXPECT_EQ(canonical("c -section='a+b;c'"), R"(c -section="a+b;c")");
  EXPECT_EQ(canonical(R"({"kind":"c","section":"}+{\"+"})"), R"(c -section="}+{\"+")");
}

TEST(ParseTarget, EmptyTextsAndListsWithQuotes) {
  const auto target = parse_target(fake_catalogue(), R"(c -section="" -libs="",b)");
  ASSERT_TRUE(target.ok()) << target.error().to_string();
  EXPECT_EQ(target->host().get_string("section"), "");
  EXPECT_EQ(target->host().get_list("libs"), (std::vector<std::string>{"", "b"}));
  EXPECT_EQ(canonical("c -libs="), "c");
}

TEST(ParseTarget, FromTheApi) {
  Target host{"c", "big", {}};
  host.attributes.write("mcpu", std::string("cortex-m7"));
  const auto target = make_target(fake_catalogue(), {host, {"ethos-u", "", {}}});
  ASSERT_TRUE(target.ok()) << target.error().to_string();
  EXPECT_EQ(to_string(*target), "big: c -mcpu=cortex-m7; ethos-u");
  const auto wrong = make_target(fake_catalogue(), {{"ethos-u", "", {}}, {"d", "", {}}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().to_string(),
            "target: the host must be a CPU, and 'ethos-u' is not\n"
            "target: there is no target kind 'd'; did you mean 'c'?\n");
}

}  // namespace
}  // namespace intarsia::test
