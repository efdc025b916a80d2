// parse(print(t)) == t in every spelling, over random targets.
#include <gtest/gtest.h>

#include <random>

#include "fake_catalogue.h"

namespace intarsia::test {
namespace {

class RandomTargets {
 public:
  explicit RandomTargets(unsigned seed) : random_(seed) {}

  std::vector<Target> devices(const TargetCatalogue& catalogue) {
    std::vector<Target> devices(1 + pick(4));
    for (Target& device : devices) {
      const KindSpec& kind = &device == &devices.front()
                                 ? *catalogue.kind("c")
                                 : catalogue.kinds()[pick(catalogue.kinds().size())];
      device.kind = kind.name;
      if (pick(3) == 0)
        device.name = std::vector<std::string>{"c", "c.2", "ethos-u", "big", "n-1"}[pick(5)];
      for (const AttributeSpec& spec : kind.attributes) {
        if (spec.required || pick(3) == 0) device.attributes.write(spec.name, value(spec));
      }
    }
    return devices;
  }

 private:
  size_t pick(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }
  std::string text() {
    static const std::vector<std::string> pieces = {"a",  "B7", " ",  "+", ";", ":",   ",",
                                                    "\"", "'",  "\\", "-", "=", "{",   "}",
                                                    "[",  "é",  "木", "@", "#", "true"};
    std::string text;
    for (size_t i = pick(5); i > 0; --i) text += pieces[pick(pieces.size())];
    return text;
  }
  AttributeValue value(const AttributeSpec& spec) {
    switch (spec.type) {
      case AttributeType::Bool:
        return pick(2) == 0;
      case AttributeType::String:
        return text();
      case AttributeType::Enum:
        return spec.choices[pick(spec.choices.size())];
      case AttributeType::Int:
        if (!spec.int_choices.empty()) return spec.int_choices[pick(spec.int_choices.size())];
        return spec.minimum +
               static_cast<int64_t>(pick(static_cast<size_t>(spec.maximum - spec.minimum) + 1));
      case AttributeType::StringList:
        break;
    }
    std::vector<std::string> list(pick(4));
    for (std::string& element : list) element = text();
    return list;
  }

  std::mt19937 random_;
};

TEST(RoundTrip, EverySpellingOfRandomTargets) {
  const TargetCatalogue catalogue = fake_catalogue();
  RandomTargets random(20240611);
  int made = 0, tagged = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto target = make_target(catalogue, random.devices(catalogue));
    if (!target) continue;  // a name twice, hard floats without a unit
    ++made;
    const auto from_string = parse_target(catalogue, to_string(*target));
    ASSERT_TRUE(from_string.ok()) << to_string(*target) << "\n" << from_string.error().to_string();
    EXPECT_EQ(*from_string, *target) << to_string(*target);
    EXPECT_EQ(to_string(*from_string), to_string(*target));
    const auto from_json = parse_target(catalogue, to_json(*target));
    ASSERT_TRUE(from_json.ok()) << to_json(*target) << "\n" << from_json.error().to_string();
    EXPECT_EQ(*from_json, *target) << to_json(*target);
    EXPECT_EQ(to_json(*from_json), to_json(*target));
    if (const auto tag = to_tag(catalogue, *target)) {
      ++tagged;
      const auto from_tag = parse_target(catalogue, *tag);
      ASSERT_TRUE(from_tag.ok()) << *tag;
      EXPECT_EQ(*from_tag, *target) << *tag;
    }
  }
  EXPECT_GT(made, 2500);
  EXPECT_GT(tagged, 20);
}

TEST(RoundTrip, CanonicalJson) {
  const auto target = parse_target(fake_catalogue(), "big: cortex-m7 -libs=b,a + ethos-u65-256");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(
      to_json(*target),
      R"({"kind":"composite","target_host":{"kind":"c","name":"big","libs":["b","a"],)"
      R"("mcpu":"cortex-m7","mfloat-abi":"hard"},"devices":[{"kind":"ethos-u","macs":256}]})");
  EXPECT_EQ(to_json(*parse_target(fake_catalogue(), "c -unroll=2")), R"({"kind":"c","unroll":2})");
}

TEST(RoundTrip, CanonicalTags) {
  const TargetCatalogue catalogue = fake_catalogue();
  const auto tag = [&](const char* text) {
    return to_tag(catalogue, *parse_target(catalogue, text));
  };
  EXPECT_EQ(tag("c -mcpu=cortex-m0"), "cortex-m0");
  EXPECT_EQ(tag("c -mcpu=cortex-m55 + ethos-u"), "ethos-u55-128");
  EXPECT_EQ(tag("c -mcpu=cortex-m0 + npu: ethos-u -macs=256"), "cortex-m0+npu:ethos-u65-256");
  EXPECT_EQ(tag("c -mcpu=cortex-m0 + ethos-u -macs=32"), std::nullopt);
}

}  // namespace
}  // namespace intarsia::test
