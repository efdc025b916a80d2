#include "budgets/budgets_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intarsia::budgets {
namespace {

using testing::HasSubstr;

std::string problems(const std::string& text) {
  const Result<std::vector<ModelBudget>> parsed = parse_budgets(text, "ci/b.json");
  return parsed.ok() ? "" : parsed.error().to_string();
}

TEST(BudgetsFile, IsRead) {
  const Result<std::vector<ModelBudget>> parsed = parse_budgets(R"({"models": [
    {"model": "kws.tflite", "board": "mps2-an386", "optimise": "size", "io": "int8",
     "pins": ["a=c"], "ram_budget": "24K",
     "max_ram": ["24K", "sram=16K"], "max_flash": 61440, "max_stack": "2K", "max_cycles": "5M",
     "baseline": "kws/report.json", "max_growth": "2%"},
    {"model": "/abs/vww.onnx", "board": "boards/mine", "target": "cortex-m4", "policy": "cost",
     "name": "vww", "baseline": "/abs/report.json", "ram_budget": "auto"}
  ]})",
                                                                "ci/b.json");
  ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
  ASSERT_EQ(parsed->size(), 2u);
  const ModelBudget& kws = (*parsed)[0];
  EXPECT_EQ(kws.where, "ci/b.json: models[0]");
  EXPECT_EQ(kws.model, "ci/kws.tflite");
  EXPECT_EQ(
      kws.options,
      (std::map<std::string, std::string>{
          {"board", "mps2-an386"}, {"io", "int8"}, {"optimise", "size"}, {"ram-budget", "24576"}}));
  EXPECT_EQ(kws.pins, std::vector<std::string>{"a=c"});
  ASSERT_EQ(kws.limits.size(), 5u);
  EXPECT_EQ(kws.limits[0].most, 24576);
  EXPECT_EQ(kws.limits[1].of, "sram");
  EXPECT_EQ(kws.limits[2].most, 61440);
  EXPECT_EQ(kws.limits[4].most, 5000000);
  EXPECT_EQ(kws.baseline, "ci/kws/report.json");
  EXPECT_EQ(kws.max_growth, 2000);
  const ModelBudget& vww = (*parsed)[1];
  EXPECT_EQ(vww.model, "/abs/vww.onnx");
  EXPECT_EQ(vww.options.at("board"), "ci/boards/mine");
  EXPECT_EQ(vww.baseline, "/abs/report.json");
  EXPECT_EQ(vww.max_growth, std::nullopt);
}

TEST(BudgetsFile, BesideTheShellPathsStayAsTheyAre) {
  const Result<std::vector<ModelBudget>> parsed =
      parse_budgets(R"({"models": [{"model": "m.tflite", "max_ram": 1}]})", "b.json");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ((*parsed)[0].model, "m.tflite");
}

TEST(BudgetsFile, EveryProblemIsReported) {
  const std::string all = problems(R"({"model": [], "models": [
    {"board": "b", "max_rom": "2K"},
    {"model": "m", "max_ram": "2Q", "max_flash": {}, "max_stack": ["1K", true]},
    {"model": "m", "max_cycles": -5},
    {"model": "m"},
    {"model": "m", "max_ram": 1, "max_growth": "2%"},
    {"model": "m", "baseline": "r.json", "max_growth": "two", "optimise": "fast"},
    7
  ]})");
  for (const char* expected :
       {"ci/b.json: unknown key 'model'; did you mean 'models'?",
        "models[0]: the key 'model' is missing",
        "models[0]: unknown key 'max_rom'; did you mean 'max_ram'?",
        "models[1]: max_ram: '2Q' is no size", "models[1]: 'max_flash' is neither a text nor",
        "models[1]: 'max_stack' is neither a text nor",
        "models[2]: 'max_cycles' is neither a text nor",
        "models[3]: has neither a budget nor a baseline",
        "models[4]: 'max_growth' is there without a 'baseline'",
        "models[5]: max_growth: 'two' is no percentage",
        "models[5]: 'optimise' cannot be 'fast'; write size or speed or balanced",
        "models[6]: a JSON object is expected here"})
    EXPECT_THAT(all, HasSubstr(expected));
}

// As --ram-budget 0 is: without a word it would be no budget at all.
TEST(BudgetsFile, ABudgetOfNoBytesIsNone) {
  const std::string all = problems(R"({"models": [
    {"model": "m", "max_ram": 1, "ram_budget": 0},
    {"model": "m", "max_ram": 1, "ram_budget": "0K"},
    {"model": "m", "max_ram": 1, "ram_budget": 9300000000000000000},
    {"model": "m", "max_ram": 1, "ram_budget": "2Q"}
  ]})");
  for (const char* expected :
       {"models[0]: 'ram_budget' cannot be 0; write bytes", "models[1]: 'ram_budget' cannot be 0;",
        "models[2]: 'ram_budget' cannot be 9300000000000000000;",
        "models[3]: 'ram_budget' is not a number"})
    EXPECT_THAT(all, HasSubstr(expected));
}

TEST(BudgetsFile, RepeatedKeysAreErrors) {
  EXPECT_EQ(problems(R"({"models": [{"model": "m", "max_ram": 1}, {"model": "n", "max_ram": 1,
                         "max_ram": 2}]})"),
            "ci/b.json: models[1]: the key 'max_ram' is there twice; keep one of them\n");
}

TEST(BudgetsFile, NoModels) {
  EXPECT_THAT(problems("{}"), HasSubstr("the key 'models' is missing"));
  EXPECT_THAT(problems(R"({"models": []})"), HasSubstr("'models' is empty"));
  EXPECT_THAT(problems(R"({"models": {}})"), HasSubstr("'models' is not a list"));
  EXPECT_THAT(problems("[]"), HasSubstr("a JSON object is expected here"));
  EXPECT_THAT(problems("models: []"), HasSubstr("is not JSON"));
}

}  // namespace
}  // namespace intarsia::budgets
