// Cascades of random shape, run on rings of rows: every row is where its reader looks for it, and with one slot less in any
// ring some row is not.
#include "intarsia/npu/cascade_order.h"

#include <gtest/gtest.h>

#include <random>

namespace intarsia::npu {
namespace {

// The rows that a ring holds, by place; -1: none yet.
struct Ring {
  int64_t slots = 1, slot_rows = 1;
  std::vector<int64_t> held;

  Ring(int64_t its_slots, int64_t its_slot_rows)
      : slots(its_slots),
        slot_rows(its_slot_rows),
        held(static_cast<size_t>(its_slots * its_slot_rows), -1) {}
  int64_t& place(int64_t row) {
    return held[static_cast<size_t>(row / slot_rows % slots * slot_rows + row % slot_rows)];
  }
  bool has(int64_t row) { return place(row) == row; }
};

// Whether everybody finds what it reads, and finds it alone.
bool runs(const CascadeProblem& problem, const CascadeOrder& order,
          const std::vector<int64_t>& slots) {
  std::vector<Ring> rings;
  for (size_t m = 0; m < problem.maps.size(); ++m)
    rings.emplace_back(slots[m], problem.maps[m].slot_rows);
  std::vector<bool> is_made(problem.maps.size(), false);
  for (const CascadeProblem::Operation& operation : problem.operations)
    is_made[operation.output] = true;
  for (const CascadeStep& step : order.steps) {
    for (const CascadeStep::Load& load : step.loads) {
      const CascadeProblem::Map& map = problem.maps[load.map];
      for (int64_t row = load.slot * map.slot_rows;
           row < std::min((load.slot + 1) * map.slot_rows, map.rows); ++row)
        rings[load.map].place(row) = row;
    }
    const CascadeProblem::Operation& operation = problem.operations[step.operation];
    for (const CascadeProblem::Input& input : operation.inputs) {
      const CascadeProblem::Map& map = problem.maps[input.map];
      if (!map.loads && !is_made[input.map]) continue;
      const RowRange rows = clipped(rows_of_window(input.window, step.rows), map.rows);
      if (rows.count() <= 0) continue;
      for (int64_t row = rows.first / map.slot_rows * map.slot_rows; row < rows.end; ++row)
        if (!rings[input.map].has(row)) return false;
    }
    for (int64_t row = step.rows.first; row < step.rows.end; ++row)
      rings[operation.output].place(row) = row;
    for (int64_t row = step.rows.first; row < step.rows.end; ++row)
      if (!rings[operation.output].has(row)) return false;
  }
  return true;
}

void expect_tight(const CascadeProblem& problem, const CascadeOrder& order) {
  EXPECT_TRUE(runs(problem, order, order.ring_slots));
  for (size_t m = 0; m < problem.maps.size(); ++m) {
    std::vector<int64_t> fewer = order.ring_slots;
    if (--fewer[m] > 0) {
      EXPECT_FALSE(runs(problem, order, fewer)) << "map " << m;
    }
  }
}

// Every row is made at most once, in order; those of maps that leave, or that nobody reads, are made.
void expect_once(const CascadeProblem& problem, const CascadeOrder& order) {
  std::vector<int64_t> made(problem.maps.size(), 0), end(problem.maps.size(), 0);
  std::vector<bool> is_read(problem.maps.size(), false);
  for (const CascadeProblem::Operation& operation : problem.operations)
    for (const CascadeProblem::Input& input : operation.inputs) is_read[input.map] = true;
  for (const CascadeStep& step : order.steps) {
    const size_t map = problem.operations[step.operation].output;
    EXPECT_GE(step.rows.first, end[map]);
    EXPECT_GT(step.rows.count(), 0);
    end[map] = step.rows.end;
    made[map] += step.rows.count();
  }
  for (const CascadeProblem::Operation& operation : problem.operations) {
    const CascadeProblem::Map& map = problem.maps[operation.output];
    EXPECT_LE(end[operation.output], map.rows);
    if (map.leaves || !is_read[operation.output]) {
      EXPECT_EQ(made[operation.output], map.rows);
    }
  }
}

RowWindow random_window(std::mt19937& random) {
  RowWindow window;
  window.kernel = 1 + random() % 4;
  window.stride = 1 + random() % 2;
  window.dilation = 1 + random() % 2;
  window.pad = random() % static_cast<uint32_t>(window.extent());
  return window;
}

int64_t rows_behind(const RowWindow& window, int64_t rows) {
  return std::max<int64_t>(1, (rows + window.pad - window.extent()) / window.stride + 1);
}

// Each operation reads what the one before makes, and nobody else does; the last one goes by this many rows.
CascadeProblem random_line(std::mt19937& random) {
  CascadeProblem problem;
  problem.maps.push_back({static_cast<int64_t>(20 + random() % 40), 1, random() % 2 == 0,
                          static_cast<int64_t>(random() % 2), false});
  const size_t operations = 1 + random() % 4;
  for (size_t o = 0; o < operations; ++o) {
    const RowWindow window = random_window(random);
    problem.maps.push_back({rows_behind(window, problem.maps.back().rows), 1, false, 0, false});
    problem.operations.push_back({{{o, window}}, o + 1, 0});
  }
  problem.operations.back().piece_rows = 1 + static_cast<int64_t>(random() % 9);
  return problem;
}

// Operations that read anything made before, by pieces of slots.
CascadeProblem random_net(std::mt19937& random) {
  CascadeProblem problem;
  const int64_t rows = 24 + static_cast<int64_t>(random() % 40);
  problem.maps.push_back({rows, 8, true, static_cast<int64_t>(random() % 2), false});
  const size_t operations = 1 + random() % 5;
  for (size_t o = 0; o < operations; ++o) {
    CascadeProblem::Operation operation;
    const size_t inputs = 1 + random() % 2;
    for (size_t i = 0; i < inputs; ++i) {
      const auto pad = static_cast<int64_t>(random() % 3);
      operation.inputs.push_back({random() % problem.maps.size(), {1 + 2 * pad, 1, 1, pad}});
    }
    operation.output = problem.maps.size();
    const int64_t slot = random() % 2 == 0 ? 8 : 16;
    operation.piece_rows = random() % 2 == 0 ? slot : 8;
    problem.operations.push_back(operation);
    problem.maps.push_back({rows, slot, false, 0, random() % 4 == 0});
  }
  return problem;
}

TEST(CascadeOrder, OfLinesHasTheSmallestRings) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const CascadeProblem problem = random_line(random);
    const std::optional<CascadeOrder> order = order_cascade(problem, 10000);
    ASSERT_TRUE(order);
    expect_once(problem, *order);
    expect_tight(problem, *order);
  }
}

TEST(CascadeOrder, OfNetsHasTheSmallestRings) {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    const CascadeProblem problem = random_net(random);
    const std::optional<CascadeOrder> order = order_cascade(problem, 10000);
    ASSERT_TRUE(order);
    expect_once(problem, *order);
    expect_tight(problem, *order);
  }
}

// 3 x 3 with padding behind one another: a stripe of 4 rows needs 5 rows of the map before it, and two of these are
// needed again.
TEST(CascadeOrder, OfTwoFiltersByHand) {
  const RowWindow window = {3, 1, 1, 1};
  CascadeProblem problem;
  problem.maps = {{12, 1, false, 0, false}, {12, 1, false, 0, false}, {12, 1, false, 0, false}};
  problem.operations = {{{{0, window}}, 1, 0}, {{{1, window}}, 2, 4}};
  const std::optional<CascadeOrder> order = order_cascade(problem, 100);
  ASSERT_TRUE(order);
  const RowRange expected[] = {{0, 5}, {0, 4}, {5, 9}, {4, 8}, {9, 12}, {8, 12}};
  ASSERT_EQ(order->steps.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(order->steps[i].operation, i % 2);
    EXPECT_EQ(order->steps[i].rows, expected[i]) << i;
  }
  EXPECT_EQ(order->ring_slots[1], 6);
}

// A stride of 4 over a window of 2: the rows between are not made.
TEST(CascadeOrder, PassesOverWhatNobodyReads) {
  CascadeProblem problem;
  problem.maps = {{16, 1, false, 0, false}, {16, 1, false, 0, false}, {4, 1, false, 0, false}};
  problem.operations = {{{{0, {}}}, 1, 0}, {{{1, {2, 4}}}, 2, 1}};
  std::optional<CascadeOrder> order = order_cascade(problem, 100);
  ASSERT_TRUE(order);
  ASSERT_EQ(order->steps.size(), 8u);
  EXPECT_EQ(order->steps[2].rows, (RowRange{4, 6}));
  EXPECT_EQ(order->ring_slots[1], 2);
  // Where the map leaves, they are.
  problem.maps[1].leaves = true;
  order = order_cascade(problem, 100);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->steps[2].rows, (RowRange{2, 6}));
}

TEST(CascadeOrder, EndsWhereThereAreTooManySteps) {
  CascadeProblem problem;
  problem.maps = {{16, 1, false, 0, false}, {16, 1, false, 0, false}};
  problem.operations = {{{{0, {}}}, 1, 2}};
  EXPECT_TRUE(order_cascade(problem, 8));
  EXPECT_FALSE(order_cascade(problem, 7));
}

// Two outputs that nobody reads keep pace, so that the ring of what both read stays small.
TEST(CascadeOrder, OutputsKeepPace) {
  CascadeProblem problem;
  problem.maps = {{32, 1, false, 0, false},
                  {32, 1, false, 0, false},
                  {32, 1, false, 0, false},
                  {32, 1, false, 0, false}};
  problem.operations = {{{{0, {}}}, 1, 4}, {{{1, {}}}, 2, 4}, {{{1, {}}}, 3, 8}};
  const std::optional<CascadeOrder> order = order_cascade(problem, 100);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->ring_slots[1], 8);
  expect_tight(problem, *order);
}

}  // namespace
}  // namespace intarsia::npu
