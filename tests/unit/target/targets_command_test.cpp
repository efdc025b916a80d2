#include "targets_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_catalogue.h"

namespace intarsia::test {
namespace {

std::string describe(const std::optional<std::string>& name, bool json = false) {
  const auto text = cli::describe_targets(fake_catalogue(), name, json);
  return text ? *text : text.error().to_string();
}

TEST(TargetsCommand, ListsKindsAndTags) {
  const std::string text = describe(std::nullopt);
  EXPECT_NE(text.find("  ethos-u  accelerator  Arm Ethos-U NPU\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find("  ethos-u55-128  Ethos-U55                  [cortex-m55] + ethos-u -macs=128\n"),
      std::string::npos)
      << text;
}

TEST(TargetsCommand, DescribesAKind) {
  EXPECT_EQ(
      describe("ethos-u"),
      "ethos-u (accelerator): Arm Ethos-U NPU\n"
      "\n"
      "  attribute     default      help                            values\n"
      "  -macs         128          multiply-accumulates per cycle  32 | 64 | 128 | 256 | 512\n"
      "  -memory-mode  shared-sram  where data lives                sram-only | shared-sram\n"
      "\n"
      "Tags\n"
      "  ethos-u55-128  Ethos-U55                  [cortex-m55] + ethos-u -macs=128\n"
      "  ethos-u65-256  Ethos-U65                  [cortex-m55] + ethos-u -macs=256\n"
      "  ethos-u85-512  Ethos-U85, host left open  ethos-u -macs=512\n");
}

TEST(TargetsCommand, DescribesATagWithItsValues) {
  EXPECT_EQ(describe("cortex-m7"),
            "cortex-m7 (from c): Cortex-M7\n"
            "\n"
            "  target string  c -mcpu=cortex-m7 -mfloat-abi=hard\n"
            "  JSON           {\"kind\":\"c\",\"mcpu\":\"cortex-m7\",\"mfloat-abi\":\"hard\"}\n"
            "  tag            cortex-m7\n"
            "\n"
            "c: c (cpu)\n"
            "  -mcpu=cortex-m7            the core\n"
            "  -mfloat-abi=hard           how floats are passed\n"
            "  -mfpu=fpv5-d16    follows  floating-point unit\n"
            "  -unroll=1         follows  loop unrolling\n"
            "  -fast-math=false  follows  reassociate floats\n"
            "  -libs=            follows  libraries to call\n"
            "  -section=         not set  linker section of the weights\n");
}

TEST(TargetsCommand, JsonForTools) {
  const auto all = nlohmann::json::parse(describe(std::nullopt, true));
  EXPECT_EQ(all["kinds"].size(), 5u);
  EXPECT_EQ(all["kinds"][0]["attributes"][3]["maximum"], 16);
  EXPECT_EQ(all["tags"][4]["host"], "cortex-m55");
  EXPECT_EQ(nlohmann::json::parse(describe("ethos-u", true))["role"], "accelerator");
  const auto target = nlohmann::json::parse(describe("c + ethosn", true));
  EXPECT_EQ(target["members"][1]["kind"], "ethosn");
  EXPECT_EQ(target["json"]["devices"][0]["kind"], "ethosn");
  EXPECT_TRUE(target["tag"].is_null());
}

TEST(TargetsCommand, UnknownNames) {
  EXPECT_EQ(describe("ethos-v"),
            "targets: there is no target kind or tag 'ethos-v'; did you mean 'ethos-u'?\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(cli::run_targets_command(fake_catalogue(), "ethos-v", false), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr().rfind("targets: there is no target kind", 0),
            0u);
}

}  // namespace
}  // namespace intarsia::test
