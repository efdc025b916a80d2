// Reports as the compiler writes them, read back.
#include "budgets/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "intarsia/report.h"

namespace intarsia::budgets {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

Report digits_for(const std::string& target_text, const std::string& pinned = "") {
  std::ifstream in(INTARSIA_SOURCE_DIR "/examples/digits/digits.tflite", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  TargetRegistry registry;
  add_builtin_targets(registry);
  const Result<TargetSpec> target = parse_target_argument(registry.catalogue(), target_text);
  EXPECT_TRUE(target.ok());
  CompileOptions options;
  options.memory.pools = {{"ram", 0}};
  options.memory.open = true;
  options.partition.cycles = true;
  if (!pinned.empty()) options.partition.pins[pinned] = "c";
  const Result<CompiledModel> model =
      compile({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "digits.tflite",
              registry, *target, options);
  EXPECT_TRUE(model.ok()) << model.error().to_string();
  return make_report(*model, target_text, "host");
}

Figures read(const std::string& json) {
  const Result<Figures> figures = read_figures(json, "report.json");
  EXPECT_TRUE(figures.ok()) << figures.error().to_string();
  return figures.ok() ? *figures : Figures{};
}

std::string refusal(const Json& json) {
  const Result<Figures> figures = read_figures(json.dump(), "r.json");
  return figures.ok() ? "" : figures.error().to_string();
}

TEST(Figures, AreThoseOfTheReport) {
  Report report = digits_for("c");
  report.measured = Measurements{"cc 12", 100, 200, 30, 40, {"run 40"}};
  const Figures figures = read(report_json(report));
  EXPECT_EQ(figures.model, "digits");
  EXPECT_EQ(figures.target, "c");
  ASSERT_EQ(figures.memories.size(), 1u);
  EXPECT_EQ(figures.memories[0].peak, report.pools[0].peak);
  EXPECT_EQ(figures.ram(), report.pools[0].peak);
  EXPECT_EQ(figures.flash->total, 330);
  EXPECT_EQ(figures.flash->streams, 30);
  EXPECT_EQ(figures.stack, 40);
  EXPECT_EQ(figures.constants[0].name, "widen");  // 5120 bytes of weights
  ASSERT_EQ(figures.cycles.size(), 1u);
  EXPECT_EQ(figures.cycles[0].operators[0].name, "widen");
  int64_t sum = 0;
  for (const Share& share : figures.cycles[0].operators) sum += share.amount;
  EXPECT_NEAR(static_cast<double>(figures.total_cycles()), static_cast<double>(sum), 1e-9);
}

// The buffers that are alive where most is in use make up what is in use; all of it fits below the peak.
TEST(Figures, TheFullestStepAddsUp) {
  const Report report = digits_for("c");
  const PoolRow& pool = report.pools[0];
  EXPECT_FALSE(pool.fullest_at.empty());
  EXPECT_LE(pool.fullest_bytes, pool.peak);
  int64_t covered = 0, end = 0;
  for (const PoolRow::Live& live : pool.live) {  // by place
    EXPECT_LE(live.end, pool.peak);
    covered += std::max<int64_t>(0, live.end - std::max(live.begin, end));
    end = std::max(end, live.end);
  }
  EXPECT_EQ(covered, pool.fullest_bytes);
  // The bound that the planner proves is the same step's, for a network without alignment gaps.
  EXPECT_EQ(pool.fullest_bytes, pool.lower_bound);
}

TEST(Figures, RegionsOfDevicesAreTheirOwn) {
  const Figures figures = read(report_json(digits_for("cortex-m55+ethos-u55-128", "widen")));
  ASSERT_EQ(figures.cycles.size(), 2u);
  const auto of = [&](const std::string& device) {
    return *std::find_if(figures.cycles.begin(), figures.cycles.end(),
                         [&](const DeviceFigures& row) { return row.device == device; });
  };
  EXPECT_EQ(of("c").operators.size(), 1u);
  EXPECT_EQ(of("c").operators[0].name, "widen");
  EXPECT_EQ(of("ethos-u").operators.size(), 2u);  // before and after it
  for (const Share& share : of("ethos-u").operators) {
    EXPECT_THAT(share.name, HasSubstr("ethos_u"));
    EXPECT_GT(share.amount, 0);
    // Its stream is named alike.
    EXPECT_TRUE(std::any_of(figures.constants.begin(), figures.constants.end(),
                            [&](const Share& other) { return other.name == share.name; }))
        << share.name;
  }
  for (const PlacedOperator& row : figures.operators)
    EXPECT_EQ(row.device, row.name == "widen" ? "c" : "ethos-u");
}

// What several CPUs run: their blocks are added up, the mailbox is one more.
TEST(Figures, OfSeveralPrograms) {
  const Json part = Json::parse(report_json(digits_for("c")));
  Json report = {{"format", kReportFormat}, {"model", "m"},        {"target", "a; b"},
                 {"board", "two"},          {"mailbox_bytes", 48}, {"stages", {part, part}}};
  report["estimated_cycles"] = part["estimated_cycles"];
  const Figures figures = read(report.dump());
  ASSERT_EQ(figures.memories.size(), 2u);
  EXPECT_EQ(figures.memories[0].peak, 2 * part["pools"][0]["peak"].get<int64_t>());
  EXPECT_EQ(figures.memories[0].blocks, 2);
  EXPECT_EQ(figures.memories[1].name, "mailbox");
  EXPECT_EQ(figures.memories[1].peak, 48);
  EXPECT_EQ(figures.operators.size(), 2 * part["operators"].size());
  // Stages of one part work in one block in turn.
  const std::string memory = part["pools"][0]["name"];
  report["blocks"] = {
      {{"member", "a"}, {"name", memory}, {"pool", memory}, {"bytes", 777}, {"stages", {"s0"}}}};
  const Figures in_turn = read(report.dump());
  ASSERT_EQ(in_turn.memories.size(), 2u);
  EXPECT_EQ(in_turn.memories[0].peak, 777);
  EXPECT_EQ(in_turn.memories[0].blocks, 1);
  EXPECT_EQ(in_turn.ram(), 777 + 48);
}

TEST(Figures, OtherReportsAreRefused) {
  Json report = Json::parse(report_json(digits_for("c")));
  EXPECT_EQ(refusal(report), "");
  report["format"] = kReportFormat + 1;
  EXPECT_THAT(refusal(report), HasSubstr("r.json: is a report of format 2, this version reads "
                                         "format 1; compile the model again"));
  report.erase("format");
  EXPECT_THAT(refusal(report), HasSubstr("is the report of an earlier version"));
  EXPECT_THAT(refusal({{"format", 1}}), HasSubstr("is no report.json of 'intarsia compile'"));
  EXPECT_THAT(refusal(Json::array()), HasSubstr("is no report.json"));
  EXPECT_THAT(read_figures("{", "r.json").error().to_string(), HasSubstr("is not JSON"));
}

// Whatever key somebody takes out or changes, the file is refused rather than read as less.
TEST(Figures, ChangedReportsAreRefused) {
  const Json report = Json::parse(report_json(digits_for("c")));
  for (const char* key : {"board", "pools", "operators"}) {
    Json changed = report;
    changed.erase(key);
    EXPECT_THAT(refusal(changed), HasSubstr("is not a report as")) << key;
    changed[key] = 7;
    EXPECT_THAT(refusal(changed), HasSubstr("is not a report as")) << key;
  }
  for (const char* key : {"name", "peak", "fullest"}) {
    Json changed = report;
    changed["pools"][0].erase(key);
    EXPECT_THAT(refusal(changed), HasSubstr("is not a report as")) << key;
  }
}

}  // namespace
}  // namespace intarsia::budgets
