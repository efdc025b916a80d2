#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fake_catalogue.h"

namespace intarsia::test {
namespace {

std::string load(TargetCatalogue& catalogue, std::string_view json) {
  const Result<void> loaded = catalogue.load_tags(json, "tags.json");
  return loaded ? "" : loaded.error().to_string();
}

TEST(UserTags, MayUseOtherTagsInAnyOrder) {
  TargetCatalogue catalogue = fake_catalogue();
  EXPECT_EQ(load(catalogue, R"({
      "my-board": "my-core + my-npu",
      "my-npu": {"target": {"tag": "ethos-u55-128", "memory-mode": "sram-only"}, "host": "cortex-m7",
                 "summary": "ours"},
      "my-core": {"kind": "c", "mcpu": "cortex-m4"}})"),
            "");
  EXPECT_EQ(complaint(catalogue, "my-board"),
            "parsed as c -mcpu=cortex-m4 + ethos-u -memory-mode=sram-only");
  EXPECT_EQ(complaint(catalogue, "my-npu"),
            "parsed as c -mcpu=cortex-m7 -mfloat-abi=hard + ethos-u -memory-mode=sram-only");
  EXPECT_EQ(complaint(catalogue, "my-board + ethos-u65-256"),
            "parsed as c -mcpu=cortex-m4 + ethos-u -memory-mode=sram-only + ethos-u -macs=256");
  EXPECT_EQ(catalogue.tag("my-npu")->summary, "ours");
  EXPECT_EQ(catalogue.tag("my-npu")->origin, "tags.json");
}

TEST(UserTags, ATagOfACompositeIsNoDeviceAndTakesNoAttributes) {
  TargetCatalogue catalogue = fake_catalogue();
  ASSERT_EQ(load(catalogue, R"({"my-board": "cortex-m55 + ethos-u55-128"})"), "");
  EXPECT_EQ(
      complaint(catalogue, "c + my-board"),
      "--target, character 5: nested composite: 'my-board' is a composite itself and cannot be a "
      "device; list its devices one by one\n");
  EXPECT_EQ(complaint(catalogue, "my-board -macs=64"),
            "--target, character 10: 'my-board' is a composite, which has no attributes; write its "
            "devices, and the attribute with the one that has it\n");
  EXPECT_EQ(complaint(catalogue, "board: my-board"),
            "--target: 'board' names a composite; name its devices\n");
}

TEST(UserTags, Cycles) {
  TargetCatalogue catalogue = fake_catalogue();
  EXPECT_EQ(
      load(catalogue, R"({"a": "c + b", "b": "a"})"),
      "tags.json, tag 'a', character 5, tag 'b': tag 'a' refers to itself: a -> b -> a; write one "
      "of them without tags\n"
      "tags.json, tag 'b', tag 'a', character 5: tag 'b' refers to itself: b -> a -> b; write one "
      "of them without tags\n");
  EXPECT_EQ(catalogue.tag("a"), nullptr) << "a file with an error adds nothing";
  EXPECT_EQ(
      load(catalogue, R"({"x": "x -unroll=2"})"),
      "tags.json, tag 'x': tag 'x' refers to itself: x -> x; write one of them without tags\n");
}

TEST(UserTags, DeepChainsEnd) {
  TargetCatalogue catalogue = fake_catalogue();
  ASSERT_TRUE(catalogue.add_tag({"t0", "", "c"}).ok());
  for (int i = 1; i < 40; ++i) {
    ASSERT_TRUE(catalogue.add_tag({"t" + std::to_string(i), "", "t" + std::to_string(i - 1)}).ok());
  }
  EXPECT_EQ(complaint(catalogue, "t15"), "parsed as c");
  EXPECT_THAT(complaint(catalogue, "t16"),
              testing::HasSubstr("tag 't0' lies more than 16 tags deep"));
}

TEST(UserTags, FilesThatAreWrong) {
  TargetCatalogue catalogue = fake_catalogue();
  EXPECT_EQ(load(catalogue, "[1]"),
            "tags.json: a tags file is an object of tags; write {\"my-board\":\"c -mcpu=...\"}\n");
  EXPECT_EQ(
      load(catalogue, R"({"a": 5, "cortex-m7": "c", "b": {"target": "c", "hots": "c"}})"),
      "tags.json, tag 'a': a target is a string or an object, not a JSON number\n"
      "tags.json, tag 'cortex-m7': there is a tag of this name; choose another one\n"
      "tags.json, tag 'b': unexpected 'hots'; a tag has 'target', and may have 'host' and a text "
      "'summary'\n");
  EXPECT_EQ(
      load(catalogue, R"({"a": "c -mcpu=cortex-m8", "b": "ethos-u -macs=100"})"),
      "tags.json, tag 'a', character 3: attribute 'mcpu' of 'c' cannot be 'cortex-m8'; did you "
      "mean "
      "'cortex-m0'? choices: generic, cortex-m0, cortex-m4, cortex-m7, cortex-m55\n"
      "tags.json, tag 'b', character 9: attribute 'macs' of 'ethos-u' cannot be 100; it takes 32 | "
      "64 | 128 | 256 | 512\n");
  EXPECT_EQ(
      load(catalogue,
           R"({"a": {"target": "c", "host": "c"}, "b": {"target": "ethosn", "host": "ethosn"}})"),
      "tags.json, tag 'a': only the tag of an accelerator or device has a host\n"
      "tags.json, tag 'b', host: the host must be one CPU\n");
  EXPECT_EQ(load(catalogue, "{\n \"a\": \"c\",\n \"a\": \"c\"}"),
            "tags.json: 'a' is given twice\n");
  EXPECT_THAT(load(catalogue, "{\n \"a\": \"c\",\n}"),
              testing::AllOf(testing::HasSubstr("tags.json, line 3, column 1: malformed JSON: "),
                             testing::HasSubstr("expected string literal")));
}

TEST(UserTags, FromAFileAndTargetsFromAFile) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "intarsia_tags_test";
  std::filesystem::create_directories(folder);
  const std::string tags = (folder / "tags.json").string(), text = (folder / "target.txt").string();
  std::ofstream(tags) << R"({"mine": "c -mcpu=cortex-m4"})";
  std::ofstream(text) << "mine\n + ethos-u55-128\n";
  TargetCatalogue catalogue = fake_catalogue();
  const Result<void> loaded = catalogue.load_tags_file(tags);
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  const auto target = parse_target_argument(catalogue, "@" + text);
  ASSERT_TRUE(target.ok()) << target.error().to_string();
  EXPECT_EQ(to_string(*target), "c -mcpu=cortex-m4 + ethos-u");
  std::ofstream(text) << "mine\n + ethos-u55-129\n";
  EXPECT_EQ(parse_target_argument(catalogue, "@" + text).error().to_string(),
            text +
                ", line 2, column 4: there is no target kind or tag 'ethos-u55-129'; did you mean "
                "'ethos-u55-128'?\n");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(parse_target_argument(catalogue, "@no/such/file").error().to_string(),
            "--target: cannot read 'no/such/file': there is no such file; check the path\n");
  EXPECT_EQ(parse_target_argument(catalogue, "@.").error().to_string(),
            "--target: cannot read '.': it is not a regular file\n");
}

}  // namespace
}  // namespace intarsia::test
