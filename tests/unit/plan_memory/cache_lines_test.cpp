// What devices write has cache lines of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/plan.h"
#include "intarsia/plugin/tir_build.h"

namespace intarsia {
namespace {

using tir::Access;
using tir::BufferId;

tir::Func copy_of(const std::string& name, int64_t elements, const std::string& target) {
  tir::FuncBuilder build(name);
  const BufferId in = build.parameter("in", DataType::Int8, {elements}, Access::Read);
  const BufferId out = build.parameter("out", DataType::Int8, {elements}, Access::Write);
  tir::Func func = build.finish(build.loop("i", elements, [&](const tir::Expr& i) {
    return build.store(out, {i}, build.load(in, {i}));
  }));
  func.target = target;
  return func;
}

// in -> a on the CPU, a -> out on `device`; each of 20 bytes.
tir::Module on_device(const std::string& device) {
  tir::Module module;
  module.name = "m";
  module.entry = "main";
  module.funcs = {copy_of("f", 20, ""), copy_of("g", 20, device)};
  tir::Func schedule;
  schedule.name = "main";
  schedule.parameters = {{Access::Read}, {Access::Write}};
  const auto buffer = [](const char* name, tir::Scope scope) {
    return tir::Buffer{name, DataType::Int8, {20}, scope, {}, {}, 1};
  };
  schedule.buffers = {buffer("in", tir::Scope::Parameter), buffer("out", tir::Scope::Parameter),
                      buffer("a", tir::Scope::Local)};
  const BufferId in{0}, out{1}, a{2};
  schedule.body = tir::seq({tir::call_func("f", {in, a}), tir::call_func("g", {a, out})});
  module.funcs.push_back(schedule);
  return module;
}

MemoryMap with_lines(int32_t line) {
  MemoryMap memory;
  memory.pools = {{.name = "ram", .size = 0, .alignment = line}};
  memory.masters = {{"npu", "npu"}, {"c", "cpu"}};
  return memory;
}

TEST(CacheLines, AreOfADevicesResultsAlone) {
  const Result<Plan> plan = plan_memory(on_device("npu"), with_lines(32));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  const Placement& out = *plan->find({1});
  EXPECT_EQ(out.offset % 32, 0);
  EXPECT_EQ(plan->alignment, 32);
  EXPECT_EQ(plan->use[0].peak, 52) << "a line for the result, and 20 bytes for the operand";
}

TEST(CacheLines, AreNotKeptForTheCpuNorWithoutACache) {
  for (const auto& [device, line] : {std::pair{"c", 32}, std::pair{"npu", 16}}) {
    const Result<Plan> plan = plan_memory(on_device(device), with_lines(line));
    ASSERT_TRUE(plan.ok()) << plan.error().to_string();
    EXPECT_EQ(plan->use[0].peak, 40) << device;
    EXPECT_EQ(plan->alignment, 16);
  }
}

TEST(CacheLines, AreChecked) {
  const tir::Module module = on_device("npu");
  Result<Plan> made = plan_memory(module, with_lines(32));
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  Plan plan = std::move(made).value();
  for (Placement& place : plan.placements) place.offset = place.buffer.index == 1 ? 0 : 24;
  const Result<void> checked = check_plan(module, plan);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().to_string(),
              testing::HasSubstr("are alive together and share bytes of a cache line"));
}

}  // namespace
}  // namespace intarsia
