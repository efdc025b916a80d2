// Budgets and slices for a draft of a few operations, beside plans made without the search.
#include "intarsia/npu/constant_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace intarsia::npu {
namespace {

struct Piece {
  double cycles = 0;
  int64_t bytes = 0, live = 0;
};

// Each piece in 1, 2 or 4 slices, which share its work and its constants.
class Draft final : public ConstantDraft {
 public:
  explicit Draft(std::vector<Piece> pieces) : pieces_(std::move(pieces)), cut_(pieces_.size(), 1) {}

  std::vector<PrefetchUnit> prefetch_units() override {
    std::vector<PrefetchUnit> units;
    for (size_t p = 0; p < pieces_.size(); ++p) {
      const std::vector<PrefetchUnit> more = units_of(p, cut_[p]);
      units.insert(units.end(), more.begin(), more.end());
    }
    return units;
  }
  double constants_growth() const override {
    double slices = 0;
    for (const size_t cut : cut_) slices += static_cast<double>(cut - 1);
    return 1 + slices * slice_costs_;
  }
  double constants_growth(size_t piece, size_t slices) const override {
    return constants_growth() +
           (static_cast<double>(slices) - static_cast<double>(cut_[piece])) * slice_costs_;
  }
  SlicedPiece sliced(size_t piece, int32_t count) override {
    ++tried_;
    return {units_of(piece, slices_for(piece, count)), false};
  }
  size_t pieces() const override { return pieces_.size(); }
  bool can_slice(size_t piece) const override { return pieces_[piece].bytes >= 2000; }
  size_t slices(size_t piece) const override { return cut_[piece]; }
  size_t slices_for(size_t piece, int32_t count) override {
    if (!can_slice(piece)) return 1;
    return count < 3 ? static_cast<size_t>(count) : 4;
  }
  void slice(size_t piece, int32_t count) override { cut_[piece] = slices_for(piece, count); }
  void slice_all(int32_t count) override {
    for (size_t p = 0; p < pieces_.size(); ++p) slice(p, count);
  }
  std::shared_ptr<const void> save() const override {
    return std::make_shared<const std::vector<size_t>>(cut_);
  }
  void restore(const std::shared_ptr<const void>& saved) override {
    cut_ = *std::static_pointer_cast<const std::vector<size_t>>(saved);
  }

  const std::vector<size_t>& cut() const { return cut_; }
  double slice_costs_ = 0.001;
  int tried_ = 0;  // pieces in other numbers of slices

 private:
  std::vector<PrefetchUnit> units_of(size_t p, size_t count) const {
    PrefetchUnit unit;
    const auto share = static_cast<double>(count);
    unit.fetched.pipeline = pieces_[p].cycles / share;
    unit.direct.pipeline = 3 * pieces_[p].cycles / share;
    unit.bytes = pieces_[p].bytes / static_cast<int64_t>(count);
    unit.transfer.cycles = static_cast<double>(unit.bytes) / 8;
    unit.live_bytes = pieces_[p].live;
    unit.operation = static_cast<int32_t>(p);
    return std::vector<PrefetchUnit>(count, unit);
  }

  std::vector<Piece> pieces_;
  std::vector<size_t> cut_;
};

std::vector<Piece> random_pieces(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Piece> pieces(3 + random() % 5);
  for (Piece& piece : pieces)
    piece = {1000.0 + random() % 4000, 500 + static_cast<int64_t>(random() % 30000),
             1000 + static_cast<int64_t>(random() % 20000)};
  return pieces;
}

constexpr int64_t kBudgets[] = {21000, 30000, 45000};

double score(const PrefetchPlan& plan, const ConstantSearch& search) {
  const auto least = static_cast<double>(search.least_bytes);
  const double memory = std::max(static_cast<double>(plan.peak_bytes), least) / least;
  return plan.cycles * std::pow(memory, 1 / search.memory_per_time);
}

TEST(ConstantPlan, IsNoWorseThanWhatItBeginsWith) {
  const ConstantSearch search = {21000, 2, 2};
  int sliced = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Draft draft(random_pieces(seed)), other(random_pieces(seed));
    PrefetchWindows windows({});
    const ConstantPlan found = plan_constants(draft, windows, kBudgets, search);
    EXPECT_NE(std::find(std::begin(kBudgets), std::end(kBudgets), found.budget),
              std::end(kBudgets));
    // The draft is as the plan says.
    EXPECT_EQ(
        place_prefetch({}, draft.prefetch_units(), found.prefetch.fetched, found.budget).cycles,
        found.prefetch.cycles);
    EXPECT_LE(found.prefetch.cycles,
              plan_prefetch({}, draft.prefetch_units(), found.budget).cycles);
    for (const int64_t budget : kBudgets)
      EXPECT_LE(score(found.prefetch, search),
                score(plan_prefetch({}, other.prefetch_units(), budget), search));
    sliced +=
        std::any_of(draft.cut().begin(), draft.cut().end(), [](size_t cut) { return cut > 1; }) ? 1
                                                                                                : 0;
  }
  EXPECT_GT(sliced, 10);
}

// What is known of other sizes of memory is of use only where it is the same.
TEST(ConstantPlan, IsTheSameBehindOtherBudgets) {
  const ConstantSearch search = {21000, 2, 2};
  for (uint32_t seed = 0; seed < 20; ++seed) {
    PrefetchWindows windows({});
    for (const int64_t budget : {21000, 22000, 24000, 30000, 31000, 45000, 23000}) {
      Draft draft(random_pieces(seed)), other(random_pieces(seed));
      PrefetchWindows fresh({});
      const int64_t budgets[] = {budget};
      const ConstantPlan found = plan_constants(draft, windows, budgets, search),
                         alone = plan_constants(other, fresh, budgets, search);
      EXPECT_EQ(found.prefetch.cycles, alone.prefetch.cycles);
      EXPECT_EQ(found.prefetch.fetched, alone.prefetch.fetched);
      EXPECT_EQ(draft.cut(), other.cut());
    }
  }
}

// A draft of hundreds of pieces: what is measured around each of them helps the whole.
TEST(ConstantPlan, OfALongProgramIsNoWorseThanWhatItBeginsWith) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    std::vector<Piece> pieces;
    while (pieces.size() < 300)
      for (const Piece& piece : random_pieces(1000 * seed + static_cast<uint32_t>(pieces.size())))
        pieces.push_back(piece);
    Draft draft(pieces), whole(pieces);
    PrefetchWindows windows({}), others({});
    const ConstantSearch search = {21000, 2, 2};
    const ConstantPlan found = plan_constants(draft, windows, kBudgets, search);
    const ConstantPlan uncut = plan_constants(whole, others, kBudgets, {21000, 2, 0});
    EXPECT_LT(score(found.prefetch, search), score(uncut.prefetch, search));
    EXPECT_EQ(draft.prefetch_units().size(), found.prefetch.fetched.size());
  }
}

std::vector<Piece> long_program() {
  std::vector<Piece> pieces;
  while (pieces.size() < 120)
    for (const Piece& piece : random_pieces(static_cast<uint32_t>(pieces.size())))
      pieces.push_back(piece);
  return pieces;
}

// Pieces are cut one by one within the size of memory that is the best where all are cut alike.
TEST(ConstantPlan, CutsPiecesOfALongProgramForOneSizeOfMemory) {
  const ConstantSearch search = {21000, 2, 2};
  PrefetchWindows windows({}), others({});
  Draft draft(long_program()), alone(long_program());
  draft.slice_costs_ = alone.slice_costs_ = 0.01;  // to cut all of them is not worth it
  const int64_t sizes[] = {21000, 22000, 23000, 24000};
  const ConstantPlan found = plan_constants(draft, windows, sizes, search);
  const int64_t budgets[] = {found.budget};
  const ConstantPlan same = plan_constants(alone, others, budgets, search);
  EXPECT_EQ(found.prefetch.cycles, same.prefetch.cycles);
  EXPECT_EQ(draft.cut(), alone.cut());
  EXPECT_GT(draft.tried_, 0);
  EXPECT_EQ(draft.tried_, alone.tried_);
}

TEST(ConstantPlan, IsLookedAtCloserByWhoAsksForIt) {
  int closer = 0;
  for (const std::vector<Piece>& pieces : {long_program(), random_pieces(3)}) {
    ConstantSearch search = {21000, 2, 2};
    PrefetchWindows windows({}), others({});
    Draft draft(pieces), later(pieces);
    const ConstantPlan found = plan_constants(draft, windows, kBudgets, search);
    search.looks_closer = false;
    ConstantPlan plan = plan_constants(later, others, kBudgets, search);
    closer += draft.tried_ > later.tried_ ? 1 : 0;
    plan = looked_at_closer(later, others, std::move(plan), search);
    EXPECT_EQ(plan.prefetch.cycles, found.prefetch.cycles);
    EXPECT_EQ(plan.prefetch.fetched, found.prefetch.fetched);
    EXPECT_EQ(later.cut(), draft.cut());
  }
  EXPECT_GT(closer, 0);
}

// Of a plan that there is already nothing that is far behind is cut, and what is better is found as without it.
TEST(ConstantPlan, LeavesOutWhatIsBehindAnother) {
  int left_out = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    ConstantSearch search = {21000, 2, 2};
    PrefetchWindows windows({});
    Draft alone(random_pieces(seed)), worse(random_pieces(seed)), better(random_pieces(seed));
    const ConstantPlan found = plan_constants(alone, windows, kBudgets, search);
    EXPECT_EQ(plan_score(found.prefetch, search), score(found.prefetch, search));
    search.score_to_beat = 100 * score(found.prefetch, search);
    const ConstantPlan same = plan_constants(worse, windows, kBudgets, search);
    EXPECT_EQ(same.prefetch.cycles, found.prefetch.cycles);
    EXPECT_EQ(worse.cut(), alone.cut());
    search.score_to_beat = score(found.prefetch, search) / 2;
    plan_constants(better, windows, kBudgets, search);
    EXPECT_EQ(std::count(better.cut().begin(), better.cut().end(), size_t{1}),
              std::ssize(better.cut()));
    left_out += alone.cut() != better.cut() ? 1 : 0;
  }
  EXPECT_GT(left_out, 2);
}

// Of a single piece, and a budget, all ways there are.
TEST(ConstantPlan, OfOnePieceIsTheBest) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Piece piece = random_pieces(seed).front();
    const ConstantSearch search = {21000, 2, 2};
    const int64_t budgets[] = {20000 + 400 * static_cast<int64_t>(seed)};
    Draft draft({{500, 100, 4000}, piece});
    PrefetchWindows windows({});
    const ConstantPlan found = plan_constants(draft, windows, budgets, search);
    for (const size_t cut : {1, 2, 4}) {
      Draft other({{500, 100, 4000}, piece});
      other.slice(1, static_cast<int32_t>(cut));
      const double cycles = plan_prefetch({}, other.prefetch_units(), budgets[0]).cycles;
      EXPECT_LE(found.prefetch.cycles * draft.constants_growth(),
                cycles * other.constants_growth() * (1 + 1e-12));
    }
  }
}

TEST(ConstantPlan, CutsNothingThatCostsMoreThanItGains) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Draft dear(random_pieces(seed)), none(random_pieces(seed));
    dear.slice_costs_ = 10;
    PrefetchWindows windows({});
    plan_constants(dear, windows, kBudgets, {21000, 2, 2});
    plan_constants(none, windows, kBudgets, {21000, 2, 0});
    for (const size_t cut : dear.cut()) EXPECT_EQ(cut, 1u);
    for (const size_t cut : none.cut()) EXPECT_EQ(cut, 1u);
  }
}

// Memory that costs nothing is taken, memory that is worth all time is not.
TEST(ConstantPlan, WeighsMemoryAgainstTime) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Draft fast(random_pieces(seed)), small(random_pieces(seed));
    PrefetchWindows windows({});
    const ConstantPlan quick = plan_constants(fast, windows, kBudgets, {21000, 1e9, 2});
    const ConstantPlan little = plan_constants(small, windows, kBudgets, {21000, 1e-3, 2});
    EXPECT_LE(quick.prefetch.cycles, little.prefetch.cycles);
    EXPECT_LE(little.prefetch.peak_bytes, 21000);
  }
}

}  // namespace
}  // namespace intarsia::npu
