#include "support/strict_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intarsia {
namespace {

std::string problems(const std::string& text) {
  const Result<nlohmann::json> parsed = parse_strict_json(text, "f.json", "name a list");
  return parsed.ok() ? "" : parsed.error().to_string();
}

TEST(StrictJson, ReadsWhatIsRight) {
  const Result<nlohmann::json> parsed = parse_strict_json(
      R"({"a": {"x": 1}, "b": {"x": 2}, "c": [{"x": 3}, {"x": 4}]})", "f.json", "");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ((*parsed)["c"][1]["x"], 4);
}

TEST(StrictJson, SaysWhereAKeyIsRepeated) {
  EXPECT_EQ(problems(R"({"a": 1, "a": 2})"),
            "f.json: the key 'a' is there twice; keep one of them\n");
  EXPECT_EQ(problems(R"({"m": [7, [8], {"x": {}}, {"y": [], "y": 3}]})"),
            "f.json: m[3]: the key 'y' is there twice; keep one of them\n");
  EXPECT_EQ(problems(R"({"m": [{"n": {"x": 1, "x": 1}}], "m": 2})"),
            "f.json: m[0].n: the key 'x' is there twice; keep one of them\n"
            "f.json: the key 'm' is there twice; keep one of them\n");
}

TEST(StrictJson, SaysWhatIsNoJson) {
  EXPECT_THAT(problems("{\n  \"a\": ,\n}"),
              testing::HasSubstr("f.json: is not JSON: parse error at line 2"));
  EXPECT_EQ(problems(" \n"), "f.json: is not JSON: it is empty; name a list\n");
  EXPECT_EQ(problems(std::string("\x1c\0\0\0TFL3", 8)), "f.json: is not JSON; name a list\n");
}

}  // namespace
}  // namespace intarsia
