// report.html beside report.json, in every form of a package, and `intarsia report`.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "large_models.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* kNpu = "cortex-m55+ethos-u55-128";

class ReportPage : public Cli {
 protected:
  std::string text(const std::string& name) const {
    const std::vector<uint8_t> bytes = read(name);
    return {bytes.begin(), bytes.end()};
  }
  void compile(const std::vector<std::string>& more, const std::string& folder) const {
    std::vector<std::string> command = {"compile", digits_path(), "-o", folder};
    command.insert(command.end(), more.begin(), more.end());
    const ProcessOutcome outcome = intarsia(command);
    ASSERT_TRUE(outcome.succeeded()) << outcome.err;
  }
};

TEST_F(ReportPage, IsPartOfEveryFormOfAPackage) {
  const std::vector<std::vector<std::string>> forms = {
      {},
      {"--single-file"},
      {"--runtime", "runtime"},
      {"--format", "cmake"},
      {"--format", "arduino"},
      {"--target", "low_power_cpu: c -mcpu=cortex-m0; inference_cpu: c -mcpu=cortex-m7", "--pin",
       "stem=low_power_cpu"}};
  for (size_t i = 0; i < forms.size(); ++i) {
    const std::string folder = "form" + std::to_string(i);
    compile(forms[i], folder);
    ASSERT_TRUE(exists(folder + "/report.html")) << folder;
    const Json manifest = Json::parse(text(folder + "/manifest.json"));
    EXPECT_THAT(manifest["files"].get<std::vector<std::string>>(),
                testing::Contains("report.html"));
    EXPECT_THAT(text(folder + "/report.html"), HasSubstr("<title>digits on host"));
  }
  EXPECT_FALSE(exists("runtime/report.html"));
}

TEST_F(ReportPage, HasAViewOfEachPart) {
  compile({"--target", "low_power_cpu: c -mcpu=cortex-m0; inference_cpu: c -mcpu=cortex-m7",
           "--pin", "stem=low_power_cpu"},
          "two");
  const std::string page = text("two/report.html");
  for (const char* what : {"id=\"memory-0\"", "id=\"memory-1\"", "id=\"operators-1\"", "Mailbox",
                           "on low_power_cpu</h2>", "on inference_cpu</h2>"})
    EXPECT_THAT(page, HasSubstr(what));
  const Json report = Json::parse(text("two/report.json"));
  for (const Json& part : report["stages"])
    for (const Json& row : part["operators"]) EXPECT_TRUE(row.contains("cycles_alone")) << row;
}

TEST_F(ReportPage, IsMadeAgainFromTheFolderOrTheFile) {
  compile({}, "out");
  const ProcessOutcome made = intarsia({"report", "out", "-o", "again.html"});
  EXPECT_TRUE(done(made));
  EXPECT_EQ(made.out, "again.html\n");
  EXPECT_EQ(text("again.html"), text("out/report.html"));
  EXPECT_TRUE(done(intarsia({"report", "out/report.json", "-o", "once_more.html"})));
  EXPECT_EQ(text("once_more.html"), text("out/report.html"));
}

TEST_F(ReportPage, ComparesAndShowsATrace) {
  compile({"--target", kNpu}, "out");
  compile({}, "before");
  write_image("image.bin", 0);
  ASSERT_TRUE(done(intarsia({"run", digits_path(), "--target", kNpu, "--input", "image.bin",
                             "--output-dir", "results", "--trace", "trace.json"})));
  ASSERT_TRUE(done(intarsia(
      {"report", "out", "--baseline", "before", "--trace", "trace.json", "-o", "page.html"})));
  const std::string page = text("page.html");
  EXPECT_THAT(page, HasSubstr("Recorded by a simulator"));
  EXPECT_THAT(page, HasSubstr(": MAC unit, "));
  EXPECT_THAT(page, HasSubstr(": DMA, "));
  EXPECT_THAT(page, HasSubstr("Baseline <code>before/report.json</code>"));
  EXPECT_THAT(page, HasSubstr("stem: from c to ethos-u</li>"));
}

TEST_F(ReportPage, WhatCannotBeReadIsRefusedAndNothingIsWritten) {
  compile({}, "out");
  write("not.json", std::string("{"));
  EXPECT_TRUE(refused(intarsia({"report", "nowhere.json", "-o", "page.html"}), {"nowhere.json"}));
  EXPECT_TRUE(refused(intarsia({"report", "not.json", "-o", "page.html"}), {"not.json"}));
  EXPECT_TRUE(
      refused(intarsia({"report", "out/manifest.json", "-o", "page.html"}), {"out/manifest.json"}));
  EXPECT_TRUE(refused(intarsia({"report", "out", "--trace", "out/report.json", "-o", "page.html"}),
                      {"out/report.json: is no trace"}));
  EXPECT_TRUE(refused(intarsia({"report", "out", "--baseline", "not.json", "--trace", "not.json",
                                "-o", "page.html"}),
                      {"not.json"}));
  EXPECT_FALSE(exists("page.html"));
  EXPECT_TRUE(
      refused(intarsia({"report", "out", "-o", "no/such/folder/page.html"}), {"page.html"}));
  EXPECT_TRUE(usage_error(intarsia({"report", "out"}), "--output"));
}

// Names of operators are whatever a model says.
TEST_F(ReportPage, NamesOfAModelCannotBreakOut) {
  ModelSpec model = chain_of(3);
  for (auto& tensor : model.tensors)
    tensor.name = "</script><script>alert(1)</script><!--\"'>" + tensor.name + "\xff";
  write("hostile.tflite", build(model));
  const ProcessOutcome outcome = intarsia({"compile", "hostile.tflite", "-o", "out"});
  ASSERT_TRUE(outcome.succeeded()) << outcome.err;
  const std::string page = text("out/report.html");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)"));
}

TEST_F(ReportPage, OfAThousandOperators) {
  write("sums.tflite", build(sums_of(1000)));
  ASSERT_TRUE(intarsia({"compile", "sums.tflite", "-o", "out"}).succeeded());
  EXPECT_LT(read("out/report.html").size(), 5'000'000u);
}

}  // namespace
}  // namespace intarsia::test
