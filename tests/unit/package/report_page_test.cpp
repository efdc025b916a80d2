// The page of a report: what is in it, whatever the names are, and how large models and earlier reports look.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "intarsia/report.h"
#include "packaging/page/graph_layout.h"
#include "packaging/page/markup.h"
#include "packaging/page/treemap.h"
#include "report_testing.h"
#include "support/strict_json.h"

namespace intarsia::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// A page with a small report of two operators, for what is written into it by hand.
Report small_report() {
  Report report;
  report.model = "small";
  report.target = "c";
  report.board = "host";
  report.steps = 2;
  report.pools = {{"ram", 100, 64, 64, true, "greedy", {}}};
  OperatorRow first;
  first.name = "first", first.device = "c", first.kind = "conv2d", first.macs = 10;
  first.weight_bytes = 7, first.constants = {{"first_weights", "weights", 7}};
  OperatorRow second = first;
  second.name = "second";
  report.operators = {first, second};
  report.buffers = {{"b0", "tensor", "t0", "ram", 0, 64, 0, 1, "", "first", {"second"}}};
  report.step_rows = {{0, 0, "first", "c"}, {1, 1, "second", "c"}};
  report.graph = {{"first", "conv2d", "c", "main_c_0", "i8[1]"},
                  {"second", "conv2d", "c", "main_c_0", "i8[1]"}};
  report.edges = {{"first", "second", "t0", 64}};
  report.cycles = {{"first", "c", 1, 100, 100}, {"second", "c", 1, 300, 100}};
  report.device_cycles = {{"c", 100, 400}};
  return report;
}

TEST(ReportPage, ShowsEveryOperatorInEveryView) {
  const Made made = digits_on("cortex-m55+ethos-u55-128", {{"widen", "c"}});
  const std::string page = report_html(made.report);
  for (const char* id : {"summary", "memory", "flash", "operators", "graph", "timeline"})
    EXPECT_EQ(count_of(page, "<section id=\"" + std::string(id) + "\""), 1u) << id;
  for (size_t i = 0; i < made.report.operators.size(); ++i) {
    const std::string id = "data-op=\"0." + std::to_string(i) + "\"";
    EXPECT_EQ(count_of(page, "<tr " + id + "><td class=\"n muted\""), 1u) << id;
    EXPECT_EQ(count_of(page, "<g class=\"node\" " + id), 1u) << id;
    EXPECT_EQ(count_of(page, "<g class=\"bar\" " + id), 1u) << id;
  }
  for (size_t i = 0; i < made.report.buffers.size(); ++i)
    EXPECT_EQ(count_of(page, "<g class=\"buffer\" data-buf=\"0." + std::to_string(i) + "\""), 1u);
  EXPECT_THAT(page, HasSubstr("the operator is pinned to c"));
  EXPECT_THAT(page, HasSubstr("Estimated by the compiler, not measured"));
}

TEST(ReportPage, IsTheSameEveryTimeAndFromTheFile) {
  const Report report = digits_on("cortex-m55+ethos-u55-128").report;
  const std::string page = report_html(report);
  EXPECT_EQ(page, report_html(report));
  const Result<std::string> again = report_page(report_json(report), "somewhere/report.json");
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(page, *again);
}

TEST(ReportPage, IsSmallAndAsksForNothing) {
  const std::string page = report_html(small_report());
  EXPECT_LT(page.size(), 100'000u);
  for (const char* text : {"http:", "https:", " src=", "url(", "@import", "@@"})
    EXPECT_THAT(page, Not(HasSubstr(text)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

// What the policy of the page says is the hash of the script that is in it: else nothing of it would run.
TEST(ReportPage, NamesTheHashOfItsScript) {
  EXPECT_THAT(report_html(small_report()), ContainsRegex("script-src 'sha256-[A-Za-z0-9+/]{43}='"));
}

TEST(ReportPage, NamesCannotBreakOut) {
  const std::string hostile =
      "</script><script>alert(1)</script><!-- \" onload=\"x' & @@views@@ \xff\xfe\x01 ]]>";
  Report report = small_report();
  report.model = report.target = report.board = hostile;
  for (OperatorRow& row : report.operators) {
    row.name = row.device = row.region = row.kind = row.shapes = row.placement = hostile + row.name;
    row.constants[0].name = hostile;
  }
  report.pools[0].name = report.pools[0].fullest_at = hostile;
  report.buffers[0] = {hostile,  hostile, hostile, hostile, 0,
                       64,       0,       1,       hostile, report.operators[0].name,
                       {hostile}};
  report.step_rows[0].name = report.step_rows[0].device = hostile;
  report.graph = {{report.operators[0].name, hostile, hostile, hostile, hostile},
                  {report.operators[1].name, hostile, hostile, hostile, hostile}};
  report.edges = {{report.operators[0].name, report.operators[1].name, hostile, 1}};
  report.cycles = {{report.operators[0].name, report.operators[0].device, 1, 100, 100}};
  report.device_cycles = {{report.operators[0].device, 100, 100}};
  report.inputs.resize(1);
  report.inputs[0].name = hostile;
  report.not_measured = report.search_note = hostile;
  report.regions = {{report.operators[0].region, hostile, 1, 1, 1}};
  const std::string page = report_html(report);
  EXPECT_EQ(count_of(page, "<script"), 2u);
  EXPECT_EQ(count_of(page, "</script"), 2u);
  EXPECT_EQ(count_of(page, "<!--"), 0u);
  EXPECT_EQ(count_of(page, "onload=\""), 0u);
  EXPECT_EQ(count_of(page, "<section"), count_of(report_html(small_report()), "<section"));
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  // A text that is no UTF-8 has no JSON string.
  EXPECT_NO_THROW(Json(page).dump());
  // What is inside is the report still.
  const std::string begin = "<script type=\"application/json\" id=\"report\">";
  const size_t at = page.find(begin) + begin.size();
  const Json data = Json::parse(page.substr(at, page.find("</script>", at) - at));
  EXPECT_EQ(data["operators"].size(), 2u);
  EXPECT_THAT(data["model"].get<std::string>(), HasSubstr("</script><script>alert(1)"));
}

TEST(ReportPage, OfAnEarlierReportSaysWhatIsMissing) {
  Json json = Json::parse(report_json(small_report()));
  for (const char* key : {"buffers", "steps", "graph", "estimated_cycles"}) json.erase(key);
  const Result<std::string> page = report_page(json.dump(), "report.json");
  ASSERT_TRUE(page.ok()) << page.error().to_string();
  EXPECT_THAT(*page, HasSubstr("does not say where each buffer is"));
  EXPECT_THAT(*page, HasSubstr("does not have the graph"));
  EXPECT_THAT(*page, HasSubstr("Nothing is estimated in this report"));
}

TEST(ReportPage, WhatIsOfAnotherTypeIsNothing) {
  Json json = Json::parse(report_json(small_report()));
  json["operators"] = 3;
  json["pools"] = {{{"name", 7}, {"peak", "many"}, {"size", -4}}, 5, nullptr};
  json["buffers"] = {{{"pool", nullptr}, {"begin", 1e300}, {"end", -1}, {"first_step", 9e18}}};
  json["steps"] = {{"count", 1e300}, {"runs", {{{"first", 5}, {"last", 2}}}}};
  json["graph"] = {{"operators", {1, "x", {{"name", {}}}}},
                   {"edges", {{{"from", "x"}, {"to", "x"}}, 4}}};
  json["estimated_cycles"] = "none";
  json["flash"] = {{"code_bytes", "x"}};
  EXPECT_TRUE(report_page(json.dump(), "report.json").ok());
}

TEST(ReportPage, RefusesWhatIsNoReport) {
  const std::string report = report_json(small_report());
  for (const char* text : {"", "{", "[]", "3", "{\"model\": \"m\"}", "\xff"})
    EXPECT_FALSE(report_page(text, "x.json").ok()) << text;
  Json other = Json::parse(report);
  other["format"] = kReportFormat + 1;
  const Result<std::string> refused = report_page(other.dump(), "x.json");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("x.json: is a report of another format"));
  // All problems together.
  const Result<std::string> both =
      report_page(report, "x.json", {"[]", "old.json", "{\"traceEvents\": []}", "trace.json"});
  ASSERT_FALSE(both.ok());
  EXPECT_THAT(both.error().to_string(), HasSubstr("old.json: is no report.json"));
  EXPECT_THAT(both.error().to_string(), HasSubstr("trace.json: is a trace without anything"));
}

TEST(ReportPage, ComparesWithAnotherReport) {
  Report before = small_report();
  before.pools[0].peak = 128;
  before.operators[0].weight_bytes = 107;
  before.operators[1].device = "npu";
  before.macs = 0;
  const Result<std::string> page =
      report_page(report_json(small_report()), "now", {report_json(before), "old.json", "", ""});
  ASSERT_TRUE(page.ok()) << page.error().to_string();
  EXPECT_THAT(*page, HasSubstr("Baseline <code>old.json</code>"));
  EXPECT_THAT(*page,
              HasSubstr("<th scope=\"row\">peak of ram, bytes</th><td class=\"n\">128</td><td "
                        "class=\"n\">64</td><td class=\"n less\">−64</td><td class=\"n "
                        "less\">−50.0%</td>"));
  EXPECT_THAT(*page, HasSubstr("<th scope=\"row\">first: bytes</th><td class=\"n\">107</td>"));
  EXPECT_THAT(*page, Not(HasSubstr("<th scope=\"row\">second: bytes</th>")));
  EXPECT_THAT(*page, HasSubstr("second: from npu to c</li>"));
}

TEST(ReportPage, ShowsATrace) {
  const std::string trace = R"({"traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "npu"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "operations"}},
    {"ph": "X", "name": "second", "pid": 1, "tid": 1, "ts": 2, "dur": 4,
     "args": {"cycles": 400, "mac_cycles": 100, "output_cycles": 300, "macs": 5}},
    {"ph": "X", "name": "dma", "pid": 1, "tid": 2, "ts": 0, "dur": 2, "args": {"cycles": 200}},
    {"ph": "X", "name": "<b>", "pid": -1, "tid": "x", "ts": -5, "dur": 1e300, "args": 3}, 7]})";
  const Result<std::string> page =
      report_page(report_json(small_report()), "now", {"", "", trace, "trace.json"});
  ASSERT_TRUE(page.ok()) << page.error().to_string();
  EXPECT_THAT(*page, HasSubstr("Recorded by a simulator"));
  // The operation, how long the units of it are busy, and its row of the table.
  EXPECT_THAT(*page, HasSubstr("data-op=\"0.1\"><title>second: MAC unit, 1.0 µs at 2.0 µs"));
  EXPECT_THAT(*page, HasSubstr("data-op=\"0.1\"><title>second: output unit, 3.0 µs at 3.0 µs"));
  EXPECT_THAT(*page, HasSubstr("<td class=\"n\">25.0%</td><td class=\"n\">75.0%</td>"));
  EXPECT_THAT(*page, Not(HasSubstr("<b>:")));
}

TEST(ReportPage, OfSeveralPartsHasTheViewsOfEach) {
  Json whole = {{"format", kReportFormat}, {"model", "two"},        {"target", "a, b"},
                {"board", "host"},         {"mailbox_bytes", 1234}, {"parts", {"a", "b"}}};
  for (const char* cpu : {"a", "b"}) {
    Json stage = Json::parse(report_json(small_report()));
    stage["member"] = cpu;
    whole["stages"].push_back(stage);
  }
  const Result<std::string> page = report_page(whole.dump(), "report.json");
  ASSERT_TRUE(page.ok()) << page.error().to_string();
  for (const char* id : {"memory-0", "memory-1", "graph-0", "graph-1", "operators-1"})
    EXPECT_EQ(count_of(*page, "id=\"" + std::string(id) + "\""), 1u) << id;
  EXPECT_THAT(*page, HasSubstr("data-op=\"1.1\""));
  EXPECT_THAT(*page, HasSubstr(packaging::page::grouped(1234)));
  EXPECT_THAT(*page, HasSubstr("RAM in " + small_report().pools[0].name + " of b"));
  // Stages use blocks in turn, where the report says which.
  whole["blocks"] = {{{"member", "b"},
                      {"name", "ram"},
                      {"pool", "ram"},
                      {"bytes", 5678},
                      {"stages", {"two_stage0", "two_stage1"}}}};
  const Result<std::string> blocks = report_page(whole.dump(), "report.json");
  ASSERT_TRUE(blocks.ok()) << blocks.error().to_string();
  EXPECT_EQ(count_of(*blocks, "RAM in "), 1u);
  EXPECT_THAT(*blocks, HasSubstr(packaging::page::grouped(5678)));
  EXPECT_THAT(*blocks, HasSubstr("for 2 stages in turn"));
}

// More than is drawn: the page stays small enough to be used, and says so.
TEST(ReportPage, OfThousandsOfOperators) {
  Report report = small_report();
  const OperatorRow row = report.operators[0];
  report.operators.clear();
  report.graph.clear();
  report.edges.clear();
  report.buffers.clear();
  report.step_rows.clear();
  constexpr int64_t kCount = 3000;
  report.steps = kCount;
  report.pools[0].peak = 64 * kCount;
  for (int64_t i = 0; i < kCount; ++i) {
    const std::string name = "operator" + std::to_string(i);
    report.operators.push_back(row);
    report.operators.back().name = name;
    report.graph.push_back({name, "add", "c", "main_c_0", "i8[1]"});
    // Each reads the first, the one before, and one in the middle.
    for (const int64_t from : {int64_t{0}, i - 1, i / 2})
      if (from >= 0 && from < i)
        report.edges.push_back({"operator" + std::to_string(from), name, "t", 1});
    report.buffers.push_back({name + "_out",
                              "tensor",
                              "",
                              "ram",
                              64 * i,
                              64 * i + 64,
                              i,
                              std::min(kCount - 1, i + 1),
                              "",
                              name,
                              {}});
    report.step_rows.push_back({i, i, name, "c"});
  }
  const std::string page = report_html(report);
  EXPECT_LT(page.size(), 10'000'000u);
  EXPECT_THAT(page, HasSubstr("largest of 3\u202f000 buffers"));
  EXPECT_THAT(page, HasSubstr("first 1\u202f200 of 3\u202f000 operators"));
  EXPECT_EQ(count_of(page, "<td class=\"n muted\""), 3000u);
}

TEST(ReportPage, NothingAtAllIsAPageToo) {
  EXPECT_THAT(report_html(Report{}), HasSubstr("The model needs no working memory"));
}

TEST(ReportMarkup, TextAndNumbers) {
  using namespace packaging::page;
  EXPECT_EQ(escaped("<a b=\"c\" d='e'>&\x01"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\ufffd");
  EXPECT_EQ(json_in_script("{\"<\": \"&>\"}"), "{\"\\u003c\": \"\\u0026\\u003e\"}");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(1234567), "1\u202f234\u202f567");
  EXPECT_EQ(grouped(-1234), "-1\u202f234");
  EXPECT_EQ(percent(1, 3), "33.3%");
  EXPECT_EQ(percent(1, 100000), "<0.1%");
  EXPECT_EQ(percent(0, 3), "0%");
  EXPECT_EQ(percent(1, 0), "0%");
  EXPECT_EQ(time_text(12.34), "12.3 µs");
  EXPECT_EQ(time_text(1234), "1.23 ms");
  EXPECT_EQ(time_text(2.5e6), "2.50 s");
  EXPECT_EQ(shortened("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(shortened("abcdefghi", 8), "abcd…ghi");
  EXPECT_EQ(shortened("äöüßäöüß", 5), "äö…üß");
  EXPECT_EQ(shortened("abc", 1), "");
  EXPECT_EQ(round_distance(3200, 5, true), 1024);
  EXPECT_EQ(round_distance(40, 12, false), 5);
  EXPECT_EQ(round_distance(0, 5, false), 1);
}

TEST(ReportTreemap, AreasAreInProportionAndInside) {
  const std::vector<int64_t> amounts = {600, 200, 100, 60, 30, 9, 1, 0};
  const auto areas = packaging::page::treemap(amounts, {10, 20, 100, 50});
  ASSERT_EQ(areas.size(), amounts.size());
  for (size_t i = 0; i < amounts.size(); ++i) {
    const auto& area = areas[i];
    EXPECT_NEAR(area.width * area.height, static_cast<double>(amounts[i]) * 5, 1e-6);
    if (amounts[i] == 0) continue;
    EXPECT_GE(area.x, 10 - 1e-9);
    EXPECT_GE(area.y, 20 - 1e-9);
    EXPECT_LE(area.x + area.width, 110 + 1e-6);
    EXPECT_LE(area.y + area.height, 70 + 1e-6);
    for (size_t j = 0; j < i; ++j) {
      const auto& other = areas[j];
      const bool apart =
          area.x + area.width <= other.x + 1e-6 || other.x + other.width <= area.x + 1e-6 ||
          area.y + area.height <= other.y + 1e-6 || other.y + other.height <= area.y + 1e-6;
      EXPECT_TRUE(apart) << i << " and " << j;
    }
  }
  EXPECT_TRUE(packaging::page::treemap({}, {0, 0, 1, 1}).empty());
}

TEST(ReportGraph, OperatorsDoNotOverlapAndEdgesLeadDown) {
  using packaging::page::GraphLayout;
  const std::vector<std::pair<size_t, size_t>> edges = {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4},
                                                        {3, 5}, {4, 5}, {0, 5}, {5, 6}, {2, 6}};
  const GraphLayout layout = packaging::page::lay_out(8, edges);
  ASSERT_EQ(layout.nodes.size(), 8u);
  ASSERT_EQ(layout.lines.size(), edges.size());
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_GE(layout.nodes[i].x, 0);
    EXPECT_LE(layout.nodes[i].x + GraphLayout::kNodeWidth, layout.width);
    EXPECT_LE(layout.nodes[i].y + GraphLayout::kNodeHeight, layout.height);
    for (size_t j = 0; j < i; ++j)
      EXPECT_TRUE(layout.nodes[i].y != layout.nodes[j].y ||
                  std::abs(layout.nodes[i].x - layout.nodes[j].x) >= GraphLayout::kNodeWidth)
          << i << " and " << j;
  }
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto& line = layout.lines[e];
    EXPECT_EQ(line.front().y, layout.nodes[edges[e].first].y + GraphLayout::kNodeHeight);
    EXPECT_EQ(line.back().y, layout.nodes[edges[e].second].y);
    for (size_t p = 1; p < line.size(); ++p) EXPECT_LT(line[p - 1].y, line[p].y);
  }
}

}  // namespace
}  // namespace intarsia::test
