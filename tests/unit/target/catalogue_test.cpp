#include <gtest/gtest.h>

#include "fake_catalogue.h"

namespace intarsia::test {
namespace {

std::string add(KindSpec kind) {
  TargetCatalogue catalogue = fake_catalogue();
  const Result<void> added = catalogue.add_kind(std::move(kind));
  return added ? "" : added.error().to_string();
}

TEST(TargetCatalogue, NamesAreCheckedAndUnique) {
  EXPECT_EQ(add(plain_kind("c", Role::Cpu)),
            "target kind 'c': there is a target kind of this name; choose another one\n");
  EXPECT_EQ(add(plain_kind("cortex-m7", Role::Cpu)),
            "target kind 'cortex-m7': there is a tag of this name; choose another one\n");
  EXPECT_EQ(add(plain_kind("composite", Role::Cpu)),
            "target kind 'composite': the name is reserved; choose another one\n");
  EXPECT_EQ(
      add(plain_kind("a+b", Role::Cpu)),
      "target kind 'a+b': the name is ill-formed; a name begins with a letter and has letters, "
      "digits, '_', '.' and '-'\n");
}

TEST(TargetCatalogue, AttributesKeepTheirOwnRules) {
  KindSpec kind = plain_kind("k", Role::Cpu);
  kind.attributes = {
      AttributeSpec::integer("size", 200, 1, 100, ""), AttributeSpec::boolean("size", true, ""),
      AttributeSpec::word("mode", "a", {}, ""), AttributeSpec::boolean("name", true, "")};
  EXPECT_EQ(
      add(kind),
      "target kind 'k', attribute 'size': attribute 'size' of 'k' cannot be 200; it takes int, "
      "1..100\n"
      "target kind 'k', attribute 'size': the attribute is declared twice\n"
      "target kind 'k', attribute 'mode': an enum attribute has no choices\n"
      "target kind 'k', attribute 'mode': attribute 'mode' of 'k' cannot be 'a'; choices: \n"
      "target kind 'k', attribute 'name': the name is ill-formed or reserved; a name begins with a "
      "letter and has letters, digits, '_', '.' and '-'\n");
}

TEST(TargetCatalogue, TagsOfKindsAreChecked) {
  TargetCatalogue catalogue = fake_catalogue();
  EXPECT_TRUE(catalogue.check_tags().ok());
  ASSERT_TRUE(catalogue.add_tag({"broken", "", "c -mcpu=cortex-m1"}).ok());
  const Result<void> checked = catalogue.check_tags();
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().items().size(), 1u);
  EXPECT_EQ(checked.error().items()[0].where, "tags, tag 'broken', character 3");
  EXPECT_EQ(catalogue.tag("cortex-m7")->origin, "c");
}

TEST(TargetCatalogue, DescribesTypes) {
  EXPECT_EQ(describe_type(AttributeSpec::integer("i", 1, 1, 16, "")), "int, 1..16");
  EXPECT_EQ(describe_type(AttributeSpec::one_of("i", 1, {1, 2}, "")), "1 | 2");
  EXPECT_EQ(describe_type(AttributeSpec::word("w", "a", {"a", "b"}, "")), "a | b");
  EXPECT_EQ(describe_type(AttributeSpec::boolean("b", false, "")), "bool");
  EXPECT_EQ(describe_type(AttributeSpec::list("l", {}, "")), "list");
}

TEST(TargetCatalogueDeathTest, ADerivedValueThatBreaksTheRulesIsOurBug) {
  TargetCatalogue catalogue;
  KindSpec kind = plain_kind("k", Role::Cpu);
  kind.attributes = {AttributeSpec::integer("size", 1, 1, 100, "")};
  kind.resolve = [](Attributes& attributes) -> Result<void> {
    attributes.derive("size", int64_t{101});
    return {};
  };
  ASSERT_TRUE(catalogue.add_kind(kind).ok());
  EXPECT_EXIT((void)parse_target(catalogue, "k"), testing::ExitedWithCode(3),
              "k derives values that keep its own rules");
}

}  // namespace
}  // namespace intarsia::test
