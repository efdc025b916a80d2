#include "support/model_name.h"

#include <gtest/gtest.h>

namespace intarsia {
namespace {

TEST(ModelName, KeepsWhatCollidesWithNothing) {
  EXPECT_EQ(model_name_from_stem("kws"), "kws");
  EXPECT_EQ(model_name_from_stem("my model (v2)"), "my_model_v2");
  EXPECT_EQ(model_name_from_stem("2layers"), "_2layers");
  EXPECT_EQ(model_name_from_stem("it's \"quoted\""), "it_s_quoted");
  EXPECT_EQ(model_name_from_stem("\xe6\xa8\xa1"), "model");
  EXPECT_EQ(model_name_from_stem(""), "model");
}

TEST(ModelName, IsNoKeywordTypeMacroOrHeader) {
  for (const char* stem : {"int", "class", "stdint", "string", "String", "pthread", "arm_mve",
                           "int8_t", "size_t", "linux", "NULL", "INT8_MAX", "errno"}) {
    EXPECT_NE(model_name_problem(stem), "") << stem;
    EXPECT_EQ(model_name_from_stem(stem), std::string(stem) + "_");
  }
  for (const char* stem : {"intarsia", "intarsia_package", "INTARSIA_x"})
    EXPECT_EQ(model_name_from_stem(stem), std::string("model_") + stem);
  for (const char* name : {"__x", "_Bool", "", "a-b", "2x", "caf\xc3\xa9"})
    EXPECT_NE(model_name_problem(name), "") << name;
}

TEST(ModelName, WhateverTheStemTheNameIsAllowed) {
  for (const std::string& stem :
       {std::string(300, 'n'), std::string(128, 'x') + "_t", std::string(127, '-') + "int",
        std::string("intarsia_") + std::string(200, 'y'), std::string("_"), std::string("42")}) {
    const std::string name = model_name_from_stem(stem);
    EXPECT_EQ(model_name_problem(name), "") << stem << " gave " << name;
    EXPECT_LE(name.size(), kLongestModelName);
  }
}

}  // namespace
}  // namespace intarsia
