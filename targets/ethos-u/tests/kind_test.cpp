// How the kind presents itself: tags, and the composite it needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(Kind, TheMemoryModeFollowsTheProduct) {
  const TargetRegistry registry = make_registry();
  const auto mode = [&](const std::string& text) {
    const Result<TargetSpec> target = parse_target(registry.catalogue(), text);
    return target.ok() ? target->devices()[0].get_string("memory-mode")
                       : target.error().to_string();
  };
  EXPECT_EQ(mode("ethos-u55-256"), "shared-sram");
  EXPECT_EQ(mode("ethos-u65-256"), "dedicated-sram");
  EXPECT_EQ(mode("ethos-u65-256 -memory-mode=sram-only"), "sram-only");
  EXPECT_EQ(parsed("ethos-u55-128 -memory-mode=sram-only"),
            "c -mcpu=cortex-m55 + ethos-u -memory-mode=sram-only");
  EXPECT_THAT(mode("ethos-u55-128 -memory-mode=fast"), HasSubstr("dedicated-sram"));
}

TEST(Kind, SaysWhichConfigurationsThereAre) {
  EXPECT_THAT(parsed("c + ethos-u -product=u65 -macs=128"),
              HasSubstr("there is no Ethos-u65 with 128 MACs; write -macs=256 or -macs=512"));
  EXPECT_THAT(parsed("ethos-u"), HasSubstr("write 'c -mcpu=cortex-m55 + ethos-u'"));
}

}  // namespace
}  // namespace intarsia::test::ethos_u
