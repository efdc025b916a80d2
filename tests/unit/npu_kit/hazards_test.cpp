// Random commands, each pair of which that conflicts has to run one after the other; and no wait without a reason.
#include "intarsia/npu/hazards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace intarsia::npu {
namespace {

struct Command {
  int32_t issuer = 0, counter = 0;
  int64_t number = 0;
  std::vector<MemoryAccess> accesses;
  // By counter: commands that have ended when it begins, by its own waits and by those of what it waited for.
  std::vector<int64_t> ended;
  std::vector<int64_t> issued;  // before it
};

bool conflict(const Command& a, const Command& b) {
  for (const MemoryAccess& x : a.accesses)
    for (const MemoryAccess& y : b.accesses)
      if (x.meets(y) && (x.is_write || y.is_write)) return true;
  return false;
}

struct Rules {
  std::vector<int32_t> most_outstanding;
  int32_t issuers = 1;
  int32_t in_order = -1;  // a counter whose commands the hardware keeps apart
};

void try_commands(const Rules& rules, uint32_t seed) {
  std::mt19937 random(seed);
  const size_t counters = rules.most_outstanding.size();
  HazardTracker tracker(rules.most_outstanding, rules.issuers);
  std::vector<Command> commands;
  const std::vector<std::vector<int64_t>> nothing(static_cast<size_t>(rules.issuers),
                                                  std::vector<int64_t>(counters, 0));
  auto known = nothing,
       waited = nothing;  // by issuer and counter; `known` also by what others waited for
  for (int i = 0; i < 120; ++i) {
    Command command;
    command.counter = static_cast<int32_t>(random() % counters);
    command.issuer = rules.issuers == 1 ? 0 : command.counter % rules.issuers;
    const size_t accesses = 1 + random() % 3;
    for (size_t a = 0; a < accesses; ++a) {
      const int64_t begin = random() % 60;
      command.accesses.push_back({static_cast<int32_t>(random() % 2), begin,
                                  begin + 1 + static_cast<int64_t>(random() % 12),
                                  random() % 3 == 0});
    }
    for (size_t c = 0; c < counters; ++c)
      command.issued.push_back(tracker.issued(static_cast<int32_t>(c)));
    const int32_t except = command.counter == rules.in_order ? rules.in_order : -1;
    const std::vector<int64_t> waits =
        tracker.waits_before(command.issuer, command.accesses, except);
    std::vector<int64_t>& knows = known[static_cast<size_t>(command.issuer)];
    for (size_t c = 0; c < counters; ++c) {
      if (waits[c] == 0) continue;
      // Some command has that number, and conflicts.
      const auto reason = std::find_if(commands.begin(), commands.end(), [&](const Command& other) {
        return other.counter == static_cast<int32_t>(c) && other.number == waits[c];
      });
      ASSERT_NE(reason, commands.end());
      EXPECT_TRUE(conflict(*reason, command));
      int64_t& before = waited[static_cast<size_t>(command.issuer)][c];
      EXPECT_GT(waits[c], before) << "it has waited for this already";
      before = waits[c];
      for (const Command& other : commands)
        if (other.counter == static_cast<int32_t>(c) && other.number <= waits[c])
          for (size_t d = 0; d < counters; ++d) knows[d] = std::max(knows[d], other.ended[d]);
      knows[c] = std::max(knows[c], waits[c]);
    }
    command.ended = knows;
    command.number = tracker.issue(command.counter, command.accesses);
    for (const Command& other : commands) {
      if (!conflict(other, command) || other.counter == except) continue;
      const auto c = static_cast<size_t>(other.counter);
      const int32_t most = rules.most_outstanding[c];
      EXPECT_TRUE(command.ended[c] >= other.number ||
                  (most > 0 && other.number <= command.issued[c] - most))
          << "command " << i << " meets number " << other.number << " of counter " << c;
    }
    commands.push_back(std::move(command));
  }
}

TEST(HazardTracker, OneStreamWithTwoQueues) {
  for (uint32_t seed = 0; seed < 100; ++seed) try_commands({{1, 2}, 1, 1}, seed);
  for (uint32_t seed = 0; seed < 100; ++seed) try_commands({{4, 2}, 1, -1}, seed);
}

TEST(HazardTracker, SeveralIssuersWithCounters) {
  for (uint32_t seed = 0; seed < 100; ++seed) try_commands({{0, 0, 0, 0}, 4, -1}, seed);
  for (uint32_t seed = 0; seed < 100; ++seed) try_commands({{0, 0, 0}, 2, -1}, seed);
}

TEST(HazardTracker, ReadersDoNotWaitForEachOther) {
  HazardTracker tracker({0});
  const MemoryAccess read = {0, 0, 10, false}, write = {0, 5, 6, true};
  EXPECT_EQ(tracker.issue(0, std::vector{read}), 1);
  EXPECT_EQ(tracker.waits_before(0, std::vector{read}), std::vector<int64_t>{0});
  EXPECT_EQ(tracker.issue(0, std::vector{read}), 2);
  EXPECT_EQ(tracker.waits_before(0, std::vector{write}), std::vector<int64_t>{2});
  EXPECT_EQ(tracker.waits_before(0, std::vector{write}), std::vector<int64_t>{0})
      << "it has waited";
  const MemoryAccess elsewhere = {1, 0, 10, true}, behind = {0, 10, 12, true};
  EXPECT_EQ(tracker.waits_before(0, std::vector{elsewhere, behind}), std::vector<int64_t>{0});
}

TEST(HazardTracker, WhatHasNoRoomBesideHasEnded) {
  HazardTracker tracker({2});
  const MemoryAccess first = {0, 0, 1, true}, other = {0, 8, 9, true};
  tracker.issue(0, std::vector{first});
  tracker.issue(0, std::vector{other});
  EXPECT_EQ(HazardTracker(tracker).waits_before(0, std::vector{first}), std::vector<int64_t>{1});
  tracker.issue(0, std::vector{other});
  EXPECT_EQ(tracker.waits_before(0, std::vector{first}), std::vector<int64_t>{0});
}

TEST(HazardTracker, WaitsForOtherReasonsCount) {
  HazardTracker tracker({0}, 2);
  tracker.issue(0, {});
  tracker.issue(0, {});
  EXPECT_TRUE(tracker.wait(0, 0, 2));
  EXPECT_FALSE(tracker.wait(0, 0, 1));
  EXPECT_TRUE(tracker.wait(1, 0, 1)) << "what one issuer waits for tells the other nothing";
}

}  // namespace
}  // namespace intarsia::npu
