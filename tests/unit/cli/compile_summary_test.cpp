// One screen of 24 lines and 80 columns, whatever the model.
#include "compile_summary.h"

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intarsia::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TensorInfo tensor_named(const std::string& name) {
  TensorInfo tensor;
  tensor.name = name;
  tensor.shape = {1, 8, 8, 1};
  tensor.quantization.scale = {0.5f};
  tensor.quantization.zero_point = {-128};
  return tensor;
}

ProgramReport small_report() {
  ProgramReport report;
  report.model = "kws";
  report.inputs = {tensor_named("in")};
  report.outputs = {tensor_named("out")};
  Report part;
  part.model = "kws";
  part.macs = 3'580'000;
  part.pools = {{"sram", 131072, 22600, 22600, true}, {"psram", 0, 5000, 4000, false}};
  report.parts = {part};
  report.operators = {{"a", "a", "npu0"}, {"b", "b", "npu0"}, {"c", "c", "c"}};
  report.device_cycles = {{"c", 400, 8123}, {"npu0", 500, 120'400}};
  Measurements measured;
  measured.code_bytes = 7602;
  measured.constant_bytes = 60'000;
  measured.stack_bytes = 392;
  report.measured = measured;
  return report;
}

// Of the summary in lines; the colours are those of a pipe.
std::vector<std::string> lines_of(const ProgramReport& report, const std::string& folder) {
  std::istringstream text(compile_summary({"board", "c -mcpu=cortex-m4", folder, report}, {}));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const ProgramReport& report) {
  return compile_summary({"board", "c -mcpu=cortex-m4", "out", report}, {});
}

TEST(CompileSummary, SaysWhatWasMadeAndWhatItNeeds) {
  const std::string text = text_of(small_report());
  for (const char* words :
       {"kws for c -mcpu=cortex-m4 on board board\n", "22.1K of 128.0K",
        "proven: no plan is smaller", "5000 bytes", "at least 4000 bytes",
        "66.1K: code 7602, weights and tables 58.6K", "392 bytes at most",
        "npu0  2 operators  about 120.4k cycles at 500 MHz",
        "c     1 operator  about 8123 cycles at 400 MHz", "3.58M multiply-accumulates", "'in' ",
        "real = 0.5 * (q - -128)", "Written   out\n", "report.txt and report.json"})
    EXPECT_THAT(text, HasSubstr(words));
}

TEST(CompileSummary, SaysWhyThereAreNoMeasurements) {
  ProgramReport report = small_report();
  report.measured.reset();
  report.not_measured = "there is no compiler";
  report.parts[0].weight_bytes = 300;
  const std::string text = text_of(report);
  EXPECT_THAT(text, HasSubstr("weights 300; and code, which is not measured"));
  EXPECT_THAT(text, HasSubstr("(there is no compiler)"));
  EXPECT_THAT(text, Not(HasSubstr("Stack")));
}

TEST(CompileSummary, SaysWhichMemoriesHoldConstantsWhereThereAreSeveral) {
  ProgramReport report = small_report();
  report.parts[0].constant_memories = {{"bram", 65536, 40'000, 3}, {"ddr", 0, 0, 0}};
  EXPECT_THAT(text_of(report), HasSubstr("weights and tables 58.6K\n")) << "all are in one";
  report.parts[0].constant_memories[1].bytes = 20'000;
  EXPECT_THAT(text_of(report), HasSubstr("weights and tables 58.6K (bram 39.1K, ddr 19.6K)\n"));
  report.parts[0].constant_memories[1].name = "external_flash";
  EXPECT_THAT(text_of(report), HasSubstr("weights and tables 58.6K (bram 39.1K, external_flash\n"
                                         "          19.6K)\n"))
      << "none is cut off";
}

// What the emulator counts is the CPU's part of a model that an NPU runs.
TEST(CompileSummary, CountedCyclesAreTheCpus) {
  ProgramReport report = small_report();
  report.counted = RunCycles{3146, {4679, 5533, 7653}, {}};
  EXPECT_THAT(text_of(report), HasSubstr("about 5533 cycles and 3146 instructions, in the"));
  report.parts[0].regions.emplace_back();
  EXPECT_THAT(text_of(report),
              HasSubstr("about 5533 cycles and 3146 instructions of the CPU, in the emulator\n"));
}

// Of a stream that another compiler made nothing is known.
TEST(CompileSummary, WhatIsNotKnownIsNotZero) {
  ProgramReport report = small_report();
  report.parts[0].macs = 0;
  report.parts[0].regions.emplace_back();
  report.device_cycles = {{"npu0", 500, 0}};
  const std::string text = text_of(report);
  EXPECT_THAT(text, HasSubstr("npu0  2 operators\n"));
  EXPECT_THAT(text, Not(HasSubstr("multiply-accumulates")));
}

// RAM that is filled before the program starts.
TEST(CompileSummary, MemoryOfConstantsAloneIsNotUnused) {
  ProgramReport report = small_report();
  report.parts[0].pools[1].peak = 0;
  EXPECT_THAT(text_of(report), HasSubstr("unused\n"));
  report.parts[0].constant_memories = {{"psram", 65536, 40'000, 3}};
  EXPECT_THAT(text_of(report), HasSubstr("constants of 39.1K, no activations\n"));
}

// Stages of a part use its block in turn: what has to be there is the blocks and the mailbox, not the sum of the stages.
TEST(CompileSummary, PartsOfSeveralCpusHaveTheirBlocks) {
  ProgramReport report = small_report();
  report.cpus = 2;
  report.parts.assign(5, report.parts[0]);
  report.blocks = {{"slow", "ram", 1120, 3}, {"fast", "ram", 3824, 1}};
  report.mailbox_bytes = 5312;
  report.measured.reset();
  report.parts[0].weight_bytes = report.parts[0].table_bytes = report.parts[0].stream_bytes = 436;
  report.not_measured = "the parts are firmware of their own; measure each when it is built";
  const std::string text = text_of(report);
  EXPECT_THAT(text, HasSubstr("RAM       slow: ram  1120 bytes  for 3 stages in turn\n"));
  EXPECT_THAT(text, HasSubstr("          fast: ram  3824 bytes  for one stage\n"));
  EXPECT_THAT(text, HasSubstr("          mailbox    5312 bytes  between the parts\n"));
  EXPECT_THAT(text, Not(HasSubstr("stage0")));
  EXPECT_THAT(text, Not(HasSubstr("...")));  // nothing is cut
  EXPECT_EQ(requests::ram_bytes(report), 1120 + 3824 + 5312);
  report.blocks.assign(4, report.blocks[0]);
  EXPECT_THAT(text_of(report), HasSubstr("and 1 block more\n"));
}

TEST(CompileSummary, IsOneScreenForAnyModel) {
  ProgramReport report = small_report();
  const std::string long_name(300, 'x');
  report.model = long_name;
  report.inputs.assign(40, tensor_named(long_name));
  report.outputs.assign(40, tensor_named("Größe" + long_name));
  report.eliminated_steps = 1000;
  report.parts[0].pools.assign(9, {long_name, 1 << 30, 123'456'789, 1'000'000, false});
  report.parts.assign(20, report.parts[0]);
  for (int i = 0; i < 3000; ++i)
    report.operators.push_back({"o", "o", long_name + std::to_string(i % 50)});
  for (const bool is_measured : {true, false}) {
    if (!is_measured) report.measured.reset();
    report.not_measured = long_name;
    const std::vector<std::string> lines = lines_of(report, "out");
    EXPECT_LE(lines.size(), 24u);
    for (const std::string& line : lines) EXPECT_LE(columns_of(line), 80u) << line;
    EXPECT_THAT(lines, testing::Contains(HasSubstr("and 38 more")));
    EXPECT_THAT(lines, testing::Contains(HasSubstr("memories more")));
    EXPECT_THAT(lines, testing::Contains(HasSubstr("devices more")));
  }
}

}  // namespace
}  // namespace intarsia::cli
