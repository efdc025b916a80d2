#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "intarsia/import.h"
#include "intarsia/package.h"
#include "intarsia/report.h"
#include "support/strict_json.h"

namespace intarsia {
namespace {

using Json = nlohmann::ordered_json;

struct Made {
  CompiledModel model;
  Report report;
};

Made digits_on(const std::string& target_text, std::map<std::string, std::string> pins = {}) {
  std::ifstream in(INTARSIA_SOURCE_DIR "/examples/digits/digits.tflite", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  TargetRegistry registry;
  add_builtin_targets(registry);
  const Result<TargetSpec> target = parse_target_argument(registry.catalogue(), target_text);
  EXPECT_TRUE(target.ok());
  CompileOptions options;
  options.memory.pools = {{"ram", 0}};
  options.memory.open = true;
  options.partition.pins = std::move(pins);
  Result<CompiledModel> model =
      compile({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "digits.tflite",
              registry, *target, options);
  EXPECT_TRUE(model.ok()) << model.error().to_string();
  Report report = make_report(*model, target_text, "host");
  return {std::move(model).value(), std::move(report)};
}

// The graph's own figures, whoever runs it.
void expect_right_rows(const Made& made) {
  const graph::Module& imported = made.model.reduced.module;
  const graph::Function& main = imported.entry_function();
  int64_t total = 0;
  for (size_t i = 0; i < main.nodes.size(); ++i) {
    const int64_t macs = graph::mac_count(main, main.nodes[i]);
    const auto row =
        std::find_if(made.report.operators.begin(), made.report.operators.end(),
                     [&](const OperatorRow& r) { return r.name == main.nodes[i].name; });
    if (row == made.report.operators.end()) {  // nothing runs for it on a CPU
      EXPECT_EQ(main.nodes[i].kind, graph::OpKind::Reshape) << main.nodes[i].name;
      continue;
    }
    EXPECT_EQ(row->macs, macs) << row->name;
    EXPECT_FALSE(row->region.empty()) << row->name;
    total += macs;
  }
  EXPECT_EQ(made.report.macs, total);
  EXPECT_GT(total, 0);
  const Json json = Json::parse(report_json(made.report));
  EXPECT_EQ(json["totals"]["macs"], total);
  int64_t rows = 0, stream = 0;
  for (const Json& row : json["operators"]) rows += row["macs"].get<int64_t>();
  for (const Json& row : json["operators"]) stream += row["stream_bytes"].get<int64_t>();
  EXPECT_EQ(rows, total);
  EXPECT_EQ(json["totals"]["stream_bytes"], stream);
}

TEST(Report, OfACpu) {
  const Made made = digits_on("c");
  EXPECT_EQ(made.report.model, "digits");
  EXPECT_EQ(made.report.board, "host");
  int64_t weights = 0, tables = 0;
  for (const tir::Constant& constant : made.model.program().lowered.constants) {
    const auto bytes = static_cast<int64_t>(constant.bytes.size());
    if (constant.use == tir::ConstantUse::Weights) weights += bytes;
    if (constant.use == tir::ConstantUse::Table) tables += bytes;
  }
  EXPECT_GT(tables, 0);
  EXPECT_EQ(made.report.weight_bytes, weights);
  EXPECT_EQ(made.report.table_bytes, tables);
  expect_right_rows(made);
  EXPECT_TRUE(made.report.regions.empty());
  EXPECT_EQ(report_text(made.report).find("Streams"), std::string::npos);
}

TEST(Report, OfAnNpuHasARowPerOperator) {
  const Made made = digits_on("cortex-m55+ethos-u55-128");
  expect_right_rows(made);
  ASSERT_EQ(made.report.regions.size(), 1u);
  const RegionRow& region = made.report.regions[0];
  EXPECT_EQ(region.operators, 13);
  EXPECT_EQ(region.operators, static_cast<int64_t>(made.report.operators.size()));
  EXPECT_EQ(region.macs, made.report.macs);
  EXPECT_EQ(region.stream_bytes, made.report.stream_bytes);
  for (const OperatorRow& row : made.report.operators) EXPECT_EQ(row.device, "ethos-u");
  EXPECT_NE(report_text(made.report).find(region.name + " on ethos-u: "), std::string::npos);
}

TEST(Report, OfACpuBesideAnNpu) {
  const Made made = digits_on("cortex-m55+ethos-u55-128", {{"widen", "c"}});
  expect_right_rows(made);
  EXPECT_EQ(made.report.regions.size(), 2u);
  for (const OperatorRow& row : made.report.operators)
    EXPECT_EQ(row.device, row.name == "widen" ? "c" : "ethos-u");
}

TEST(Report, ConstantsOfSeveralStreamsCountOnce) {
  Made made = digits_on("cortex-m55+ethos-u55-128", {{"widen", "c"}});
  std::vector<CommandStream>& streams = made.model.program().emitted.streams;
  ASSERT_EQ(streams.size(), 2u);
  const auto bytes_with = [&](uint8_t first, uint8_t second) {
    streams[0].constants.assign(4096, first);
    streams[1].constants.assign(4096, second);
    return make_report(made.model, "", "host").stream_bytes;
  };
  EXPECT_EQ(bytes_with(1, 2) - bytes_with(1, 1), 4096);
}

// What a program finds in the manifest about the model, and in the folder.
TEST(Package, DescribesTheModel) {
  const Made made = digits_on("c");
  TargetRegistry registry;
  add_builtin_targets(registry);
  const Result<TargetSpec> target = parse_target_argument(registry.catalogue(), "c");
  const Result<PackageContents> package = make_package(
      made.model, registry, *target, {"host", "native", INTARSIA_SOURCE_DIR, false, false});
  ASSERT_TRUE(package.ok()) << package.error().to_string();
  const PackageManifest& manifest = package->manifest;
  ASSERT_EQ(manifest.inputs.size(), 1u);
  ASSERT_EQ(manifest.outputs.size(), 1u);
  EXPECT_EQ(manifest.outputs[0].shape, (std::vector<int64_t>{1, 10}));
  EXPECT_EQ(manifest.outputs[0].bytes, 10);
  EXPECT_EQ(manifest.model, "digits");
  for (const char* name : {"digits.c", "digits.h", "digits.mk", "CMakeLists.txt", "manifest.json"})
    EXPECT_TRUE(std::any_of(package->files.begin(), package->files.end(),
                            [&](const SourceFile& file) { return file.path == name; }))
        << name;
  // Those of the emitted files that a compiler gets.
  const std::vector<std::string>& sources = made.model.program().emitted.c_files;
  EXPECT_TRUE(std::find(sources.begin(), sources.end(), "digits.c") != sources.end());
  for (const std::string& source : sources) EXPECT_TRUE(source.ends_with(".c")) << source;
}

TEST(Report, ListsInputsAndOutputs) {
  const Made made = digits_on("c");
  const std::string text = report_text(made.report);
  EXPECT_NE(text.find("  input  'image' i8[1,8,8,1] real = 0.00392156886 * (q - -128)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  output 'scores' i8[1,10] real = 0.00390625 * (q - -128)\n"),
            std::string::npos);
  const Json json = Json::parse(report_json(made.report));
  EXPECT_EQ(json["format"], kReportFormat);
  ASSERT_EQ(json["inputs"].size(), 1u);
  EXPECT_EQ(json["inputs"][0]["name"], "image");
  EXPECT_EQ(json["inputs"][0]["type"], "i8");
  EXPECT_EQ(json["inputs"][0]["shape"], Json({1, 8, 8, 1}));
  EXPECT_EQ(json["outputs"][0]["scale"], Json({0.00390625}));
  EXPECT_EQ(json["outputs"][0]["zero_point"], Json({-128}));
}

// Every key once, whatever there is to say: the partitioner's search and the planner's are two.
TEST(Report, KeysAreThereOnce) {
  Made made = digits_on("cortex-m55+ethos-u55-128", {{"widen", "c"}});
  made.report.search_note = "the search was cut short";
  made.report.measured = Measurements{};
  made.report.ram_budget = RamBudgetOutcome{1, 2, 3, {}};
  made.report.cycles = {{"a", "c", 1, 2}};
  made.report.device_cycles = {{"c", 100, 2}};
  const Result<nlohmann::json> json = parse_strict_json(report_json(made.report), "report.json");
  ASSERT_TRUE(json.ok()) << json.error().to_string();
  EXPECT_EQ((*json)["partition_search"], "the search was cut short");
  EXPECT_EQ((*json)["search"]["steps"], made.report.search.steps);
}

TEST(Report, EstimatesAreThoseOfTheExplanation) {
  Made made = digits_on("c");
  EXPECT_FALSE(Json::parse(report_json(made.report)).contains("estimated_cycles"));
  EXPECT_EQ(report_text(made.report).find("Cycles"), std::string::npos);
  Explanation explanation;
  explanation.cycles = {
      {"a", "c", 1, 10.4, 100}, {"npu_0", "npu", 3, 20, 500}, {"b", "c", 1, 1.5, 100}};
  add_cycles(explanation, made.report);
  const Json cycles = Json::parse(report_json(made.report))["estimated_cycles"];
  ASSERT_EQ(cycles["devices"].size(), 2u);
  EXPECT_EQ(cycles["devices"][0]["cycles"], 12);
  EXPECT_EQ(cycles["devices"][1]["assumed_mhz"], 500);
  EXPECT_EQ(cycles["operators"][1]["operators"], 3);
  EXPECT_NE(report_text(made.report).find("  npu                 20 at 500 MHz\n"),
            std::string::npos)
      << report_text(made.report);
}

TEST(Report, IsTheSameEveryTime) {
  const Made first = digits_on("cortex-m55+ethos-u55-128"),
             second = digits_on("cortex-m55+ethos-u55-128");
  EXPECT_EQ(report_text(first.report), report_text(second.report));
  EXPECT_EQ(report_json(first.report), report_json(second.report));
}

}  // namespace
}  // namespace intarsia
