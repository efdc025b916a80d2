// Times of short lists by hand, and that no port is given more than it has.
#include "intarsia/npu/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace intarsia::npu {
namespace {

OperationCost operation(double pipeline, double port = 0, double first_fetch = 0,
                        double drain = 0) {
  return {pipeline, {port}, first_fetch, drain};
}

TEST(Timeline, OperationsRunOneAfterTheOther) {
  Timeline timeline({});
  timeline.operation(operation(100, 40, 7), false);
  timeline.operation(operation(50, 80, 5), true);
  EXPECT_EQ(timeline.finish(), 7 + 100 + 5 + 80) << "the first fetch of the first shows as well";
}

TEST(Timeline, HidesTheDrainOfTheOneBefore) {
  Timeline timeline({});
  timeline.operation(operation(100, 0, 0, 30), false);
  timeline.operation(operation(50, 0, 9), false);
  timeline.operation(operation(20, 0, 9, 40), false);
  timeline.operation(operation(60), false);
  // 30 is more than half of 50, nothing drains in the second, 40 is more than half of 60.
  EXPECT_EQ(timeline.finish(), 100 + (50 - 25) + 20 + (60 - 30));
}

// Latency and computing hide behind the operation before, bytes do not.
TEST(Timeline, HidesNoBytes) {
  Timeline timeline({});
  timeline.operation(operation(100, 100, 0, 30), false);
  timeline.operation(operation(60, 50), false);
  timeline.operation(operation(50, 55, 0, 0), false);
  EXPECT_EQ(timeline.finish(), 100 + 50 + 55)
      << "30 hide behind the first, as far as the port is faster";
}

TEST(Timeline, ShowsTheFirstFetchThatNothingHides) {
  Timeline timeline({});
  timeline.operation(operation(100, 0, 7), false);
  timeline.wait_for_operations(0);
  timeline.operation(operation(50, 0, 9), false);
  timeline.operation(operation(50, 0, 60), false);
  EXPECT_EQ(timeline.finish(), 7 + 100 + 9 + 50 + 1 + 50)
      << "59 cycles of the second hide 59 of 60";
}

TEST(Timeline, OperationsStartAndTheirCommandsAreRead) {
  Timeline timeline({.operations = 2, .transfers = 1, .commands = {{8, {0, 8}}, {3, {0, 3}}}});
  OperationCost cost = operation(100, 40);
  cost.start = 5;
  timeline.operation(cost, true);
  timeline.operation(cost, true);  // read while the first runs, over another port
  EXPECT_EQ(timeline.finish(), 8 + 105 + 105);
  Timeline transfers({.operations = 2, .transfers = 1, .commands = {{8, {8}}, {3, {3}}}});
  transfers.transfer({20, {}});
  transfers.transfer({20, {}});
  EXPECT_EQ(transfers.finish(), 3 + 20 + 20);
}

TEST(Timeline, TransfersRunBeside) {
  Timeline timeline({2, 1});
  const int64_t first = timeline.transfer({60, {}});
  timeline.operation(operation(100), false);
  timeline.wait_for(first);
  EXPECT_EQ(timeline.finish(), 100);
  Timeline waits({2, 1});
  waits.wait_for(waits.transfer({60, {}}));
  waits.operation(operation(100), false);
  EXPECT_EQ(waits.finish(), 160);
}

TEST(Timeline, SharesAPort) {
  Timeline timeline({2, 1});
  timeline.transfer({50, {50}});
  timeline.operation(operation(50, 50), false);
  EXPECT_EQ(timeline.finish(), 100) << "both want all of it";
  Timeline apart({2, 1});
  apart.transfer({50, {0, 50}});
  apart.operation(operation(50, 50), false);
  EXPECT_EQ(apart.finish(), 50);
}

TEST(Timeline, QueuesAreAsDeepAsTheyAre) {
  // A transfer behind two operations is issued when there is room for the third.
  Timeline timeline({2, 1});
  timeline.operation(operation(10), true);
  timeline.operation(operation(10), true);
  timeline.operation(operation(10), true);  // waits for the first
  timeline.wait_for(timeline.transfer({5, {}}));
  timeline.wait_for_operations(0);
  timeline.transfer({5, {}});
  EXPECT_EQ(timeline.finish(), 35);
}

// Nobody is faster than the transfers and than any port, and where nothing is hidden, than the work of the pipelines.
TEST(Timeline, IsNoShorterThanItsParts) {
  std::mt19937 random(4);
  for (int round = 0; round < 400; ++round) {
    const bool hides = round % 2 == 1;
    const TransferCost reading = {static_cast<double>(random() % 20), {}};
    Timeline timeline({2, 1 + static_cast<int32_t>(random() % 4), {reading, reading}});
    double pipelines = 0, transfers = 0, serial = 0;
    std::array<double, kMostPorts> ports = {};
    for (int i = 0; i < 20; ++i) {
      std::array<double, kMostPorts> uses = {};
      for (double& use : uses) use = random() % 100;
      for (size_t p = 0; p < kMostPorts; ++p) ports[p] += uses[p];
      const double most = *std::max_element(uses.begin(), uses.end());
      serial += reading.cycles;
      if (random() % 2 == 0) {
        OperationCost cost = {static_cast<double>(random() % 100), uses, 0, 0};
        if (hides) cost.first_fetch = random() % 50, cost.drain = random() % 100;
        cost.start = random() % 10;
        timeline.operation(cost, !hides || random() % 2 == 0);
        if (!hides) pipelines += cost.alone();
        serial += cost.alone() + cost.first_fetch;
      } else {
        const double cycles = most + random() % 20;
        timeline.transfer({cycles, uses});
        transfers += cycles;
        serial += cycles;
      }
    }
    const double time = timeline.finish();
    EXPECT_GE(time, pipelines - 1e-6);
    EXPECT_GE(time, transfers - 1e-6);
    for (const double port : ports) EXPECT_GE(time, port - 1e-6);
    EXPECT_LE(time, serial + 1e-6);
  }
}

// A copy goes on by itself; two that go on alike end with the same time between them, whatever follows.
TEST(Timeline, CopiesGoOnAlikeUntilSomethingDiffers) {
  std::mt19937 random(11);
  int alike = 0;
  for (int round = 0; round < 200; ++round) {
    Timeline one({2, 2}), other({2, 2});
    other.operation(operation(17), false);  // ahead by 17, with nothing left of it
    other.wait_for_operations(0);
    const auto follow = [&](int commands) {
      for (int i = 0; i < commands; ++i) {
        const double cycles = 1 + random() % 50, port = random() % 50;
        const bool is_transfer = random() % 3 == 0;
        for (Timeline* timeline : {&one, &other}) {
          if (is_transfer)
            timeline->transfer({std::max(cycles, port), {port}});
          else
            timeline->operation(operation(cycles, port, 3, 2), true);
        }
      }
    };
    follow(5);
    Timeline copy = one;
    EXPECT_TRUE(copy.goes_on_as(one));
    copy.transfer({40, {40}});
    EXPECT_FALSE(copy.goes_on_as(one));
    if (!one.goes_on_as(other)) continue;
    ++alike;
    const double apart = other.now() - one.now();
    follow(8);
    EXPECT_NEAR(other.finish() - one.finish(), apart, 1e-6);
  }
  EXPECT_GT(alike, 100);
}

}  // namespace
}  // namespace intarsia::npu
