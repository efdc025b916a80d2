// What compile --format tflite writes beside what is read by other programs: interpreters, and scripts for Vela's tables.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "needs.h"
#include "offload_testing.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

// ---- interpreters -------------------------------------------------------------------------------------

TEST_F(Offload, WhatIsOnTheCpuRunsInTfliteMicro) {
  const std::string python = python_with("tflite_micro");
  if (python.empty())
    GTEST_SKIP() << needs("peers") << "no folder of INTARSIA_PEERS has tflite-micro";
  ModelSpec m = softmax_model();
  m.tensors[0].type = m.tensors.back().type = kFloat32;
  for (TensorSpec& tensor : m.tensors) tensor.scale = {}, tensor.zero_point = {};
  write("model.tflite", build(m));
  ASSERT_TRUE(done(offload("model.tflite", "ethos-u55-128")));
  write("run.py", std::string(R"(
import sys
import numpy
from tflite_micro import runtime
results = []
for name in ("model.tflite", "out.tflite"):
    interpreter = runtime.Interpreter.from_file(name, arena_size=100000)
    interpreter.set_input(numpy.arange(10, dtype=numpy.float32).reshape(1, 10), 0)
    interpreter.invoke()
    results.append(interpreter.get_output(0).tobytes())
sys.exit(0 if results[0] == results[1] else 1)
)"));
  const ProcessOutcome ran = program({python, "run.py"});
  EXPECT_TRUE(ran.succeeded()) << ran.err;
}

// The first inference's results differ from the next ones': the file has a subgraph that gives the variable its first values.
TEST_F(Offload, TfliteMicroRunsFilesWithOtherSubgraphs) {
  const std::string python = python_with("tflite_micro");
  if (python.empty())
    GTEST_SKIP() << needs("peers") << "no folder of INTARSIA_PEERS has tflite-micro";
  const std::string model = (recorded_folder("variable_counts") / "model.tflite").string();
  ASSERT_TRUE(done(offload(model, "ethos-u55-128")));
  ASSERT_GT(written().model().subgraphs()->size(), 1u);
  written().addresses();
  write("run.py", std::string(R"(
import sys
import numpy
from tflite_micro import runtime
results = []
for name in sys.argv[1:]:
    interpreter = runtime.Interpreter.from_file(name, arena_size=100000)
    shape, kind = (interpreter.get_input_details(0)[key] for key in ("shape", "dtype"))
    outputs = []
    for inference in range(3):
        interpreter.set_input((numpy.arange(numpy.prod(shape)) + inference).astype(kind).reshape(shape), 0)
        interpreter.invoke()
        outputs.append(interpreter.get_output(0).tobytes())
    results.append(outputs)
sys.exit(0 if results[0] == results[1] and len(set(results[0])) > 1 else 1)
)"));
  const ProcessOutcome ran = program({python, "run.py", model, "out.tflite"});
  EXPECT_TRUE(ran.succeeded()) << ran.err;
}

// Its arena is ours, tensor by tensor: it takes no byte more than the summary says, and computes the same.
TEST_F(Offload, TfliteMicroPlacesTensorsWhereTheFileSays) {
  const std::string python = python_with("tflite_micro");
  if (python.empty())
    GTEST_SKIP() << needs("peers") << "no folder of INTARSIA_PEERS has tflite-micro";
  write("run.py", std::string(R"(
import sys
import numpy
from tflite_micro import runtime
results = []
for name in sys.argv[1:]:
    interpreter = runtime.Interpreter.from_file(name, arena_size=1000000)
    shape, kind = (interpreter.get_input_details(0)[key] for key in ("shape", "dtype"))
    values = numpy.random.default_rng(1).integers(-100, 100, shape)
    interpreter.set_input(values.astype(kind), 0)
    interpreter.invoke()
    results.append(interpreter.get_output(0).tobytes())
sys.stderr.write("the last:\n")
interpreter.print_allocations()
sys.exit(0 if results[0] == results[1] else 1)
)"));
  std::vector<std::string> names = {"separable_s8", "separable_s16", "residual_s8", "residual_s16",
                                    "autoencoder_s16"};
  for (const char* beside : {"kws_ref_model", "vww_96_int8"})
    if (!recorded_folder(beside).empty()) names.emplace_back(beside);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const std::string model = (recorded_folder(name) / "model.tflite").string();
    const ProcessOutcome explained =
        intarsia({"explain", model, "--target", "ethos-u55-128", "--json", "--keep-dead-channels"});
    std::vector<std::string> pins = {"--summary-csv", "summary.csv"};
    const nlohmann::json rows = nlohmann::json::parse(explained.out).at("operators");
    for (const nlohmann::json& row : rows) {
      pins.emplace_back("--pin");
      pins.push_back(row.at("name").get<std::string>() + "=c");
    }
    ASSERT_TRUE(offload(model, "ethos-u55-128", pins).succeeded());
    EXPECT_EQ(written().on_npu(), 0);
    const ProcessOutcome ran = program({python, "run.py", model, "out.tflite"});
    ASSERT_TRUE(ran.succeeded()) << ran.err;
    const double kilobytes = std::stod(table_of(read("summary.csv")).at(0).at("sram_memory_used"));
    EXPECT_THAT(ran.err.substr(ran.err.find("the last:")),
                HasSubstr("Arena allocation head " +
                          std::to_string(static_cast<int64_t>(1024 * kilobytes)) + " bytes"));
  }
}

// ---- summaries --------------------------------------------------------------------------------------

TEST_F(Offload, TheSummaryHasVelasColumns) {
  ASSERT_TRUE(done(offload(digits_path(), "ethos-u55-128", {"--summary-csv", "summary.csv"})));
  const std::vector<uint8_t> bytes = read("summary.csv");
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  std::string header, row;
  ASSERT_TRUE(std::getline(lines, header) && std::getline(lines, row));
  EXPECT_THAT(header,
              testing::StartsWith("experiment,network,accelerator_configuration,"
                                  "system_config,memory_mode,core_clock,arena_cache_size,"));
  EXPECT_THAT(header, HasSubstr(",sram_memory_used,dram_memory_used,on_chip_flash_memory_used,"
                                "off_chip_flash_memory_used,"));
  EXPECT_THAT(header, testing::EndsWith(",nn_macs,nn_tops,cycles_npu,cycles_sram_access,"
                                        "cycles_dram_access,cycles_on_chip_flash_access,"
                                        "cycles_off_chip_flash_access,cycles_total"));
  EXPECT_EQ(std::ranges::count(header, ','), 51);
  EXPECT_EQ(std::ranges::count(row, ','), 51);
  EXPECT_THAT(row, testing::StartsWith("default,digits,Ethos_U55_128,Ethos_U55_High_End_Embedded,"
                                       "Shared_Sram,500000000,"));
  EXPECT_THAT(row, HasSubstr(",Off-chip Flash,SRAM,"));
}

// Every byte of an operand goes over a way once at least, and the rows of the layers are those that the sums are of.
TEST_F(Offload, TrafficAndCyclesAddUp) {
  for (const char* target :
       {"ethos-u55-32", "ethos-u55-128", "ethos-u55-256 -memory-mode=sram-only", "ethos-u65-256",
        "ethos-u65-512 -memory-mode=dedicated-sram-512k",
        "ethos-u55-128 -system=400:8/32/32/32:0.5/128/64/64"}) {
    SCOPED_TRACE(target);
    const ProcessOutcome outcome = offload(
        digits_path(), target, {"--summary-csv", "summary.csv", "--layers-csv", "layers.csv"});
    ASSERT_TRUE(done(outcome));
    auto figures = table_of(read("summary.csv")).at(0);
    const auto number = [&](const std::string& column) { return std::stod(figures.at(column)); };
    double slowest = number("cycles_npu"), moved = 0;
    for (const char* memory : {"sram", "dram", "on_chip_flash", "off_chip_flash"}) {
      const std::string name = memory;
      const double bytes = number(name + "_total_bytes");
      EXPECT_NEAR(bytes,
                  number(name + "_feature_map_read_bytes") +
                      number(name + "_feature_map_write_bytes") +
                      number(name + "_weight_read_bytes") + number(name + "_weight_write_bytes"),
                  4);
      EXPECT_EQ(bytes > 0, number("cycles_" + name + "_access") > 0);
      // No way is faster than its memory.
      EXPECT_LE(bytes, number(name + "_bandwidth") * (1 << 30) *
                               number("cycles_" + name + "_access") / number("core_clock") * 1.01 +
                           64);
      moved += bytes;
      slowest = std::max(slowest, number("cycles_" + name + "_access"));
    }
    EXPECT_GE(moved, number("total_npu_encoded_weights"));
    // Nothing is over before the busiest part is, and it takes no longer than all of them one after the other.
    EXPECT_GE(number("cycles_total"), 0.7 * slowest);
    EXPECT_LE(number("cycles_total"), 3 * slowest);
    EXPECT_NEAR(number("inference_time"), number("cycles_total") / number("core_clock"), 1e-6);

    const Table layers = table_of(read("layers.csv"));
    ASSERT_GT(layers.size(), 5u);
    EXPECT_EQ(std::ssize(layers), std::stol(figures.at("passes_after_fusing")));
    const auto sum = [&](const std::string& column) {
      double all = 0;
      for (const auto& row : layers) all += std::stod(row.at(column));
      return all;
    };
    const auto rows = static_cast<double>(layers.size());
    EXPECT_NEAR(sum("NPU"), number("cycles_npu"), rows);
    EXPECT_NEAR(sum("SRAM AC"), number("cycles_sram_access"), rows);
    EXPECT_NEAR(sum("DRAM AC"), number("cycles_dram_access"), rows);
    EXPECT_NEAR(sum("OnFlash AC"), number("cycles_on_chip_flash_access"), rows);
    EXPECT_NEAR(sum("OffFlash AC"), number("cycles_off_chip_flash_access"), rows);
    EXPECT_NEAR(sum("Network% (cycles)"), 100, 0.01);
    for (const auto& row : layers) {
      EXPECT_LE(std::stod(row.at("Util% (MAC)")), 100) << row.at("Name");
      EXPECT_LE(std::stod(row.at("Staging Usage")), 1024 * number("sram_memory_used"))
          << row.at("Name");
      EXPECT_FALSE(row.at("Original Operator").empty());
    }
  }
}

TEST_F(Offload, TheRowOfFiguresIsAFormatOfItsOwn) {
  ASSERT_TRUE(done(offload(digits_path(), "ethos-u55-128", {"--summary-csv", "summary.csv"})));
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--target", "ethos-u55-128", "--format",
                             "csv", "-o", "only.csv"})));
  EXPECT_EQ(read("only.csv"), read("summary.csv"));
}

// What a script that reads Vela's tables by their columns needs: the same columns, and numbers where there are numbers.
TEST_F(Offload, ScriptsThatReadVelasTablesReadOurs) {
  const std::string python = python_with("ethosu.vela");
  if (python.empty()) GTEST_SKIP() << needs("peers") << "no folder of INTARSIA_PEERS has Vela";
  write("digits.tflite", digits_bytes());
  const ProcessOutcome vela = program(
      {std::filesystem::path(python).replace_filename("vela").string(), "digits.tflite",
       "--accelerator-config", "ethos-u55-128", "--output-dir", "vela", "--verbose-performance"});
  ASSERT_TRUE(vela.succeeded()) << vela.err;
  ASSERT_TRUE(done(offload(digits_path(), "ethos-u55-128",
                           {"--summary-csv", "summary.csv", "--layers-csv", "layers.csv"})));
  write("compare.py", std::string(R"(
import csv, sys
def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False
for ours, theirs in (("summary.csv", "vela/digits_summary_Ethos_U55_High_End_Embedded.csv"),
                     ("layers.csv", "vela/digits_per-layer.csv")):
    mine, other = csv.DictReader(open(ours)), csv.DictReader(open(theirs))
    assert mine.fieldnames == other.fieldnames, (mine.fieldnames, other.fieldnames)
    row, model = next(mine), next(other)
    for column in mine.fieldnames:
        assert is_number(row[column]) or not is_number(model[column]), (column, row[column])
    if ours == "summary.csv":
        for same in ("accelerator_configuration", "system_config", "memory_mode", "core_clock",
                     "weights_storage_area", "feature_map_storage_area", "sram_bandwidth",
                     "off_chip_flash_bandwidth"):
            assert row[same] == model[same] or float(row[same]) == float(model[same]), same
)"));
  const ProcessOutcome compared = program({python, "compare.py"});
  EXPECT_TRUE(compared.succeeded()) << compared.err;
}

}  // namespace
}  // namespace intarsia::test
