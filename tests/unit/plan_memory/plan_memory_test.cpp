#include "intarsia/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/plugin/tir_build.h"
#include "plan/fullest_step.h"

namespace intarsia {
namespace {

using testing::HasSubstr;
using tir::Access;
using tir::BufferId;

// A kernel that reads `inputs` buffers and writes one, element by element.
tir::Func kernel(const std::string& name, int inputs, int64_t elements, bool in_place,
                 const std::string& target = "") {
  tir::FuncBuilder build(name);
  std::vector<BufferId> in;
  for (int i = 0; i < inputs; ++i)
    in.push_back(
        build.parameter("in" + std::to_string(i), DataType::Int8, {elements}, Access::Read));
  const BufferId out = build.parameter("out", DataType::Int8, {elements}, Access::Write);
  tir::Func func = build.finish(build.loop("i", elements, [&](const tir::Expr& i) {
    tir::Expr sum = build.load(in[0], {i});
    for (size_t k = 1; k < in.size(); ++k) sum = sum + build.load(in[k], {i});
    return build.store(out, {i}, sum);
  }));
  func.target = target;
  if (in_place)
    for (int i = 0; i < inputs; ++i) func.in_place.push_back({i, inputs});
  return func;
}

tir::Buffer buffer(const std::string& name, int64_t elements, tir::Scope scope,
                   BufferId alias = {}) {
  return {name, DataType::Int8, {elements}, scope, {}, alias, 1};
}

// in -> a (f) -> b (f) -> c = g(a, b) -> out (f), each of 64 bytes.
tir::Module chain(bool in_place, const std::string& second_target = "") {
  tir::Module module;
  module.name = "m";
  module.entry = "main";
  module.funcs = {kernel("f", 1, 64, in_place), kernel("f2", 1, 64, in_place, second_target),
                  kernel("g", 2, 64, in_place)};
  tir::Func schedule;
  schedule.name = "main";
  schedule.parameters = {{Access::Read}, {Access::Write}};
  schedule.buffers = {buffer("in", 64, tir::Scope::Parameter),
                      buffer("out", 64, tir::Scope::Parameter), buffer("a", 64, tir::Scope::Local),
                      buffer("b", 64, tir::Scope::Local), buffer("c", 64, tir::Scope::Local)};
  const BufferId in{0}, out{1}, a{2}, b{3}, c{4};
  schedule.body = tir::seq({tir::call_func("f", {in, a}), tir::call_func("f2", {a, b}),
                            tir::call_func("g", {a, b, c}), tir::call_func("f", {c, out})});
  module.funcs.push_back(schedule);
  return module;
}

MemoryMap one_pool(int64_t size) {
  MemoryMap memory;
  memory.pools = {{"ram", size}};
  return memory;
}

TEST(PlanMemory, LiveBuffersDecideThePeak) {
  const Result<Plan> plan = plan_memory(chain(false), one_pool(0));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->use[0].peak, 192);  // a, b and c
  EXPECT_TRUE(plan->use[0].proven_optimal);
}

TEST(PlanMemory, InPlaceSavesABuffer) {
  const Result<Plan> plan = plan_memory(chain(true), one_pool(0));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->use[0].peak, 128);  // a may not be overwritten by b, c overwrites one of them
  PlanOptions off;
  off.in_place = false;
  EXPECT_EQ(plan_memory(chain(true), one_pool(0), off)->use[0].peak, 192);
}

TEST(PlanMemory, SaysWhatIsMissing) {
  const Result<Plan> plan = plan_memory(chain(false), one_pool(150));
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().to_string(),
              HasSubstr("m: memory pool 'ram': the activations need 192 bytes, the pool has 150: "
                        "42 bytes missing (proven"));
}

TEST(PlanMemory, SpillsToTheSlowerPool) {
  MemoryMap memory;
  memory.pools = {{"fast", 130}, {"slow", 0, false, 5}};
  const Result<Plan> plan = plan_memory(chain(false), memory);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_LE(plan->use[0].peak, 130);
  EXPECT_EQ(plan->use[0].peak + plan->use[1].peak, 192);
}

TEST(PlanMemory, ConstantsHaveToFitTheFlash) {
  tir::Module module = chain(false);
  module.constants = {
      {"weights", DataType::Int8, {300}, std::vector<uint8_t>(300), tir::ConstantUse::Weights}};
  MemoryMap memory = one_pool(0);
  memory.pools.push_back({"flash", 256, true});
  EXPECT_THAT(plan_memory(module, memory).error().to_string(),
              HasSubstr("memory 'flash': weights and tables need 300 bytes, the memory has 256: 44 "
                        "bytes missing"));
  memory.pools[1].size = 512;
  EXPECT_EQ(plan_memory(module, memory)->use[1].peak, 300);
}

// Of several read-only memories, the one that the board says, also where it is not the first.
TEST(PlanMemory, ConstantsHaveToFitTheMemoryThatTheBoardSays) {
  tir::Module module = chain(false);
  module.constants = {
      {"weights", DataType::Int8, {300}, std::vector<uint8_t>(300), tir::ConstantUse::Weights}};
  MemoryMap memory = one_pool(0);
  memory.pools.push_back({"code", 256, true});
  memory.pools.push_back({"constants", 512, true});
  memory.pools.back().holds_constants = true;
  const Result<Plan> plan = plan_memory(module, memory);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->use[1].peak, 0);
  EXPECT_EQ(plan->use[2].peak, 300);
  memory.pools.back().size = 299;
  EXPECT_THAT(plan_memory(module, memory).error().to_string(),
              HasSubstr("memory 'constants': weights and tables need 300 bytes"));
}

TEST(PlanMemory, ADeviceReachesOnlyItsMemories) {
  MemoryMap memory;
  memory.pools = {{"core_only", 0, false, 1, {"cpu"}}, {"shared", 0, false, 2, {"cpu", "npu"}}};
  memory.masters = {{"accelerator", "npu"}};
  const Result<Plan> plan = plan_memory(chain(false, "accelerator"), memory);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->find(BufferId{2})->pool, 1);  // a and b are the device's operands
  EXPECT_EQ(plan->find(BufferId{3})->pool, 1);
  EXPECT_EQ(plan->find(BufferId{4})->pool, 0);
  memory.pools.pop_back();
  EXPECT_THAT(plan_memory(chain(false, "accelerator"), memory).error().to_string(),
              HasSubstr("no memory of the board is reached by all of its users"));
}

TEST(PlanMemory, AnAliasIsItsRoot) {
  tir::Module module = chain(false);
  tir::Func& schedule = module.funcs.back();
  schedule.buffers.push_back(buffer("c_flat", 64, tir::Scope::Local, BufferId{4}));
  schedule.body = tir::seq({tir::call_func("f", {BufferId{0}, BufferId{4}}),
                            tir::call_func("f", {BufferId{5}, BufferId{1}})});
  const Result<Plan> plan = plan_memory(module, one_pool(0));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->find(BufferId{5})->offset, plan->find(BufferId{4})->offset);
  EXPECT_EQ(plan->use[0].peak, 128);
  EXPECT_EQ(plan->find(BufferId{2}), nullptr);  // nobody uses it
}

// npu(in, out, t0, t1, t2): in -> t0 -> t1 -> t2 -> out, a command each; 64 bytes every one.
tir::Module stepwise(bool flag) {
  tir::FuncBuilder build("npu");
  std::vector<BufferId> at;
  for (const char* name : {"in", "out", "t0", "t1", "t2"})
    at.push_back(
        build.parameter(name, DataType::Int8, {64}, at.empty() ? Access::Read : Access::ReadWrite));
  const auto move = [&](size_t from, size_t to) {
    return tir::intrinsic("npu.move",
                          {tir::BufferRun{at[from], {tir::int_imm(0)}, 64, Access::Read},
                           tir::BufferRun{at[to], {tir::int_imm(0)}, 64, Access::Write}});
  };
  tir::Func func = build.finish(tir::seq({move(0, 2), move(2, 3), move(3, 4), move(4, 1)}));
  func.stepwise = flag;
  func.target = "npu";
  tir::Func schedule;
  schedule.name = "main";
  schedule.parameters = {{Access::Read}, {Access::Write}};
  schedule.buffers = {buffer("in", 64, tir::Scope::Parameter),
                      buffer("out", 64, tir::Scope::Parameter)};
  for (const char* name : {"a", "t0", "t1", "t2"})
    schedule.buffers.push_back(buffer(name, 64, tir::Scope::Local));
  schedule.body = tir::seq(
      {tir::call_func("f", {BufferId{0}, BufferId{2}}),
       tir::call_func("npu", {BufferId{2}, BufferId{1}, BufferId{3}, BufferId{4}, BufferId{5}})});
  tir::Module module;
  module.name = "m";
  module.entry = "main";
  module.funcs = {kernel("f", 1, 64, false), func, schedule};
  return module;
}

TEST(PlanMemory, CommandsOfADeviceAreSteps) {
  const Result<Plan> whole = plan_memory(stepwise(false), one_pool(0));
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  EXPECT_EQ(whole->use[0].peak, 320);  // a, out and all scratch
  const Result<Plan> fine = plan_memory(stepwise(true), one_pool(0));
  ASSERT_TRUE(fine.ok()) << fine.error().to_string();
  EXPECT_EQ(fine->use[0].peak, 128);
  EXPECT_EQ(fine->use[0].lower_bound, 128);
  EXPECT_EQ(fine->steps, 5);
  const Placement* t1 = fine->find(BufferId{4});
  EXPECT_EQ(t1->first_step, 2);
  EXPECT_EQ(t1->last_step, 3);
  EXPECT_EQ(fine->find(BufferId{1})->first_step, 4);  // the output begins at its writer
}

// in -> a -> out by row tiles: a may begin `distance` bytes before in, out as many before a. 64 bytes each.
tir::Module overlapping(int64_t distance) {
  tir::FuncBuilder build("rows");
  const BufferId in = build.parameter("in", DataType::Int8, {64}, Access::Read);
  const BufferId out = build.parameter("out", DataType::Int8, {64}, Access::Write);
  tir::Func func = build.finish(build.loop("s", 8, [&](const tir::Expr& s) {
    return tir::call_func("f", {in, out}, {s * 8, s * 8});
  }));
  func.tiled = true;
  func.overlaps = {{0, 1, distance}};
  tir::Func schedule;
  schedule.name = "main";
  schedule.parameters = {{Access::Read}, {Access::Write}};
  schedule.buffers = {buffer("in", 64, tir::Scope::Parameter),
                      buffer("out", 64, tir::Scope::Parameter), buffer("a", 64, tir::Scope::Local)};
  schedule.body = tir::seq({tir::call_func("rows", {BufferId{0}, BufferId{2}}),
                            tir::call_func("rows", {BufferId{2}, BufferId{1}})});
  tir::Module module;
  module.name = "m";
  module.entry = "main";
  module.funcs = {kernel("f", 1, 8, false), func, schedule};
  return module;
}

TEST(PlanMemory, OutputsBeginBeforeTheInputsTheyOverlap) {
  const tir::Module module = overlapping(8);
  ASSERT_TRUE(tir::verify(module).ok()) << tir::verify(module).error().to_string();
  const Result<Plan> plan = plan_memory(module, one_pool(0));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  const int64_t in = plan->find(BufferId{0})->offset, out = plan->find(BufferId{1})->offset,
                between = plan->find(BufferId{2})->offset;
  EXPECT_LE(between + 8, in);
  EXPECT_LE(out + 8, between);
  EXPECT_EQ(plan->use[0].peak, 64 + 8 + 8);
  EXPECT_LE(plan->use[0].lower_bound, 72);
  PlanOptions off;
  off.in_place = false;
  EXPECT_EQ(plan_memory(module, one_pool(0), off)->use[0].peak, 128);
  EXPECT_EQ(plan_memory(overlapping(64), one_pool(0))->use[0].peak, 128);
}

TEST(PlanMemory, TheCheckerMeasuresOverlapsItself) {
  const tir::Module module = overlapping(8);
  Plan plan = *plan_memory(module, one_pool(0));
  for (Placement& place : plan.placements)
    if (place.buffer == BufferId{2}) place.offset += 1;
  EXPECT_THAT(check_plan(module, plan).error().to_string(),
              HasSubstr("step 0: buffers 'in' and 'a' are alive together and share bytes"));
}

TEST(PlanMemory, TheCheckerCountsCommandsItself) {
  const tir::Module module = stepwise(true);
  Plan plan = *plan_memory(module, one_pool(0));
  for (Placement& place : plan.placements)
    if (place.buffer == BufferId{4}) place.offset = plan.find(BufferId{3})->offset;
  EXPECT_THAT(check_plan(module, plan).error().to_string(),
              HasSubstr("step 2: buffers 't0' and 't1' are alive together and share bytes"));
}

TEST(PlanMemory, PartsLieWhereTheirWholeIs) {
  tir::Module module = chain(false);
  tir::Func& schedule = module.funcs.back();
  schedule.buffers.push_back(buffer("arena", 256, tir::Scope::Local));
  const BufferId arena{5};
  schedule.buffers[0].alias = schedule.buffers[2].alias = schedule.buffers[4].alias = arena;
  schedule.buffers[0].alias_offset = 128;
  schedule.buffers[4].alias_offset = 192;
  const Result<Plan> plan = plan_memory(module, one_pool(0));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  const Placement* whole = plan->find(arena);
  EXPECT_EQ(plan->find(BufferId{0})->offset, whole->offset + 128);
  EXPECT_EQ(plan->find(BufferId{2})->offset, whole->offset);
  EXPECT_EQ(plan->find(BufferId{4})->offset, whole->offset + 192);
  EXPECT_EQ(plan->use[0].peak, 256 + 64);  // b, later out, beside the arena

  Plan wrong = *plan;
  for (Placement& place : wrong.placements)
    if (place.buffer == BufferId{2}) place.offset += 64;
  EXPECT_THAT(check_plan(module, wrong).error().to_string(),
              HasSubstr("an alias is not where its root is"));
}

TEST(PlanMemory, BuffersMayAskForAMemory) {
  tir::Module module = chain(false);
  module.funcs.back().buffers[3].memory = "slow";
  MemoryMap memory;
  memory.pools = {{"fast", 0}, {"slow", 100, false, 5}};
  const Result<Plan> plan = plan_memory(module, memory);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->find(BufferId{3})->pool, 1);
  EXPECT_EQ(plan->find(BufferId{2})->pool, 0);
  memory.pools[1].size = 60;  // no room
  EXPECT_EQ(plan_memory(module, memory)->find(BufferId{3})->pool, 0);
  module.funcs.back().buffers[3].memory = "elsewhere";
  EXPECT_TRUE(plan_memory(module, memory).ok());
}

// What did not ask for a memory leaves it first.
TEST(PlanMemory, RequestedPoolsStayLongest) {
  tir::Module module = chain(false);
  module.funcs.back().buffers[2].memory = "fast";
  MemoryMap memory;
  memory.pools = {{"fast", 64}, {"slow", 0, false, 5}};
  const Result<Plan> plan = plan_memory(module, memory);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->find(BufferId{2})->pool, 0);
  EXPECT_EQ(plan->find(BufferId{3})->pool, 1);
}

// The checker is asked about plans that the planner would not make.
class CheckPlan : public testing::Test {
 protected:
  tir::Module module_ = chain(false);
  Plan plan_ = *plan_memory(module_, one_pool(0));
  std::string complaint() {
    const Result<void> checked = check_plan(module_, plan_);
    return checked.ok() ? "" : checked.error().to_string();
  }
};

TEST_F(CheckPlan, AcceptsThePlanners) {
  EXPECT_EQ(complaint(), "");
}

TEST_F(CheckPlan, FindsSharedBytes) {
  plan_.placements[3].offset = plan_.placements[2].offset;
  EXPECT_THAT(complaint(),
              HasSubstr("step 1: buffers 'a' and 'b' are alive together and share bytes"));
}

TEST_F(CheckPlan, FindsAPeakThatIsTooSmall) {
  plan_.use[0].peak -= 1;
  EXPECT_THAT(complaint(), HasSubstr("beyond the stated peak 191"));
}

TEST_F(CheckPlan, FindsABufferWithoutAPlace) {
  plan_.placements.pop_back();
  EXPECT_THAT(complaint(), HasSubstr("buffer 'c': has no place"));
}

TEST_F(CheckPlan, FindsAnOverfullPool) {
  plan_.memory.pools[0].size = 100;
  EXPECT_THAT(complaint(), HasSubstr("beyond pool 'ram' of 100 bytes"));
}

// in and a and b are alive when g runs; each other step has two.
TEST(FullestStep, IsWhereMostIsInUse) {
  const tir::Module module = chain(false);
  const Result<Plan> plan = plan_memory(module, unlimited_memory());
  ASSERT_TRUE(plan.ok());
  const plan::FullestStep all = plan::fullest_step(*plan), of_pool = plan::fullest_step(*plan, 0);
  EXPECT_EQ(all.bytes, plan->use[0].lower_bound);
  EXPECT_EQ(all.step, of_pool.step);
  EXPECT_EQ(all.alive, of_pool.alive);
  int64_t bytes = 0;
  for (const Placement* place : all.alive) {
    EXPECT_LE(place->first_step, all.step);
    EXPECT_GE(place->last_step, all.step);
    bytes += place->bytes;
  }
  EXPECT_EQ(bytes, all.bytes);
  EXPECT_EQ(plan::fullest_step(Plan{}).bytes, 0);
}

// What shares bytes on purpose is counted once, and memories that are only read not at all.
TEST(FullestStep, CountsBytesOnce) {
  Plan plan;
  plan.memory.pools = {{"ram", 0}, {"flash", 0, true}, {"fast", 0}};
  plan.steps = 3;
  plan.placements = {{{0}, 0, 0, 64, 0, 1},  {{1}, 0, 32, 64, 1, 1}, {{2}, 0, 0, 64, 1, 2},
                     {{3}, 1, 0, 999, 0, 2}, {{4}, 2, 16, 8, 0, 0},  {{5}, 2, 0, 100, 2, 2}};
  const plan::FullestStep ram = plan::fullest_step(plan, 0);
  EXPECT_EQ(ram.step, 1);
  EXPECT_EQ(ram.bytes, 96);
  EXPECT_EQ(ram.alive.size(), 3u);
  const plan::FullestStep all = plan::fullest_step(plan);
  EXPECT_EQ(all.step, 2);
  EXPECT_EQ(all.bytes, 164);
}

}  // namespace
}  // namespace intarsia
