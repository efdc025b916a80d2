// Single operators through our compiler and the simulator, against recorded outputs of TFLM.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiled.h"
#include "recorded_data.h"

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

// Those of the repository, or those beside it.
std::vector<std::filesystem::path> cases(bool own) {
  std::vector<std::filesystem::path> folders = recorded_cases();
  std::erase_if(folders, [&](const auto& folder) { return is_own(folder) != own; });
  return folders;
}

Tally run_all(bool own, const CompileRequest& request) {
  Tally tally;
  for (const std::filesystem::path& folder : cases(own)) {
    const std::string name = folder.filename().string();
    SCOPED_TRACE(name);
    const Result<CompiledModel> model = compile_for(read_bytes(folder / "model.tflite"), request);
    if (!model.ok()) {
      ++tally.other;
      continue;
    }
    bool taken = true;
    for (const auto& row : model->partitioned.explanation.operators)
      taken = taken && row.device == "ethos-u";
    if (!taken) {
      ++tally.elsewhere;
      continue;
    }
    const RecordedSample sample = recorded_samples(folder).at(0);
    const SimulatedRun run = simulate(*model, sample.inputs);
    EXPECT_EQ(run.problem, "");
    if (!run.problem.empty() || is_tolerant(name)) continue;
    const bool same = run.outputs == sample.outputs;
    EXPECT_TRUE(same);
    tally.exact += same ? 1 : 0;
  }
  return tally;
}

// Exact are at least `least`.
void expect_exact(bool own, int least) {
  for (const char* target : {"ethos-u55-128", "ethos-u65-512"}) {
    SCOPED_TRACE(target);
    const Tally tally = run_all(own, {.target = target});
    std::cout << fmt::format("{}: {} exact, {} not whole on the NPU, {} not compiled\n", target,
                             tally.exact, tally.elsewhere, tally.other);
    EXPECT_GE(tally.exact, least);
    if (own) {
      EXPECT_EQ(tally.other, 0);
    }
  }
}

TEST(Conformance, WhatTheNpuTakesIsBitExact) {
  expect_exact(true, 105);
}

TEST(Conformance, WhatTheNpuTakesOfThoseBesideTheRepositoryIsBitExact) {
  INTARSIA_NEEDS_SHARED("conformance");
  expect_exact(false, 150);
}

// What stays with the host has a reason that shows the model's own values: one of the families that
// docs/ethos-u-operators.md lists.
TEST(Conformance, WhatTheNpuRefusesHasAReason) {
  const std::vector<std::pair<std::string, std::regex>> families = {
      {"other types", std::regex("the (input|output|first operand|second operand) is "
                                 "(f32|i32|u32|i16|bool), the NPU takes "
                                 ".*|the output is i16, softmax of i8 is made into i8")},
      {"plain numbers",
       std::regex("the (input|first operand|second operand) is plain numbers without a scale, the "
                  "NPU takes quantised ones")},
      {"other operators", std::regex("ethos-u does not run [a-z0-9_]+")},
      {"places", std::regex("the input is constant|the places are known only when the model runs")},
      {"reshapes", std::regex("no operator beside it runs on the NPU")},
      {"state",
       std::regex("the state (i8|i16|f32)\\[[0-9,]+\\] is kept by the host between invocations")},
  };
  std::map<std::string, int> seen;
  for (const std::filesystem::path& folder : recorded_cases()) {
    SCOPED_TRACE(folder.filename().string());
    const Result<CompiledModel> model = compile_for(read_bytes(folder / "model.tflite"), {});
    if (!model.ok()) continue;
    for (const auto& row : model->partitioned.explanation.operators) {
      if (row.device == "ethos-u") continue;
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
