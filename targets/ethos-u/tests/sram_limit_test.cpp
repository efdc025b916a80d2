// --sram-limit from what a model likes to have down to what it cannot do with: the limit is kept, results
// stay exact, time grows little by little, and where nothing is possible the message knows what is.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "golden_models.h"
#include "recorded_data.h"
#include "timed_compiled.h"

namespace intarsia::test::ethos_u {
namespace {

double cycles_of(const CompiledModel& model, const CompileRequest& request) {
  const TimedRun run = run_timed(model, model.program().emitted.streams.at(0), request.memory_mode);
  EXPECT_EQ(run.problem, "");
  return run.totals.cycles;
}

// Less memory may win by chance: plans are made from estimates.
constexpr double kChance = 1.15;

void sweep(const std::string& name, CompileRequest request) {
  SCOPED_TRACE(name + " on " + request.target + " " + request.memory_mode);
  const auto free = compile_recorded(name, request);
  ASSERT_TRUE(free.ok());
  const int64_t most = sram_bytes(*free);
  double least_cycles = cycles_of(*free, request);
  bool refused = false;
  for (const int64_t percent : {110, 75, 50, 25, 8}) {
    const int64_t limit = most * percent / 100;
    SCOPED_TRACE(limit);
    request.sram_limit = limit;
    auto model = compile_recorded(name, request);
    if (!model.ok()) {
      const std::string message = model.error().to_string();
      const size_t advice = message.find("allow ");
      ASSERT_NE(advice, std::string::npos) << message;
      refused = true;
      request.sram_limit = std::atoll(message.c_str() + advice + 6);
      EXPECT_GT(*request.sram_limit, limit);
      model = compile_recorded(name, request);
      ASSERT_TRUE(model.ok()) << "with what the message asks for: " << model.error().to_string();
      // One byte less is what it said is not possible.
      CompileRequest less = request;
      --*less.sram_limit;
      EXPECT_FALSE(compile_recorded(name, less).ok());
    }
    EXPECT_LE(sram_bytes(*model), *request.sram_limit);
    expect_exact(name, *model, "with a limit");
    const double cycles = cycles_of(*model, request);
    EXPECT_GE(cycles * kChance, least_cycles) << "less memory is faster";
    least_cycles = std::max(least_cycles, cycles);
    if (refused) break;
  }
  const bool has_slower_memory = request.memory_mode.starts_with("dedicated");
  EXPECT_NE(refused, has_slower_memory);
}

class SramLimit : public testing::TestWithParam<std::string> {};

TEST_P(SramLimit, IsKeptOrRefusedWithTheLeastThatIsPossible) {
  sweep(GetParam(), {.target = "ethos-u55-128", .memory_mode = "shared-sram"});
  sweep(GetParam(), {.target = "ethos-u65-256", .memory_mode = "dedicated-sram"});
}

TEST_P(SramLimit, NamesTheOperatorThatDecides) {
  const auto model = compile_recorded(GetParam(), {.sram_limit = 1000});
  ASSERT_FALSE(model.ok());
  const std::string message = model.error().to_string();
  EXPECT_NE(message.find("--sram-limit is 1000"), std::string::npos) << message;
  bool named = false;
  const auto good = compile_recorded(GetParam(), {});
  for (const auto& row : good->partitioned.explanation.operators)
    named = named || message.find("'" + row.name + "'") != std::string::npos;
  EXPECT_TRUE(named) << message;
}

INSTANTIATE_TEST_SUITE_P(Recorded, SramLimit,
                         testing::ValuesIn(with_beside({"separable_s8", "residual_s8"},
                                                       {"kws_ref_model", "pretrainedResnet_quant",
                                                        "vww_96_int8"})),
                         [](const auto& info) { return info.param; });

TEST(NoFastMemory, IsPossibleWithSlowerMemory) {
  for (const std::string& name :
       with_beside({"separable_s8", "separable_s16", "residual_s8", "autoencoder_s8"},
                   {"kws_ref_model", "ad01_int8", "micro_speech_quantized"})) {
    const CompileRequest request = {
        .target = "ethos-u65-512", .memory_mode = "dedicated-sram", .sram_limit = 0};
    const auto model = compile_recorded(name, request);
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    EXPECT_EQ(sram_bytes(*model), 0) << name;
    expect_exact(name, *model, name + " without fast memory");
  }
}

// Of an SRAM of 384 KB that nobody else has, a few hundred bytes are no reason to wait for DRAM.
TEST(OwnMemory, HasRoomForTheConstantsOfSmallNetworks) {
  for (const std::string& name : with_beside({}, {"hello_world_int8"})) {
    const CompileRequest request = {.target = "ethos-u65-256", .memory_mode = "dedicated-sram"};
    const auto model = compile_recorded(name, request);
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    EXPECT_GT(sram_bytes(*model), 256) << name << ": maps take 32";
    EXPECT_LE(sram_bytes(*model), 768) << name;
    expect_exact(name, *model, name + " with constants in fast memory");
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
