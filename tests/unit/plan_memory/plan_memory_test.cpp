#include "intarsia/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/tir_build.h"

namespace intarsia {
namespace {

using testing::HasSubstr;
using tir::Access;
using tir::BufferId;

// A leaf that reads `inputs` buffers and writes one, element by element.
tir::Func leaf(const std::string& name, int inputs, int64_t elements, bool in_place,
               const std::string& target = "") {
  tir::FuncBuilder build(name);
  std::vector<BufferId> in;
  for (int i = 0; i < inputs; ++i)
    in.push_back(build.parameter("in" + std::to_string(i), DataType::Int8, {elements}, Access::Read));
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

tir::Buffer buffer(const std::string& name, int64_t elements, tir::Scope scope, BufferId alias = {}) {
  return {name, DataType::Int8, {elements}, scope, {}, alias, 1};
}

// in -> a (f) -> b (f) -> c = g(a, b) -> out (f), each of 64 bytes.
tir::Module chain(bool in_place, const std::string& second_target = "") {
  tir::Module module;
  module.name = "m";
  module.entry = "main";
  module.funcs = {leaf("f", 1, 64, in_place), leaf("f2", 1, 64, in_place, second_target), leaf("g", 2, 64, in_place)};
  tir::Func schedule;
  schedule.name = "main";
  schedule.parameters = {{Access::Read}, {Access::Write}};
  schedule.buffers = {buffer("in", 64, tir::Scope::Parameter), buffer("out", 64, tir::Scope::Parameter),
                      buffer("a", 64, tir::Scope::Local), buffer("b", 64, tir::Scope::Local),
                      buffer("c", 64, tir::Scope::Local)};
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
              HasSubstr("m: memory pool 'ram': the activations need 192 bytes, the pool has 150: 42 bytes missing (proven"));
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
  module.constants = {{"weights", DataType::Int8, {300}, std::vector<uint8_t>(300), tir::ConstantUse::Weights}};
  MemoryMap memory = one_pool(0);
  memory.pools.push_back({"flash", 256, true});
  EXPECT_THAT(plan_memory(module, memory).error().to_string(),
              HasSubstr("memory 'flash': weights and tables need 300 bytes, the memory has 256: 44 bytes missing"));
  memory.pools[1].size = 512;
  EXPECT_EQ(plan_memory(module, memory)->use[1].peak, 300);
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
  schedule.body = tir::seq({tir::call_func("f", {BufferId{0}, BufferId{4}}), tir::call_func("f", {BufferId{5}, BufferId{1}})});
  const Result<Plan> plan = plan_memory(module, one_pool(0));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->find(BufferId{5})->offset, plan->find(BufferId{4})->offset);
  EXPECT_EQ(plan->use[0].peak, 128);
  EXPECT_EQ(plan->find(BufferId{2}), nullptr);  // nobody uses it
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

TEST_F(CheckPlan, AcceptsThePlanners) { EXPECT_EQ(complaint(), ""); }

TEST_F(CheckPlan, FindsSharedBytes) {
  plan_.placements[3].offset = plan_.placements[2].offset;
  EXPECT_THAT(complaint(), HasSubstr("step 1: buffers 'a' and 'b' are alive together and share bytes"));
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

}  // namespace
}  // namespace intarsia
