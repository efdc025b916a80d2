// A board whose NPU has another clock or other memories gets other schedules, by which the simulator's clock agrees that
// they are the better ones there, and the same results.
#include <string>

#include <gtest/gtest.h>

#include "golden_models.h"
#include "recorded_data.h"
#include "timed_compiled.h"

namespace intarsia::test::ethos_u {
namespace {

MemoryMap board_with(int64_t clock_mhz, int64_t flash_bytes_per_second) {
  MemoryMap board;
  board.pools = {{.name = "sram", .speed = MemorySpeed{4'000'000'000, 64, 64, 32}}};
  board.streams = MemoryPool{.name = "flash",
                             .read_only = true,
                             .speed = MemorySpeed{flash_bytes_per_second, 128, 128, 128}};
  board.clocks_mhz["ethos-u"] = clock_mhz;
  return board;
}

std::string system_of(const CompiledModel& model) {
  return model.program().target.device("ethos-u")->get_string("system");
}

double cycles(const CompiledModel& model, const std::string& system) {
  const TimedRun run =
      run_timed(model, model.program().emitted.streams.at(0), "shared-sram", nullptr, system);
  EXPECT_EQ(run.problem, "");
  return run.totals.cycles;
}

class BoardMemories : public testing::TestWithParam<std::string> {
 protected:
  CompiledModel on(const CompileRequest& request) const {
    auto model = compile_recorded(GetParam(), request);
    EXPECT_TRUE(model.ok()) << model.error().to_string();
    return std::move(*model);
  }
};

TEST_P(BoardMemories, DecideSchedulesAndTheClock) {
  const CompiledModel fast = on({.board = board_with(500, 4'000'000'000)});
  const CompiledModel slow = on({.board = board_with(500, 100'000'000)});
  EXPECT_EQ(system_of(fast), "500:8/32/32/32:8/128/64/64");
  EXPECT_EQ(system_of(slow), "500:8/32/32/32:0.2/128/64/64");
  EXPECT_NE(fast.program().emitted.streams[0].commands, slow.program().emitted.streams[0].commands);
  EXPECT_LE(cycles(fast, system_of(fast)), 1.02 * cycles(slow, system_of(fast)));
  EXPECT_LE(cycles(slow, system_of(slow)), 1.02 * cycles(fast, system_of(slow)));
  EXPECT_GT(cycles(slow, system_of(slow)), 2 * cycles(fast, system_of(fast)));
  expect_exact(GetParam(), fast, "with fast flash");
  expect_exact(GetParam(), slow, "with slow flash");
}

// At a slower clock the same memory moves more in a cycle.
TEST_P(BoardMemories, AClockOfItsOwn) {
  const CompiledModel slow = on({.board = board_with(125, 500'000'000)});
  EXPECT_EQ(system_of(slow), "125:8/32/8/8:4/128/16/16");
  EXPECT_LT(cycles(slow, system_of(slow)), cycles(slow, ""));
}

// What is written on the target stays, whatever the board.
TEST_P(BoardMemories, AreNotAskedWhereTheTargetNamesASystem) {
  const CompiledModel named =
      on({.system = "Ethos_U55_Deep_Embedded", .board = board_with(500, 4'000'000'000)});
  const CompiledModel alone = on({.system = "Ethos_U55_Deep_Embedded"});
  EXPECT_EQ(system_of(named), "Ethos_U55_Deep_Embedded");
  EXPECT_EQ(named.program().emitted.streams[0].commands,
            alone.program().emitted.streams[0].commands);
}

INSTANTIATE_TEST_SUITE_P(Recorded, BoardMemories,
                         testing::ValuesIn(with_beside({"separable_s8", "autoencoder_s8"},
                                                       {"kws_ref_model"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace intarsia::test::ethos_u
