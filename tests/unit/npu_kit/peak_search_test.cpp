// Searching for cascades that lower a peak, on a draft whose memory is known by hand: a line of operations with a feature
// map between neighbours, of which in turns only a part is there.
#include "intarsia/npu/peak_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace intarsia::npu {
namespace {

constexpr int64_t kRows = 64;

// Map i is what operation i reads, map i + 1 what it makes. In turns, a map between two operations of a cascade takes as
// many rows as a stripe has and two more, and each stripe of each operation costs a cycle more.
class Line final : public CascadeDraft {
 public:
  explicit Line(std::vector<int64_t> row_bytes) : row_bytes_(std::move(row_bytes)) {}

  struct Turns {
    int32_t first, last;
    int64_t rows;
  };

  std::vector<Unit> units() const override {
    std::vector<Unit> units;
    for (int32_t o = 0; o < operations(); ++o) {
      int64_t bytes = map_bytes(o) + map_bytes(o + 1);
      // While a cascade runs, what enters, leaves and lies between its operations is there.
      if (const Turns* turns = turns_of(o)) {
        bytes = 0;
        for (int32_t m = turns->first; m <= turns->last + 1; ++m) bytes += map_bytes(m);
      }
      units.push_back({o, bytes});
    }
    return units;
  }
  double cycles() const override {
    double total = 100.0 * operations();
    for (const Turns& turns : turns_)
      total += static_cast<double>((turns.last - turns.first + 1) * (kRows / turns.rows));
    return total;
  }
  int32_t operations() const override { return static_cast<int32_t>(row_bytes_.size()) - 1; }
  int64_t rows(int32_t) const override { return kRows; }
  bool feeds_next(int32_t operation) const override { return operation != barrier_; }
  bool take_turns(int32_t first, int32_t last, int64_t rows) override {
    if (kRows / rows > most_stripes_) return false;
    turns_.push_back({first, last, rows});
    return true;
  }
  void undo() override { turns_.pop_back(); }

  int64_t peak() const {
    int64_t most = 0;
    for (const Unit& unit : units()) most = std::max(most, unit.live_bytes);
    return most;
  }
  const std::vector<Turns>& turns() const { return turns_; }
  int32_t barrier_ = -1;
  int64_t most_stripes_ = kRows;

 private:
  const Turns* turns_of(int32_t operation) const {
    for (const Turns& turns : turns_)
      if (operation >= turns.first && operation <= turns.last) return &turns;
    return nullptr;
  }
  int64_t map_bytes(int32_t map) const {
    int64_t rows = kRows;
    for (const Turns& turns : turns_)
      if (map > turns.first && map <= turns.last) rows = std::min(kRows, turns.rows + 2);
    return rows * row_bytes_[static_cast<size_t>(map)];
  }

  std::vector<int64_t> row_bytes_;
  std::vector<Turns> turns_;
};

constexpr double kAnyTime = std::numeric_limits<double>::infinity();

TEST(PeakSearch, RunsTheOperationsAroundTheLargestMapInTurns) {
  Line line({1, 1, 100, 1, 1});
  lower_peak(line, {.wanted = 0, .most_cycles = kAnyTime});
  ASSERT_FALSE(line.turns().empty());
  EXPECT_LE(line.turns().front().first, 1);
  EXPECT_GE(line.turns().front().last, 2);
  EXPECT_LT(line.peak(), kRows * 101 / 4);
}

TEST(PeakSearch, DoesNothingWhereLittleIsNeeded) {
  Line line({1, 1, 100, 1, 1});
  lower_peak(line, {.wanted = line.peak(), .most_cycles = kAnyTime});
  EXPECT_TRUE(line.turns().empty());
}

TEST(PeakSearch, HasATimeToKeep) {
  Line line({1, 1, 100, 1, 1});
  lower_peak(line, {.wanted = 0, .most_cycles = line.cycles() + 8});
  ASSERT_FALSE(line.turns().empty());
  EXPECT_LE(line.cycles(), 408);
  Line none({1, 1, 100, 1, 1});
  lower_peak(none, {.wanted = 0, .most_cycles = none.cycles()});
  EXPECT_TRUE(none.turns().empty());
}

TEST(PeakSearch, GoesOverNoBarrier) {
  Line line({1, 1, 100, 1, 1});
  line.barrier_ = 1;
  lower_peak(line, {.wanted = 0, .most_cycles = kAnyTime});
  for (const Line::Turns& turns : line.turns())
    EXPECT_TRUE(turns.last <= 1 || turns.first > 1) << turns.first << " to " << turns.last;
}

// Two maps are as large: one cascade alone does not lower the peak, both do.
TEST(PeakSearch, LowersPeaksThatAreAsHigh) {
  Line line({1, 100, 1, 1, 1, 1, 1, 1, 100, 1});
  const int64_t before = line.peak();
  lower_peak(line, {.wanted = 0, .most_cycles = kAnyTime});
  EXPECT_LT(line.peak(), before / 4);
  EXPECT_GE(line.turns().size(), 2u);
  // Where the second has no way to become smaller, the first is taken back.
  Line half({1, 100, 1, 1, 1, 1, 1, 1, 100, 1});
  half.barrier_ = 7;
  lower_peak(half, {.wanted = 0, .most_cycles = kAnyTime});
  EXPECT_TRUE(half.turns().empty());
}

// While a later map is larger than what a short cascade leaves, a longer one is worth no more. Once that map is gone, it is.
TEST(PeakSearch, ReplacesACascadeThatWasAsGoodAsALongerOne) {
  Line line({12, 30, 30, 12, 40, 9});
  lower_peak(line, {.wanted = 0, .most_cycles = kAnyTime, .longest_cascade = 3});
  EXPECT_LT(line.peak(), kRows * 36);
  EXPECT_TRUE(std::any_of(line.turns().begin(), line.turns().end(), [](const Line::Turns& turns) {
    return turns.first == 0 && turns.last == 2;
  }));
}

// Never more memory than before, never an operation in two cascades, and never more time than allowed.
TEST(PeakSearch, MakesNothingWorse) {
  std::mt19937 random(11);
  int lowered = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> row_bytes(2 + random() % 9);
    for (int64_t& bytes : row_bytes) bytes = 1 + static_cast<int64_t>(random() % 60);
    Line line(row_bytes);
    line.most_stripes_ = 16;
    const int64_t before = line.peak();
    const double most = line.cycles() * (1 + (random() % 40) / 100.0);
    const int64_t wanted = static_cast<int64_t>(random() % static_cast<uint32_t>(before));
    lower_peak(line, {.wanted = wanted, .most_cycles = most});
    EXPECT_LE(line.peak(), before);
    EXPECT_LE(line.cycles(), most);
    EXPECT_EQ(line.peak() < before, !line.turns().empty());
    lowered += line.peak() < before ? 1 : 0;
    std::vector<int> uses(row_bytes.size(), 0);
    for (const Line::Turns& turns : line.turns())
      for (int32_t o = turns.first; o <= turns.last; ++o)
        EXPECT_EQ(++uses[static_cast<size_t>(o)], 1);
  }
  EXPECT_GT(lowered, 50);
}

}  // namespace
}  // namespace intarsia::npu
