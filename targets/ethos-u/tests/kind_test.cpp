// How the kind presents itself: tags, and the composite it needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/target_kind.h"

namespace intarsia::targets {
namespace c {
void add_kinds(TargetRegistry& registry);
}
namespace ethos_u {
void add_kinds(TargetRegistry& registry);
}
}  // namespace intarsia::targets

namespace intarsia::test::ethos_u {
namespace {

using testing::HasSubstr;

TargetRegistry make_registry() {
  TargetRegistry registry;
  targets::c::add_kinds(registry);
  targets::ethos_u::add_kinds(registry);
  return registry;
}

std::string parsed(const std::string& text) {
  const TargetRegistry registry = make_registry();
  const Result<TargetSpec> target = parse_target(registry.catalogue(), text);
  return target.ok() ? to_string(*target) : target.error().to_string();
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
    return target.ok() ? target->devices()[0].get_string("memory-mode") : target.error().to_string();
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
