// Single operators through our compiler and the simulator, against recorded outputs of TFLM.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiled.h"
#include "shared_data.h"

namespace intarsia::test::ethos_u {
namespace {

// Upstream allows the first an error of 1; the others state 32-bit accumulation without a bias,
// which has no place in the graph IR.
bool is_tolerant(const std::string& name) {
  return name.starts_with("seanet_sub") || name == "int16xint8xint32_1" ||
         name == "int16xint8xint32_2";
}

struct Tally {
  int exact = 0, elsewhere = 0, other = 0;
};

Tally run_all(const CompileRequest& request) {
  Tally tally;
  for (const auto& entry : std::filesystem::directory_iterator(shared_folder() / "conformance")) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    const Result<CompiledModel> model =
        compile_for(read_bytes(entry.path() / "model.tflite"), request);
    if (!model.ok()) {
      ++tally.other;
      continue;
    }
    bool taken = true;
    for (const auto& row : model->partitioned.explanation.operators)
      taken = taken && row.member == "ethos-u";
    if (!taken) {
      ++tally.elsewhere;
      continue;
    }
    std::vector<std::vector<uint8_t>> inputs;
    for (size_t i = 0; i < model->emitted.inputs.size(); ++i)
      inputs.push_back(read_bytes(entry.path() / fmt::format("in{}.bin", i)));
    const SimulatedRun run = simulate(*model, inputs);
    EXPECT_EQ(run.problem, "");
    if (!run.problem.empty() || is_tolerant(name)) continue;
    bool same = true;
    for (size_t i = 0; i < run.outputs.size(); ++i)
      same = same && run.outputs[i] == read_bytes(entry.path() / fmt::format("out{}.bin", i));
    EXPECT_TRUE(same);
    tally.exact += same ? 1 : 0;
  }
  return tally;
}

TEST(Conformance, WhatTheNpuTakesIsBitExact) {
  INTARSIA_NEEDS_SHARED("conformance");
  for (const char* target : {"ethos-u55-128", "ethos-u65-512"}) {
    SCOPED_TRACE(target);
    const Tally tally = run_all({.target = target});
    std::cout << fmt::format("{}: {} exact, {} not whole on the NPU, {} not compiled\n", target,
                             tally.exact, tally.elsewhere, tally.other);
    EXPECT_GE(tally.exact, 140);
  }
}

// What stays with the host has a reason that shows the model's own values: one of the families that
// docs/ethos-u-operators.md lists.
TEST(Conformance, WhatTheNpuRefusesHasAReason) {
  INTARSIA_NEEDS_SHARED("conformance");
  const std::vector<std::pair<std::string, std::regex>> families = {
      {"floats",
       std::regex("the (input|output|first operand|second operand) is f32, the NPU takes .*")},
      {"state",
       std::regex("the state (i8|i16|f32)\\[[0-9,]+\\] is kept by the host between invocations")},
      {"products of two activations",
       std::regex("(i8|i16|f32)\\[[0-9,]+\\] and (i8|i16|f32)\\[[0-9,]+\\] are multiplied with "
                  "each other, .*")},
  };
  std::map<std::string, int> seen;
  for (const auto& entry : std::filesystem::directory_iterator(shared_folder() / "conformance")) {
    SCOPED_TRACE(entry.path().filename().string());
    const Result<CompiledModel> model = compile_for(read_bytes(entry.path() / "model.tflite"), {});
    if (!model.ok()) continue;
    for (const auto& row : model->partitioned.explanation.operators) {
      if (row.member == "ethos-u") continue;
      ASSERT_EQ(row.offers.size(), 2u);
      const std::string reason = row.offers[1].reason.value_or("");
      const auto family = std::find_if(families.begin(), families.end(), [&](const auto& each) {
        return std::regex_match(reason, each.second);
      });
      EXPECT_NE(family, families.end()) << row.kind << ": " << reason;
      if (family != families.end()) ++seen[family->first];
    }
  }
  for (const auto& [name, pattern] : families) {
    std::cout << fmt::format("{} operators: {}\n", seen[name], name);
    EXPECT_GT(seen[name], 0) << name;
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
