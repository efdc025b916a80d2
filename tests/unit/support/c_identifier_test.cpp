#include "support/c_identifier.h"

#include <gtest/gtest.h>

namespace intarsia {
namespace {

TEST(CIdentifier, ReplacesWhatCDoesNotAllow) {
  EXPECT_EQ(c_identifier("kws_ref_model", "m"), "kws_ref_model");
  EXPECT_EQ(c_identifier("my model (v2)", "m"), "my_model_v2");
  EXPECT_EQ(c_identifier("--a//b--", "m"), "a_b");
  EXPECT_EQ(c_identifier("2layers", "m"), "_2layers");
}

TEST(CIdentifier, AvoidsKeywordsOfBothLanguages) {
  EXPECT_EQ(c_identifier("float", "m"), "float_");
  EXPECT_EQ(c_identifier("restrict", "m"), "restrict_");
  EXPECT_EQ(c_identifier("class", "m"), "class_");
}

TEST(UpperCase, LettersOfAsciiOnly) {
  EXPECT_EQ(upper_case("sram_2"), "SRAM_2");
  EXPECT_EQ(upper_case("Caf\xc3\xa9"), "CAF\xc3\xa9");
}

TEST(CIdentifier, FallsBackWhenNothingIsLeft) {
  EXPECT_EQ(c_identifier("", "model"), "model");
  EXPECT_EQ(c_identifier("\xc3\xa4\xc3\xb6", "model"), "model");
}

}  // namespace
}  // namespace intarsia
