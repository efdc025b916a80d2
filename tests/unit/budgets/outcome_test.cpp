#include "budgets/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sample_figures.h"
#include "support/strict_json.h"

namespace intarsia::budgets {
namespace {

using testing::HasSubstr;

Outcome outcome_of(const std::vector<Limit>& limits, const Figures* before = nullptr) {
  Outcome outcome{sample_figures(), *check_limits(sample_figures(), limits), std::nullopt};
  if (before != nullptr) outcome.comparison = *compare(*before, "old.json", sample_figures(), 1500);
  return outcome;
}

TEST(Outcome, OfWhatPasses) {
  const Outcome outcome = outcome_of({{Kind::Ram, "", 2000}});
  EXPECT_TRUE(outcome.passed());
  EXPECT_EQ(outcome_text(outcome),
            "kws for c + npu on board small\n"
            "  within    ram                    1500 bytes of 2000 (75.0%)\n"
            "kws: passed\n");
}

TEST(Outcome, OfWhatDoesNot) {
  Figures before = sample_figures();
  before.memories[0].peak = 900;
  before.flash->total = 10100;
  before.operators[0].device = "npu";
  const Outcome outcome = outcome_of({{Kind::Flash, "", 8000}}, &before);
  EXPECT_FALSE(outcome.passed());
  const std::string text = outcome_text(outcome);
  EXPECT_THAT(text, HasSubstr("EXCEEDED  flash                 10000 bytes of 8000: 2000 too many "
                              "(25.0%)\n"));
  EXPECT_THAT(text, HasSubstr("code 3000, constants 5000, command streams 2000"));
  EXPECT_THAT(text, HasSubstr("compared with old.json, growth of 1.5% allowed\n"));
  EXPECT_THAT(text, HasSubstr("GREW      ram of dtcm             900 -> 1000 bytes: +100 "
                              "(+11.1%); allowed: 913\n"));
  EXPECT_THAT(text,
              HasSubstr("shrank    flash                 10100 -> 10000 bytes: -100 (-1.0%)\n"));
  EXPECT_THAT(text, HasSubstr("'conv' moved from npu to c\n"));
  EXPECT_THAT(text, HasSubstr("kws: FAILED: 1 of 1 budget exceeded, 2 figures grew too much\n"));
}

TEST(Outcome, OfNothing) {
  Figures before = sample_figures();
  before.memories[1].peak = 0;
  const std::string text =
      outcome_text(outcome_of({{Kind::Ram, "", 0}, {Kind::Ram, "psram", 0}}, &before));
  EXPECT_THAT(text, HasSubstr("EXCEEDED  ram                    1500 bytes of 0: 1500 too many\n"));
  EXPECT_THAT(text, HasSubstr("within    ram of psram              0 bytes of 0\n"));
  EXPECT_THAT(text, HasSubstr("0 -> 500 bytes: +500 (from nothing); allowed: 0\n"));
}

TEST(Outcome, AsJson) {
  Figures before = sample_figures();
  before.memories[0].peak = 900;
  before.operators.pop_back();
  const std::string text = outcomes_json(
      {outcome_of({{Kind::Ram, "sram", 499}}, &before), outcome_of({{Kind::Stack, "", 300}})});
  const Result<nlohmann::json> parsed = parse_strict_json(text, "output");
  ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
  const nlohmann::json& json = *parsed;
  EXPECT_EQ(json["passed"], false);
  ASSERT_EQ(json["models"].size(), 2u);
  const nlohmann::json& budget = json["models"][0]["budgets"][0];
  EXPECT_EQ(budget["budget"], "ram");
  EXPECT_EQ(budget["of"], "sram");
  EXPECT_EQ(budget["figure"], 500);
  EXPECT_EQ(budget["limit"], 499);
  EXPECT_EQ(budget["excess"], 1);
  EXPECT_EQ(budget["exceeded"], true);
  EXPECT_EQ(budget["decides"][0]["shares"][0]["name"], "pool_out");
  const nlohmann::json& baseline = json["models"][0]["baseline"];
  EXPECT_EQ(baseline["passed"], false);
  EXPECT_EQ(baseline["max_growth_percent"], 1.5);
  EXPECT_EQ(baseline["figures"][0]["figure"], "ram of dtcm");
  EXPECT_EQ(baseline["figures"][0]["too_much"], true);
  EXPECT_EQ(baseline["operators"][0]["name"], "dense");
  EXPECT_TRUE(baseline["operators"][0]["before"].is_null());
  EXPECT_EQ(json["models"][1]["passed"], true);
  EXPECT_EQ(json["models"][1]["budgets"][0]["excess"], 0);
}

}  // namespace
}  // namespace intarsia::budgets
