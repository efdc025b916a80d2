// Steps, groups and users of buffers, one rule at a time.
#include "plan/lifetimes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/plugin/tir_build.h"

namespace intarsia::plan {
namespace {

using testing::HasSubstr;
using tir::Access;
using tir::BufferId;
using Users = std::set<std::string>;

// Schedules from calls of functions with bodies that nobody looks at.
class LifetimesTest : public testing::Test {
 protected:
  LifetimesTest() {
    module_.name = "m";
    module_.entry = "main";
    schedule_.name = "main";
  }
  BufferId add(const std::string& name, int64_t bytes, tir::Scope scope = tir::Scope::Local) {
    schedule_.buffers.push_back({name, DataType::Int8, {bytes}, scope, {}, {}, 1});
    return {static_cast<int32_t>(schedule_.buffers.size()) - 1};
  }
  BufferId parameter(const std::string& name, int64_t bytes, Access access) {
    schedule_.parameters.push_back({access});
    return add(name, bytes, tir::Scope::Parameter);
  }
  tir::Func& function(const std::string& name, size_t parameters, const std::string& target = "") {
    tir::FuncBuilder build(name);
    for (size_t i = 0; i < parameters; ++i)
      build.parameter("p" + std::to_string(i), DataType::Int8, {1}, Access::ReadWrite);
    module_.funcs.push_back(build.finish(tir::seq({})));
    module_.funcs.back().target = target;
    return module_.funcs.back();
  }
  // in -> a -> b -> out, each call by a function of its own.
  void straight(int64_t bytes = 64) {
    in_ = parameter("in", bytes, Access::Read);
    out_ = parameter("out", bytes, Access::Write);
    a_ = add("a", bytes);
    b_ = add("b", bytes);
    for (const char* name : {"f0", "f1", "f2"}) function(name, 2);
    schedule_.body = tir::seq({tir::call_func("f0", {in_, a_}), tir::call_func("f1", {a_, b_}),
                               tir::call_func("f2", {b_, out_})});
  }
  tir::Func& func(const std::string& name) {
    return *std::find_if(module_.funcs.begin(), module_.funcs.end(),
                         [&](const tir::Func& f) { return f.name == name; });
  }
  tir::Stmt while_loop(tir::Stmt body) {
    schedule_.vars.push_back({"i"});
    return std::make_shared<tir::StmtNode>(
        tir::StmtNode{tir::For{{static_cast<int32_t>(schedule_.vars.size()) - 1},
                               tir::int_imm(0),
                               tir::int_imm(3),
                               std::move(body)},
                      {}});
  }
  tir::Expr flag_value(BufferId flag) const {
    return std::make_shared<tir::ExprNode>(
        tir::ExprNode{DataType::Bool, tir::Load{flag, {tir::int_imm(0)}}});
  }

  const tir::Module& module() {
    whole_ = module_;
    whole_.funcs.push_back(schedule_);
    return whole_;
  }
  Lifetimes found(bool in_place = false) { return find_lifetimes(module(), in_place); }
  static const Group& group_of(const Lifetimes& lifetimes, BufferId id) {
    for (const Group& group : lifetimes.groups)
      if (std::find(group.buffers.begin(), group.buffers.end(), id) != group.buffers.end())
        return group;
    static const Group none;
    return none;
  }
  static std::pair<int, int> steps_of(const Lifetimes& lifetimes, BufferId id) {
    const Group& group = group_of(lifetimes, id);
    return {group.first_step, group.last_step};
  }

  tir::Module module_, whole_;
  tir::Func schedule_;
  BufferId in_, out_, a_, b_;
};

using Steps = std::pair<int, int>;

TEST_F(LifetimesTest, OfAStraightSchedule) {
  straight();
  const Lifetimes lifetimes = found();
  EXPECT_EQ(lifetimes.steps, 3);
  EXPECT_EQ(lifetimes.groups.size(), 4u);
  EXPECT_EQ(steps_of(lifetimes, in_), Steps(0, 0));
  EXPECT_EQ(steps_of(lifetimes, a_), Steps(0, 1));
  EXPECT_EQ(steps_of(lifetimes, b_), Steps(1, 2));
  EXPECT_EQ(steps_of(lifetimes, out_), Steps(2, 2));
  EXPECT_TRUE(group_of(lifetimes, out_).holds_output);
  EXPECT_FALSE(group_of(lifetimes, in_).holds_output);
}

// Inputs are there before the first call, outputs after the last one.
TEST_F(LifetimesTest, OfInputsReadLateAndOutputsWrittenEarly) {
  straight();
  schedule_.body = tir::seq({tir::call_func("f0", {a_, out_}), tir::call_func("f1", {a_, b_}),
                             tir::call_func("f2", {b_, in_})});
  const Lifetimes lifetimes = found();
  EXPECT_EQ(steps_of(lifetimes, in_), Steps(0, 2));
  EXPECT_EQ(steps_of(lifetimes, out_), Steps(0, 2));
}

TEST_F(LifetimesTest, StateLivesAlways) {
  straight();
  schedule_.buffers[b_.at()].initial = 0;
  const Lifetimes lifetimes = found(true);
  EXPECT_EQ(steps_of(lifetimes, b_), Steps(0, 2));
  EXPECT_TRUE(group_of(lifetimes, b_).holds_output);
}

// The caller is on the CPU: so are inputs, outputs, state and what branches depend on.
TEST_F(LifetimesTest, UsersAreTheTargetsAndTheCaller) {
  straight();
  for (const char* name : {"f0", "f1", "f2"}) func(name).target = "npu";
  Lifetimes lifetimes = found();
  EXPECT_EQ(group_of(lifetimes, in_).users, (Users{"", "npu"}));
  EXPECT_EQ(group_of(lifetimes, out_).users, (Users{"", "npu"}));
  EXPECT_EQ(group_of(lifetimes, a_).users, (Users{"npu"}));
  schedule_.buffers[a_.at()].initial = 0;
  lifetimes = found();
  EXPECT_EQ(group_of(lifetimes, a_).users, (Users{"", "npu"}));
}

TEST_F(LifetimesTest, ABranchReadsItsFlag) {
  straight();
  const BufferId flag = add("flag", 1), unread = add("unread", 1);
  function("set", 1, "npu");
  schedule_.body = tir::seq({tir::call_func("set", {flag}), tir::call_func("f0", {in_, a_}),
                             tir::if_then(flag_value(flag), tir::call_func("f1", {a_, b_}),
                                          tir::call_func("f0", {a_, b_})),
                             tir::call_func("f2", {b_, out_})});
  const Lifetimes lifetimes = found();
  EXPECT_EQ(lifetimes.steps, 5);
  EXPECT_EQ(steps_of(lifetimes, flag), Steps(0, 2));
  EXPECT_EQ(group_of(lifetimes, flag).users, (Users{"", "npu"}));
  EXPECT_TRUE(group_of(lifetimes, unread).buffers.empty());
  EXPECT_EQ(steps_of(lifetimes, b_), Steps(2, 4));
}

TEST_F(LifetimesTest, LoopsKeepWhatIsUsedInsideAndOutside) {
  straight();
  const BufferId inner = add("inner", 64), before = add("before", 64);
  function("g", 2);
  // 0: before, 1: a, loop {2: a -> inner, 3: inner -> b}, 4: b -> out
  schedule_.body = tir::seq(
      {tir::call_func("g", {in_, before}), tir::call_func("f0", {before, a_}),
       while_loop(tir::seq({tir::call_func("f1", {a_, inner}), tir::call_func("g", {inner, b_})})),
       tir::call_func("f2", {b_, out_})});
  const Lifetimes lifetimes = found(true);
  EXPECT_EQ(steps_of(lifetimes, before), Steps(0, 1));
  EXPECT_EQ(steps_of(lifetimes, a_), Steps(1, 3));  // read again by the next iteration
  EXPECT_EQ(steps_of(lifetimes, inner), Steps(2, 3));
  EXPECT_EQ(steps_of(lifetimes, b_), Steps(2, 4));  // what an iteration leaves must stay
  EXPECT_TRUE(group_of(lifetimes, a_).crosses_loop);
  EXPECT_TRUE(group_of(lifetimes, b_).crosses_loop);
  EXPECT_FALSE(group_of(lifetimes, inner).crosses_loop);
  EXPECT_FALSE(group_of(lifetimes, before).crosses_loop);
}

class InPlace : public LifetimesTest {
 protected:
  void SetUp() override {
    straight();
    for (const char* name : {"f0", "f1", "f2"}) func(name).in_place = {{0, 1}};
  }
  bool together(BufferId x, BufferId y) {
    const Lifetimes lifetimes = found(true);
    return &group_of(lifetimes, x) == &group_of(lifetimes, y);
  }
};

TEST_F(InPlace, WhatNobodyReadsLaterIsOverwritten) {
  const Lifetimes lifetimes = found(true);
  EXPECT_EQ(lifetimes.groups.size(), 1u);
  EXPECT_EQ(steps_of(lifetimes, out_), Steps(0, 2));
  EXPECT_TRUE(lifetimes.groups[0].holds_output);
  EXPECT_EQ(found(false).groups.size(), 4u);
}

TEST_F(InPlace, JoinedGroupsHaveTheUsersAndTheAlignmentOfBoth) {
  func("f2").target = "npu";
  schedule_.buffers[a_.at()].alignment = 32;
  schedule_.buffers[b_.at()].memory = "fast";
  const Lifetimes lifetimes = found(true);
  ASSERT_EQ(lifetimes.groups.size(), 1u);
  EXPECT_EQ(lifetimes.groups[0].users, (Users{"", "npu"}));
  EXPECT_EQ(lifetimes.groups[0].alignment, 32);
  EXPECT_EQ(lifetimes.groups[0].memory, "fast");
}

TEST_F(InPlace, NotWhatIsReadLater) {
  function("g", 3);
  schedule_.body = tir::seq({tir::call_func("f0", {in_, a_}), tir::call_func("f1", {a_, b_}),
                             tir::call_func("g", {a_, b_, out_})});
  EXPECT_FALSE(together(a_, b_));
  EXPECT_TRUE(together(in_, a_));
}

TEST_F(InPlace, NotState) {
  schedule_.buffers[a_.at()].initial = 0;
  EXPECT_FALSE(together(a_, b_));
}

// Its bytes stay to the end.
TEST_F(InPlace, NotAnOutputOfTheModel) {
  function("g", 2);
  schedule_.body = tir::seq({tir::call_func("f0", {in_, out_}), tir::call_func("f1", {out_, b_}),
                             tir::call_func("g", {b_, a_})});
  EXPECT_TRUE(together(in_, out_));
  EXPECT_FALSE(together(out_, b_));
}

TEST_F(InPlace, NotOtherSizes) {
  schedule_.buffers[b_.at()].extents = {63};
  EXPECT_FALSE(together(a_, b_));
  EXPECT_FALSE(together(b_, out_));
  EXPECT_TRUE(together(in_, a_));
}

TEST_F(InPlace, NotWhatTheCallIsHandedTwice) {
  function("g", 3).in_place = {{0, 2}};
  schedule_.body = tir::seq({tir::call_func("f0", {in_, a_}), tir::call_func("g", {a_, a_, b_}),
                             tir::call_func("f2", {b_, out_})});
  EXPECT_FALSE(together(a_, b_));
}

TEST_F(InPlace, NotWhatTheNextIterationReads) {
  schedule_.body =
      tir::seq({tir::call_func("f0", {in_, a_}), while_loop(tir::call_func("f1", {a_, b_})),
                tir::call_func("f2", {b_, out_})});
  EXPECT_FALSE(together(a_, b_));
}

TEST_F(InPlace, OnlyOneOfTwoInputs) {
  function("g", 3).in_place = {{0, 2}, {1, 2}};
  schedule_.body = tir::seq({tir::call_func("f0", {in_, a_}), tir::call_func("g", {in_, a_, b_}),
                             tir::call_func("f2", {b_, out_})});
  EXPECT_TRUE(together(in_, b_));
  EXPECT_FALSE(together(a_, b_));
}

class Overlapping : public LifetimesTest {
 protected:
  void SetUp() override {
    straight();
    func("f1").overlaps = {{0, 1, 8}};
  }
};

TEST_F(Overlapping, AreFoundBetweenAnInputsEndAndAnOutputsBeginning) {
  const Lifetimes lifetimes = found(true);
  ASSERT_EQ(lifetimes.overlaps.size(), 1u);
  const GroupOverlap& pair = lifetimes.overlaps[0];
  EXPECT_EQ(lifetimes.groups[static_cast<size_t>(pair.low)].buffers.front(), b_);
  EXPECT_EQ(lifetimes.groups[static_cast<size_t>(pair.high)].buffers.front(), a_);
  EXPECT_EQ(pair.distance, 8);
  EXPECT_TRUE(found(false).overlaps.empty());
}

TEST_F(Overlapping, NotWhatIsReadLater) {
  function("g", 3);
  schedule_.body = tir::seq({tir::call_func("f0", {in_, a_}), tir::call_func("f1", {a_, b_}),
                             tir::call_func("g", {a_, b_, out_})});
  EXPECT_TRUE(found(true).overlaps.empty());
}

TEST_F(Overlapping, NotWhatWasWrittenBefore) {
  function("g", 3);
  schedule_.body = tir::seq({tir::call_func("g", {in_, a_, b_}), tir::call_func("f1", {a_, b_}),
                             tir::call_func("f2", {b_, out_})});
  EXPECT_TRUE(found(true).overlaps.empty());
}

TEST_F(Overlapping, NotInLoops) {
  schedule_.body =
      tir::seq({tir::call_func("f0", {in_, a_}), while_loop(tir::call_func("f1", {a_, b_})),
                tir::call_func("f2", {b_, out_})});
  EXPECT_TRUE(found(true).overlaps.empty());
}

TEST_F(Overlapping, NotState) {
  schedule_.buffers[a_.at()].initial = 0;
  EXPECT_TRUE(found(true).overlaps.empty());
}

TEST_F(LifetimesTest, FunctionsAreFoundByTheirSteps) {
  straight();
  EXPECT_EQ(function_at(module(), 0)->name, "f0");
  EXPECT_EQ(function_at(module(), 2)->name, "f2");
  EXPECT_EQ(function_at(module(), 3), nullptr);
}

// The checker finds all of this for itself.
class CheckUsers : public LifetimesTest {
 protected:
  void SetUp() override {
    straight();
    for (const char* name : {"f0", "f1", "f2"}) func(name).target = "accelerator";
    memory_.pools = {{"sram", 0, false, 1, {"npu"}}, {"ram", 0, false, 2}};
    memory_.masters = {{"accelerator", "npu"}};
  }
  std::string complaint_about(BufferId id) {
    Plan plan = *plan_memory(module(), memory_);
    for (Placement& place : plan.placements)
      if (place.buffer == id) {
        place.pool = 0;
        place.offset = plan.use[0].peak;
        plan.use[0].peak += place.bytes;
      }
    const Result<void> checked = check_plan(module(), plan);
    return checked.ok() ? "" : checked.error().to_string();
  }
  MemoryMap memory_;
};

TEST_F(CheckUsers, ThePlannerLeavesToTheCallerWhatItReaches) {
  const Result<Plan> plan = plan_memory(module(), memory_);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->find(in_)->pool, 1);
  EXPECT_EQ(plan->find(out_)->pool, 1);
  EXPECT_EQ(plan->find(a_)->pool, 0);
  EXPECT_EQ(plan->find(b_)->pool, 0);
}

TEST_F(CheckUsers, TheCheckerKnowsTheCaller) {
  for (const BufferId id : {in_, out_})
    EXPECT_THAT(complaint_about(id),
                HasSubstr("is in pool 'sram', which the program that calls the model does not "
                          "reach"));
  EXPECT_EQ(complaint_about(a_), "");
  schedule_.buffers[a_.at()].initial = 0;
  EXPECT_THAT(complaint_about(a_), HasSubstr("which the program that calls the model"));
}

TEST_F(CheckUsers, TheCheckerKnowsWhoReadsFlags) {
  const BufferId flag = add("flag", 1);
  function("set", 1, "accelerator");
  schedule_.body = tir::seq({tir::call_func("set", {flag}), tir::call_func("f0", {in_, a_}),
                             tir::if_then(flag_value(flag), tir::call_func("f1", {a_, b_})),
                             tir::call_func("f2", {b_, out_})});
  EXPECT_THAT(complaint_about(flag), HasSubstr("buffer 'flag': is in pool 'sram', which the"));
}

TEST_F(CheckUsers, TheCheckerKnowsTheTargets) {
  memory_.pools = {{"ram", 0, false, 1, {"cpu"}}, {"sram", 0, false, 2}};
  EXPECT_THAT(complaint_about(a_), HasSubstr("is in pool 'ram', which 'accelerator' does not"));
}

// The checker's own reading of loops and branches: plans with two buffers in one place.
class CheckControlFlow : public LifetimesTest {
 protected:
  std::string complaint_with_both_at_one_place(BufferId x, BufferId y) {
    MemoryMap memory;
    memory.pools = {{"ram", 0}};
    Plan plan = *plan_memory(module(), memory, {.in_place = false});
    for (Placement& place : plan.placements)
      if (place.buffer == x || place.buffer == y) place.offset = plan.use[0].peak;
    plan.use[0].peak += 64;
    const Result<void> checked = check_plan(module(), plan);
    return checked.ok() ? "" : checked.error().to_string();
  }
};

TEST_F(CheckControlFlow, LoopsKeepWhatIsUsedInsideAndOutside) {
  straight();
  const BufferId inner = add("inner", 64), before = add("before", 64);
  function("g", 2);
  schedule_.body = tir::seq(
      {tir::call_func("g", {in_, before}), tir::call_func("f0", {before, a_}),
       while_loop(tir::seq({tir::call_func("f1", {a_, inner}), tir::call_func("g", {inner, b_})})),
       tir::call_func("f2", {b_, out_})});
  EXPECT_THAT(complaint_with_both_at_one_place(a_, b_), HasSubstr("are alive together"));
  EXPECT_THAT(complaint_with_both_at_one_place(b_, inner), HasSubstr("are alive together"));
  EXPECT_EQ(complaint_with_both_at_one_place(before, inner), "");
  EXPECT_EQ(complaint_with_both_at_one_place(before, b_), "");
  EXPECT_EQ(complaint_with_both_at_one_place(in_, inner), "");
  EXPECT_EQ(complaint_with_both_at_one_place(a_, out_), "");
  EXPECT_THAT(complaint_with_both_at_one_place(in_, before), HasSubstr("are alive together"));
}

TEST_F(CheckControlFlow, BranchesReadTheirFlags) {
  straight();
  const BufferId flag = add("flag", 1);
  function("set", 1);
  schedule_.body = tir::seq({tir::call_func("set", {flag}), tir::call_func("f0", {in_, a_}),
                             tir::if_then(flag_value(flag), tir::call_func("f1", {a_, b_})),
                             tir::call_func("f2", {b_, out_})});
  EXPECT_THAT(complaint_with_both_at_one_place(flag, a_), HasSubstr("are alive together"));
  EXPECT_EQ(complaint_with_both_at_one_place(flag, out_), "");
}

TEST_F(CheckControlFlow, StateInputsAndOutputsStay) {
  straight();
  EXPECT_EQ(complaint_with_both_at_one_place(a_, out_), "");
  schedule_.buffers[a_.at()].initial = 0;
  EXPECT_THAT(complaint_with_both_at_one_place(a_, out_), HasSubstr("are alive together"));
}

}  // namespace
}  // namespace intarsia::plan
