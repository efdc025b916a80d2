#include <gtest/gtest.h>

#include "fake_catalogue.h"

namespace intarsia::test {
namespace {

std::vector<std::string> names(std::string_view text) {
  const auto target = parse_target(fake_catalogue(), text);
  if (!target) return {target.error().to_string()};
  std::vector<std::string> all;
  for (const Target& device : target->devices()) all.push_back(device.name);
  return all;
}

TEST(TargetNames, NamedDevices) {
  const char* text = "low_power_cpu: c -mcpu=cortex-m0; inference_cpu: c -mcpu=cortex-m7";
  EXPECT_EQ(names(text), (std::vector<std::string>{"low_power_cpu", "inference_cpu"}));
  EXPECT_EQ(canonical(text), text);
  EXPECT_EQ(names("cpu: cortex-m55 + npu : ethos-u55-128"),
            (std::vector<std::string>{"cpu", "npu"}));
  EXPECT_EQ(names("npu: ethos-u55-128"), (std::vector<std::string>{"c", "npu"}));
  EXPECT_EQ(names(R"({"kind":"c","name":"big"} + small:{"kind":"c"})"),
            (std::vector<std::string>{"big", "small"}));
}

TEST(TargetNames, DerivedFromTheKindInOrder) {
  EXPECT_EQ(names("c + c + c"), (std::vector<std::string>{"c", "c.2", "c.3"}));
}

TEST(TargetNames, DerivedNamesAvoidWrittenOnes) {
  EXPECT_EQ(names("c + c + c.2: c + c: ethos-u"),
            (std::vector<std::string>{"c.3", "c.4", "c.2", "c"}));
}

TEST(TargetNames, ANameThatWouldBeDerivedIsNotPrinted) {
  EXPECT_EQ(canonical("c: c + c.2: c"), "c + c");
  EXPECT_EQ(canonical("c.2: c + c: c"), "c.2: c; c");
}

TEST(TargetNames, FindDeviceByNameOrTag) {
  const TargetCatalogue catalogue = fake_catalogue();
  const auto target = parse_target(catalogue, "cortex-m55 + npu: ethos-u55-128 + ethos-u65-256");
  ASSERT_TRUE(target.ok());
  const auto found = [&](const char* text) {
    const auto device = find_device(catalogue, *target, text, "--pin");
    return device ? (*device)->name : device.error().to_string();
  };
  EXPECT_EQ(found("npu"), "npu");
  EXPECT_EQ(found("ethos-u65-256"), "ethos-u");
  EXPECT_EQ(found("ethos-u55-128"), "npu");
  EXPECT_EQ(found("cortex-m55"), "c");
  EXPECT_EQ(found("cortex-m7"),
            "--pin: the target has no device 'cortex-m7'; the devices are c, npu, ethos-u\n");
  EXPECT_EQ(found("etos-u"), "--pin: the target has no device 'etos-u'; did you mean 'ethos-u'?\n");
}

TEST(TargetNames, ATagOfSeveralDevicesIsAmbiguous) {
  const TargetCatalogue catalogue = fake_catalogue();
  const auto target = parse_target(catalogue, "cortex-m0 + cortex-m0");
  const auto device = find_device(catalogue, *target, "cortex-m0", "--pin");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().to_string(),
            "--pin: several devices are 'cortex-m0'; name one of c, c.2\n");
}

}  // namespace
}  // namespace intarsia::test
