// `intarsia check`: what a script of continuous integration sees of it.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

class Check : public Cli {
 protected:
  ProcessOutcome check(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"check", digits_path()});
    return intarsia(arguments);
  }
  // A gate that failed: its figures are on standard output, and nothing went wrong.
  static testing::AssertionResult failed(const ProcessOutcome& outcome,
                                         const std::vector<std::string>& words) {
    if (outcome.exit_code != kUserError || !outcome.err.empty())
      return testing::AssertionFailure() << outcome.ending() << "\n" << outcome.err;
    for (const std::string& word : words)
      if (!contains(outcome.out, word))
        return testing::AssertionFailure() << "'" << word << "' is not in\n" << outcome.out;
    return testing::AssertionSuccess();
  }
  Json report(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = {"compile", digits_path(), "-o", "made"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_TRUE(done(intarsia(arguments)));
    return Json::parse(read("made/report.json"), nullptr, false);
  }
  void write_json(const std::string& name, const Json& json) const { write(name, json.dump()); }
};

// To the byte: the figures are those of the report.
TEST_F(Check, RamIsWithinOrNot) {
  const Json pool = report({})["pools"][0];
  const int64_t peak = pool["peak"];
  const std::string name = pool["name"];
  const ProcessOutcome passes = check({"--max-ram", std::to_string(peak)});
  EXPECT_TRUE(done(passes));
  EXPECT_TRUE(contains(passes.out, "digits: passed")) << passes.out;
  EXPECT_TRUE(failed(check({"--max-ram", std::to_string(peak - 1)}),
                     {fmt::format("{} bytes of {}: 1 too many", peak, peak - 1),
                      fmt::format("{} is fullest at '", name), "_out "}));
  EXPECT_TRUE(done(check({"--max-ram", fmt::format("{}={}", name, peak)})));
  EXPECT_TRUE(failed(check({"--max-ram", fmt::format("{}=1K", name), "--max-ram", "1M"}),
                     {"EXCEEDED  ram of " + name, "within    ram ", "1 of 2 budgets exceeded"}));
}

TEST_F(Check, ABaselineMayBeTheFolder) {
  ASSERT_TRUE(report({}).is_object());
  EXPECT_TRUE(done(check({"--baseline", "made"})));
  EXPECT_TRUE(refused(check({"--baseline", "."}), {"./report.json: cannot be read"}));
}

// The model may come last: an option takes one value.
TEST_F(Check, OrderOfArguments) {
  EXPECT_TRUE(done(intarsia({"check", "--max-ram", "1M", "--max-cycles", "5M", digits_path()})));
}

TEST_F(Check, CyclesAreThoseThatTheReportEstimates) {
  const Json cycles = report({})["estimated_cycles"];
  const int64_t sum = cycles["devices"][0]["cycles"];
  ASSERT_GT(sum, 1000);
  EXPECT_TRUE(done(check({"--max-cycles", std::to_string(sum)})));
  const ProcessOutcome outcome = check({"--max-cycles", std::to_string(sum - 1)});
  EXPECT_TRUE(failed(outcome, {"1 too many", "most of them: widen"}));
  EXPECT_TRUE(failed(check({"--max-cycles", "c=1k"}), {"cycles of c", "of 1000:"}));
}

TEST_F(Check, AllBudgetsAreChecked) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  const std::string board = "mps2-an386";
  const Json json = report({"--board", board});
  EXPECT_TRUE(
      failed(check({"--board", board, "--max-ram", "1K", "--max-ram", "psram=1", "--max-flash",
                    "10K", "--max-stack", "100", "--max-cycles", "1k"}),
             {"EXCEEDED  ram ", "within    ram of psram", "EXCEEDED  flash", "it holds: code ",
              "widen ", "EXCEEDED  stack", "the deepest calls are digits_run ", "EXCEEDED  cycles",
              "4 of 5 budgets exceeded"}));
  const int64_t flash = json["flash"]["total_bytes"];
  EXPECT_EQ(flash, json["flash"]["code_bytes"].get<int64_t>() +
                       json["flash"]["constant_bytes_linked"].get<int64_t>());
  EXPECT_TRUE(done(check({"--board", board, "--max-flash", std::to_string(flash), "--max-stack",
                          std::to_string(json["stack"]["bytes"].get<int64_t>())})));
  EXPECT_TRUE(
      failed(check({"--board", board, "--max-flash", std::to_string(flash - 1)}), {"1 too many"}));
}

// Streams of an NPU are in flash like everything else: for `check`, and for `compile --flash-budget`.
TEST_F(Check, StreamsAreInFlash) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  const std::vector<std::string> npu = {"--board", "mps3-an547", "--target", "ethos-u55-128"};
  const Json flash = report(npu)["flash"];
  const int64_t streams = flash["stream_bytes_linked"];
  EXPECT_GE(streams, flash["stream_bytes"].get<int64_t>());
  EXPECT_GT(streams, 10000);  // the weights are in them
  const int64_t total = flash["total_bytes"];
  EXPECT_EQ(total, flash["code_bytes"].get<int64_t>() + streams);
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), npu.begin(), npu.end());
    return arguments;
  };
  EXPECT_TRUE(
      failed(check(with({"--max-flash", std::to_string(total - 1), "--max-cycles", "1k"})),
             {"1 too many", "command streams " + std::to_string(streams),
              "streams: main_ethos_u_0 ", "ethos-u has ", "most of them: main_ethos_u_0 "}));
  EXPECT_TRUE(done(intarsia(
      with({"compile", digits_path(), "--flash-budget", std::to_string(total), "-o", "fits"}))));
  EXPECT_TRUE(
      refused(intarsia(with({"compile", digits_path(), "--flash-budget", "8K", "-o", "no"})),
              {"--flash-budget: 8192 bytes are too few", "of command streams",
               "the command stream 'main_ethos_u_0' decides it"}));
  EXPECT_FALSE(exists("no"));
}

TEST_F(Check, AgainstABaseline) {
  Json baseline = report({});
  EXPECT_TRUE(done(check({"--baseline", "made/report.json"})));
  EXPECT_TRUE(contains(check({"--baseline", "made/report.json"}).out, "unchanged ram"));
  const int64_t peak = baseline["pools"][0]["peak"];
  baseline["pools"][0]["peak"] = peak - 32;
  baseline["operators"][0]["member"] = "npu";
  write_json("old.json", baseline);
  EXPECT_TRUE(failed(check({"--baseline", "old.json"}),
                     {"GREW", fmt::format("{} -> {} bytes: +32", peak - 32, peak), "0% allowed",
                      "moved from npu to c", "1 figure grew too much"}));
  const ProcessOutcome allowed = check({"--baseline", "old.json", "--max-growth", "5%"});
  EXPECT_TRUE(done(allowed));
  EXPECT_TRUE(contains(allowed.out, "grew ")) << allowed.out;
  EXPECT_TRUE(failed(check({"--baseline", "old.json", "--max-growth", "1%"}), {"GREW"}));
  baseline["pools"][0]["peak"] = peak + 32;
  write_json("old.json", baseline);
  EXPECT_TRUE(done(check({"--baseline", "old.json"})));
}

TEST_F(Check, BadBaselines) {
  Json baseline = report({});
  EXPECT_TRUE(refused(check({"--baseline", "absent.json"}), {"absent.json: cannot be read"}));
  write("noise.json", std::string("figures"));
  EXPECT_TRUE(refused(check({"--baseline", "noise.json"}), {"noise.json: is not JSON"}));
  write("twice.json", std::string("{\"model\": 1, \"model\": 2}"));
  EXPECT_TRUE(refused(check({"--baseline", "twice.json"}), {"the key 'model' is there twice"}));
  EXPECT_TRUE(refused(check({"--baseline", "made/manifest.json"}), {"manifest.json: is "}));
  baseline["format"] = 99;
  write_json("next.json", baseline);
  EXPECT_TRUE(refused(check({"--baseline", "next.json"}), {"is a report of format 99"}));
  baseline["format"] = 1;
  baseline["board"] = "mps2-an386";
  write_json("other.json", baseline);
  EXPECT_TRUE(refused(check({"--baseline", "other.json", "--max-ram", "rom=1"}),
                      {"other.json: is of board mps2-an386, not host",
                       "--max-ram: there is no memory for activations 'rom'"}));
}

TEST_F(Check, BadOptions) {
  EXPECT_TRUE(refused(intarsia({"check"}), {"check: there is no model to check"}));
  EXPECT_TRUE(refused(check({}), {"check: there is no budget to check", "--max-ram"}));
  EXPECT_TRUE(refused(check({"--max-ram", "20Q", "--max-cycles", "x", "--max-stack", "a=1"}),
                      {"--max-ram: '20Q' is no size", "--max-cycles: 'x' is no count",
                       "--max-stack: 'a=1' names a memory"}));
  EXPECT_TRUE(refused(check({"--max-growth", "2%", "--max-ram", "1M"}),
                      {"--max-growth: there is no baseline"}));
  EXPECT_TRUE(refused(check({"--max-ram", "1M", "--max-ram", "2M"}),
                      {"--max-ram: there are two budgets for ram"}));
  EXPECT_TRUE(refused(check({"--max-flash", "1M", "--max-stack", "1M"}),
                      {"--max-flash: flash cannot be measured", "--max-stack: the stack cannot",
                       "choose another --board"}));
  EXPECT_TRUE(refused(intarsia({"check", "absent.tflite", "--max-ram", "1M"}),
                      {"absent.tflite: cannot be read"}));
  EXPECT_TRUE(usage_error(check({"--max-ramm", "1"}), "--max-ramm"));
}

TEST_F(Check, AsJson) {
  const ProcessOutcome outcome = check({"--max-ram", "1K", "--json"});
  EXPECT_TRUE(failed(outcome, {}));
  const Json json = Json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << outcome.out;
  EXPECT_EQ(json["passed"], false);
  const Json& budget = json["models"][0]["budgets"][0];
  EXPECT_EQ(budget["limit"], 1024);
  EXPECT_EQ(budget["excess"], budget["figure"].get<int64_t>() - 1024);
  EXPECT_FALSE(budget["decides"][0]["shares"].empty());
}

TEST_F(Check, AFileOfBudgets) {
  report({});
  write("ci/digits.tflite", digits_bytes());
  write("ci/base.json", *read_text_file(path("made/report.json")));
  write_json("ci/budgets.json",
             {{"models",
               {{{"model", "digits.tflite"}, {"max_ram", "4K"}, {"max_cycles", "5M"}},
                {{"model", "digits.tflite"}, {"baseline", "base.json"}, {"max_ram", "ram=1K"}},
                {{"model", digits_path()}, {"baseline", "base.json"}, {"max_growth", "1%"}}}}});
  const ProcessOutcome outcome = intarsia({"check", "--file", "ci/budgets.json"});
  EXPECT_TRUE(failed(outcome, {"within    cycles", "EXCEEDED  ram of ram", "digits: FAILED",
                               "compared with ci/base.json, growth of 1% allowed"}));
  const Json json =
      Json::parse(intarsia({"check", "--file", "ci/budgets.json", "--json"}).out, nullptr, false);
  ASSERT_EQ(json["models"].size(), 3u);
  EXPECT_EQ(json["models"][0]["passed"], true);
  EXPECT_EQ(json["models"][1]["passed"], false);
  EXPECT_EQ(json["models"][2]["passed"], true);
}

// Options of the command line are for all models, and a model's own go before those.
TEST_F(Check, PinsOfAModelGoFirst) {
  write_json("b.json",
             {{"models", {{{"model", digits_path()}, {"max_ram", "1M"}, {"pins", {"widen=c"}}}}}});
  EXPECT_TRUE(done(intarsia({"check", "--file", "b.json", "--pin", "widen=npu"})));
  EXPECT_TRUE(refused(intarsia({"check", "--file", "b.json", "--pin", "stem=npu"}), {"'npu'"}));
}

TEST_F(Check, BadFilesOfBudgets) {
  EXPECT_TRUE(
      refused(intarsia({"check", "--file", "absent.json"}), {"absent.json: cannot be read"}));
  write("b.json", std::string(R"({"models": [{"model": "m", "max_rom": 1, "max_ram": 1}]})"));
  EXPECT_TRUE(refused(intarsia({"check", "--file", "b.json"}),
                      {"b.json: models[0]: unknown key 'max_rom'; did you mean 'max_ram'?"}));
  write("b.json", std::string(R"({"models": [{"model": "m", "max_ram": 1, "max_ram": 2}]})"));
  EXPECT_TRUE(refused(intarsia({"check", "--file", "b.json"}),
                      {"b.json: models[0]: the key 'max_ram' is there twice"}));
  write_json("b.json", {{"models",
                         {{{"model", "absent.tflite"}, {"max_ram", 1}},
                          {{"model", digits_path()}, {"max_ram", "rom=1"}}}}});
  EXPECT_TRUE(refused(intarsia({"check", "--file", "b.json", "--json"}),
                      {"b.json: models[0]: absent.tflite: cannot be read",
                       "b.json: models[1]: --max-ram: there is no memory for activations 'rom'"}));
  EXPECT_TRUE(refused(check({"--file", "b.json"}), {"--file: names models of its own"}));
  EXPECT_TRUE(refused(intarsia({"check", "--file", "b.json", "--max-ram", "1"}),
                      {"--file: has budgets of its own"}));
  EXPECT_TRUE(refused(intarsia({"check", "--file", "b.json", "--max-growth", "1%"}),
                      {"--file: has baselines of its own"}));
}

// Sizes are written alike everywhere.
TEST_F(Check, SizesOfOtherOptions) {
  EXPECT_TRUE(done(intarsia({"compile", digits_path(), "--ram-budget", "4K", "-o", "a"})));
  EXPECT_TRUE(done(intarsia({"compile", digits_path(), "--ram-budget", "4096", "-o", "b"})));
  EXPECT_EQ(read("a/report.json"), read("b/report.json"));
  EXPECT_TRUE(usage_error(intarsia({"compile", digits_path(), "--ram-budget", "4Q", "-o", "c"}),
                          "'4Q' is no size"));
  EXPECT_TRUE(usage_error(intarsia({"compile", digits_path(), "--ram-budget", "0", "-o", "c"}),
                          "--ram-budget"));
}

}  // namespace
}  // namespace intarsia::test
