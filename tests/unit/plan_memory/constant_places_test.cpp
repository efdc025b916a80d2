// Which memory a constant is in: those read most often in the fastest, all within the sizes, beside the activations.
#include "plan/constant_places.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/lowering_options.h"
#include "intarsia/plugin/tir_build.h"
#include "pool_modules.h"

namespace intarsia {
namespace {

using plan::ConstantToPlace;
using plan::place_constants;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::optional<std::vector<int32_t>> placed(std::vector<ConstantToPlace> constants,
                                           std::vector<int64_t> capacities) {
  return place_constants(constants, capacities);
}

TEST(ConstantPlaces, WhatIsReadMostIsInTheFastest) {
  EXPECT_THAT(*placed({{100, 1}, {100, 50}, {100, 7}}, {200, 1000}), ElementsAre(1, 0, 0));
  // What has no room there leaves it to the next ones.
  EXPECT_THAT(*placed({{100, 9}, {300, 5}, {100, 3}}, {200, 1000}), ElementsAre(0, 1, 0));
  // Equally often: the larger one first.
  EXPECT_THAT(*placed({{40, 2}, {80, 2}}, {100, 1000}), ElementsAre(1, 0));
  EXPECT_THAT(*placed({}, {100}), ElementsAre());
}

TEST(ConstantPlaces, WordsAreWhatTheLinkerMayPutBetweenThem) {
  EXPECT_FALSE(placed({{5, 1}, {5, 1}}, {15}));
  EXPECT_THAT(*placed({{5, 1}, {5, 1}}, {16}), ElementsAre(0, 0));
}

// In the order of reads the small ones would take the room of the large one.
TEST(ConstantPlaces, TheLargestComeFirstWhereNothingElseFits) {
  EXPECT_THAT(*placed({{60, 9}, {100, 1}}, {100, 60}), ElementsAre(1, 0));
  EXPECT_FALSE(placed({{100, 1}, {100, 1}}, {150, 50}));
}

// Against a checker that knows nothing of how they are placed.
TEST(ConstantPlaces, OfRandomNetworksFitAndAreInOrder) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) { return static_cast<int64_t>(random()) % n; };
    std::vector<ConstantToPlace> constants(static_cast<size_t>(below(30)));
    for (ConstantToPlace& each : constants) each = {1 + below(400), below(20)};
    std::vector<int64_t> capacities(static_cast<size_t>(1 + below(4)));
    for (int64_t& bytes : capacities) bytes = below(3000);
    const auto memories = place_constants(constants, capacities);
    EXPECT_EQ(memories, place_constants(constants, capacities)) << seed;
    int64_t bytes = 0, room = 0;
    for (const ConstantToPlace& each : constants) bytes += (each.bytes + 3) / 4 * 4;
    for (const int64_t capacity : capacities) room += capacity;
    if (!memories) {
      // With half of the memories empty, constants that small always find room.
      EXPECT_GT(bytes + 400 * std::ssize(capacities), room) << seed;
      continue;
    }
    ASSERT_EQ(memories->size(), constants.size());
    std::vector<int64_t> used(capacities.size(), 0);
    for (size_t i = 0; i < constants.size(); ++i)
      used.at(static_cast<size_t>((*memories)[i])) += (constants[i].bytes + 3) / 4 * 4;
    for (size_t m = 0; m < used.size(); ++m) EXPECT_LE(used[m], capacities[m]) << seed;
    // A faster memory has no room for what is in a slower one.
    for (size_t i = 0; i < constants.size(); ++i)
      for (int32_t m = 0; m < (*memories)[i]; ++m)
        EXPECT_GT(used[static_cast<size_t>(m)] + (constants[i].bytes + 3) / 4 * 4,
                  capacities[static_cast<size_t>(m)])
            << seed;
  }
}

// A module of buffers with a constant of each of these sizes.
tir::Module module_with(const std::vector<testing::Life>& lives,
                        const std::vector<int64_t>& constants) {
  tir::Module module = testing::module_of(lives, 4);
  for (size_t i = 0; i < constants.size(); ++i)
    module.constants.push_back({"w" + std::to_string(i),
                                DataType::Int8,
                                {constants[i]},
                                std::vector<uint8_t>(static_cast<size_t>(constants[i])),
                                tir::ConstantUse::Weights});
  return module;
}

// ram is for both, rom for constants alone.
MemoryMap two_memories(int64_t rom, int64_t ram) {
  MemoryMap memory;
  memory.pools = {{"ram", ram, false, 5}, {"rom", rom, true, 2}};
  for (MemoryPool& pool : memory.pools) pool.holds_constants = true;
  memory.pools[0].constants_order = 1;
  return memory;
}

std::string pool_of(const Plan& plan, int32_t constant) {
  for (const ConstantPlacement& place : plan.constants)
    if (place.constant.index == constant)
      return plan.memory.pools[static_cast<size_t>(place.pool)].name;
  return "none";
}

TEST(ConstantPlaces, ArePlannedBesideTheActivations) {
  const tir::Module module = module_with({{256, 0, 1}, {256, 1, 3}}, {100, 200, 300});
  const Result<Plan> plan = plan_memory(module, two_memories(350, 1024));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(pool_of(*plan, 2), "rom");  // as often read as all others, and the largest
  EXPECT_EQ(pool_of(*plan, 1), "ram");
  EXPECT_EQ(plan->use[1].constant_bytes, 300);
  EXPECT_EQ(plan->use[0].constant_bytes, 300);
  EXPECT_EQ(plan->use[0].peak, 512) << "constants are no activations";
  EXPECT_EQ(plan->memory_named_by(ConstantId{2}), nullptr) << "is in the one that is not named";
  ASSERT_NE(plan->memory_named_by(ConstantId{1}), nullptr);
  EXPECT_EQ(plan->memory_named_by(ConstantId{1})->name, "ram");
}

TEST(ConstantPlaces, AreRefusedWithTheBytesThatAreMissing) {
  const tir::Module module = module_with({{256, 0, 1}, {256, 1, 3}}, {100, 200, 300});
  EXPECT_THAT(plan_memory(module, two_memories(600, 400)).error().to_string(),
              HasSubstr("activations"));  // which need 512 bytes themselves
  EXPECT_THAT(plan_memory(module, two_memories(100, 450)).error().to_string(),
              HasSubstr("memories 'rom', 'ram': weights and tables need 600 bytes, together they "
                        "have 550: 50 bytes missing"));
  EXPECT_THAT(plan_memory(module, two_memories(304, 600)).error().to_string(),
              HasSubstr("together they have beside the activations 376: 224 bytes missing"));
  EXPECT_THAT(plan_memory(module, two_memories(200, 296)).error().to_string(),
              HasSubstr("need 600 bytes"));
  EXPECT_THAT(plan_memory(module, two_memories(280, 290)).error().to_string(),
              HasSubstr("need 600 bytes"));
  EXPECT_THAT(
      plan_memory(module_with({{16, 0, 1}}, {300, 8}), two_memories(280, 290)).error().to_string(),
      HasSubstr("the constant 'w0' needs 300 bytes in one memory, and none has more than 290"));
}

// Activations first would leave no memory that the constants may be in.
TEST(ConstantPlaces, TakeTheFastMemoryWhereTheActivationsHaveAnother) {
  MemoryMap memory;
  memory.pools = {{"fast", 600, false, 1}, {"slow", 4096, false, 9}};
  memory.pools[0].holds_constants = true;
  const tir::Module module = module_with({{256, 0, 1}, {256, 1, 3}}, {400});
  const Result<Plan> plan = plan_memory(module, memory);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(pool_of(*plan, 0), "fast");
  EXPECT_LE(plan->use[0].peak, 200);
  EXPECT_GE(plan->use[1].peak, 256);
  EXPECT_EQ(plan->memory.pools[0].size, 600);
  // A memory that is full of them has no place for anything else.
  memory.pools[0].size = 400;
  const Result<Plan> full = plan_memory(module, memory);
  ASSERT_TRUE(full.ok()) << full.error().to_string();
  EXPECT_EQ(full->use[0].peak, 0);
  EXPECT_TRUE(full->use[0].proven_optimal);
}

TEST(ConstantPlaces, TheCheckerFindsWhatIsWrong) {
  const tir::Module module = module_with({{256, 0, 1}, {256, 1, 3}}, {100, 200, 300});
  const Result<Plan> made = plan_memory(module, two_memories(350, 1024));
  ASSERT_TRUE(made.ok());
  const auto complaint = [&](auto&& spoil) {
    Plan plan = *made;
    spoil(plan);
    const Result<void> checked = check_plan(module, plan);
    return checked.ok() ? "none" : checked.error().to_string();
  };
  EXPECT_EQ(complaint([](Plan&) {}), "none");
  EXPECT_THAT(complaint([](Plan& plan) { plan.constants.pop_back(); }),
              HasSubstr("constant 'w2': is placed 0 times"));
  EXPECT_THAT(complaint([](Plan& plan) { plan.constants.push_back(plan.constants[0]); }),
              HasSubstr("constant 'w0': is placed 2 times"));
  EXPECT_THAT(complaint([](Plan& plan) { plan.constants[0].pool = 7; }), HasSubstr("not there"));
  EXPECT_THAT(complaint([](Plan& plan) { plan.memory.pools[0].holds_constants = false; }),
              HasSubstr("is in pool 'ram', which does not hold constants"));
  EXPECT_THAT(complaint([](Plan& plan) { plan.use[0].constant_bytes -= 4; }),
              HasSubstr("has constants of 300 bytes, not of 296"));
  EXPECT_THAT(complaint([](Plan& plan) { plan.memory.pools[0].size = 800; }),
              HasSubstr("constants of 300 bytes and 512 of activations are more than its 800"));
}

// Random networks on random boards: what is planned passes the checker, which plan_memory calls, and what is refused did
// not fit when there was little room to spare.
TEST(ConstantPlaces, OfRandomBoardsPassTheChecker) {
  int planned = 0, refused = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) { return static_cast<int64_t>(random()) % n; };
    std::vector<testing::Life> lives(static_cast<size_t>(1 + below(6)));
    int64_t bytes = 0;
    for (testing::Life& life : lives) {
      const int first = static_cast<int>(below(4));
      life = {1 + below(100), first, first + static_cast<int>(below(4 - first)),
              int32_t{1} << below(6)};
      bytes += life.bytes + 64;
    }
    std::vector<int64_t> constants(static_cast<size_t>(below(8)));
    for (int64_t& size : constants) size = 1 + below(150), bytes += size + 4;
    MemoryMap memory;
    for (int p = 0; p < 4; ++p) {
      MemoryPool pool{"m" + std::to_string(p), 16 * (1 + below(40)), p > 1,
                      static_cast<int32_t>(1 + below(9))};
      pool.holds_constants = p == 1 || below(2) == 0;
      pool.constants_order = p;
      memory.pools.push_back(pool);
    }
    const tir::Module module = module_with(lives, constants);
    const Result<Plan> plan = plan_memory(module, memory);
    (plan.ok() ? planned : refused) += 1;
    if (plan.ok()) {
      const Result<void> checked = check_plan(module, *plan);
      EXPECT_TRUE(checked.ok()) << seed << ": " << checked.error().to_string();
      EXPECT_EQ(plan->constants.size(), constants.size());
    } else {
      EXPECT_GT(bytes + 100, memory.pools[1].size)
          << seed << ": all of it would be in m1: " << plan.error().to_string();
    }
  }
  EXPECT_GT(planned, 50);
  EXPECT_GT(refused, 50);
}

// 8 results of 4 products each read every weight twice; a table of 4 is looked up for each of 8 results.
TEST(ConstantPlaces, ReadsFollowProductsLookupsAndLoops) {
  tir::Module module;
  module.name = "m";
  module.entry = "main";
  for (const char* name : {"weights", "table"})
    module.constants.push_back(
        {name, DataType::Int8, {16}, std::vector<uint8_t>(16), tir::ConstantUse::Weights});
  module.constants[1].bytes = std::vector<uint8_t>(4);
  module.constants[1].use = tir::ConstantUse::Table;
  module.constants.push_back({"unused", DataType::Int8, {4}, std::vector<uint8_t>(4)});
  const auto reader = [&](const std::string& name, int32_t constant, int64_t macs) {
    tir::FuncBuilder build(name);
    build.parameter("in", DataType::Int8, {8}, tir::Access::Read);
    build.parameter("out", DataType::Int8, {8}, tir::Access::Write);
    tir::Func func = build.finish(tir::seq({}));
    func.buffers.push_back({"c", DataType::Int8, {4}, tir::Scope::Constant, ConstantId{constant}});
    func.macs = macs;
    module.funcs.push_back(func);
  };
  reader("products", 0, 32);
  reader("lookups", 1, 0);
  tir::FuncBuilder build("main");
  const tir::BufferId in = build.parameter("in", DataType::Int8, {8}, tir::Access::Read);
  const tir::BufferId out = build.parameter("out", DataType::Int8, {8}, tir::Access::Write);
  module.funcs.push_back(build.finish(
      tir::seq({tir::call_func("products", {in, out}), build.loop("i", 5, [&](const tir::Expr&) {
                  return tir::call_func("lookups", {in, out});
                })})));
  EXPECT_THAT(plan::constant_reads(module), ElementsAre(2, 2 * 5, 0));
}

TEST(ConstantPlaces, TheCostOfAnAccessIsTheOperatorsOwnOrTheFastest) {
  MemoryMap memory = two_memories(64, 64);
  LoweringOptions options;
  EXPECT_EQ(constant_cycles(options, "conv"), std::nullopt);
  options.memory = &memory;
  options.cycles_of_constants = {{"conv", 5}};
  EXPECT_EQ(constant_cycles(options, "conv"), 5);
  EXPECT_EQ(constant_cycles(options, "other"), 2);
  memory.open = true;
  EXPECT_EQ(constant_cycles(options, "conv"), std::nullopt);
}

}  // namespace
}  // namespace intarsia
