#include "schedule/striping.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "intarsia/npu/peak_search.h"
#include "schedule/cascade.h"

namespace intarsia::targets::ethos_u {
namespace {

// Cascades that are looked at have as many stripes at most. What bounds the work of the search.
constexpr size_t kMostStripes = 100;
class Striping final : public npu::CascadeDraft {
 public:
  Striping(ScheduleDraft& draft, bool keeps_constants)
      : draft_(draft),
        keeps_constants_(keeps_constants),
        rolls_(rolls_into_next(draft.program)),
        kept_(draft.program.operations.size(), 0) {
    for (size_t id = 0; id < draft.places.size(); ++id)
      tensors_of_[draft.places[id].storage].push_back(static_cast<int32_t>(id));
  }

  std::vector<Unit> units() const override {
    const std::vector<int64_t> live = draft_.live_bytes();
    std::vector<Unit> result;
    for (size_t i = 0; i < live.size(); ++i) {
      const int32_t operation = draft_.units[i].operation;
      result.push_back({operation, live[i] + kept_[static_cast<size_t>(operation)]});
    }
    return result;
  }
  int64_t peak() const {
    int64_t most = 0;
    for (const Unit& unit : units()) most = std::max(most, unit.live_bytes);
    return most;
  }
  double cycles() const override {
    double total = 0;
    for (const ethos_u::Unit& unit : draft_.units) total += unit.fetched.alone();
    return total;
  }
  int32_t operations() const override {
    return static_cast<int32_t>(draft_.program.operations.size());
  }
  int64_t rows(int32_t operation) const override {
    const Operation& of = draft_.program.operations[static_cast<size_t>(operation)];
    return of.ofm.extent.*stripe_axis(of);
  }
  bool feeds_next(int32_t operation) const override {
    return rolls_[static_cast<size_t>(operation)];
  }

  bool take_turns(int32_t first, int32_t last, int64_t rows) override {
    std::optional<Cascade> cascade =
        plan_cascade(draft_.program, first, last, static_cast<int32_t>(rows), kMostStripes);
    if (!cascade || !keep_in_place(*cascade)) return false;
    for (const auto& [id, kept] : cascade->rolling) set_rolling(id, kept);
    std::vector<ethos_u::Unit> units = striped(*cascade, first, last);
    std::swap(units, draft_.units);
    set_kept(first, last, keeps_constants_ ? constants_of(units, first, last) : 0);
    before_.push_back({std::move(units), std::move(cascade->rolling), first, last});
    return true;
  }
  void undo() override {
    for (const auto& [id, kept] : before_.back().rolling) set_rolling(id, 0);
    set_kept(before_.back().first, before_.back().last, 0);
    draft_.units = std::move(before_.back().units);
    before_.pop_back();
  }

 private:
  // An element-wise result in the place of what it is made from comes row by row with that: both have the rows of the one
  // that has more. False where one of them has all rows.
  bool keep_in_place(Cascade& cascade) const {
    for (auto& [id, rows] : cascade.rolling)
      for (const int32_t other : tensors_of_.at(draft_.places[static_cast<size_t>(id)].storage)) {
        const auto at = cascade.rolling.find(other);
        if (at == cascade.rolling.end()) return false;
        rows = at->second = std::max(rows, at->second);
      }
    return true;
  }

  void set_rolling(int32_t id, int32_t rows) {
    TensorPlace& place = draft_.places.at(static_cast<size_t>(id));
    const NpuTensor& t = draft_.tensor(id);
    const StripeAxis axis = stripe_axis(t);
    Extent kept = t.extent;
    if (rows > 0) kept.*axis = rows;
    place.rolling_rows = rows > 0 && rows < t.extent.*axis ? rows : 0;
    draft_.schedule.storages[static_cast<size_t>(place.storage)].bytes =
        stored_bytes(kept, t.type, place.layout);
  }

  // What takes turns needs its constants until the last turn.
  static int64_t constants_of(const std::vector<ethos_u::Unit>& whole, int32_t first,
                              int32_t last) {
    int64_t bytes = 0;
    for (const ethos_u::Unit& unit : whole)
      if (unit.operation >= first && unit.operation <= last)
        bytes += aligned_to_stream(unit.estimated_bytes);
    return bytes;
  }
  void set_kept(int32_t first, int32_t last, int64_t bytes) {
    for (int32_t i = first; i <= last; ++i) kept_[static_cast<size_t>(i)] = bytes;
  }

  // The units with those of operations first .. last as stripes, whose maps roll already.
  std::vector<ethos_u::Unit> striped(const Cascade& cascade, int32_t first, int32_t last) {
    std::vector<ethos_u::Unit> units;
    bool placed = false;
    for (const ethos_u::Unit& unit : draft_.units) {
      if (unit.operation < first || unit.operation > last) {
        units.push_back(unit);
        continue;
      }
      if (std::exchange(placed, true)) continue;
      std::map<int32_t, size_t> owners;
      for (const Stripe& stripe : cascade.stripes) {
        const auto owner = owners.find(stripe.operation);
        const ethos_u::Unit* like = owner == owners.end() ? nullptr : &units[owner->second];
        ethos_u::Unit made = draft_.maker.make_stripe(stripe.operation, stripe.rows, like);
        owners.try_emplace(stripe.operation, units.size());
        units.push_back(std::move(made));
      }
    }
    return units;
  }

  struct Before {
    std::vector<ethos_u::Unit> units;
    std::map<int32_t, int32_t> rolling;  // since then
    int32_t first = 0, last = 0;
  };
  ScheduleDraft& draft_;
  bool keeps_constants_;
  std::vector<bool> rolls_;
  std::map<int32_t, std::vector<int32_t>> tensors_of_;  // by storage
  std::vector<int64_t> kept_;   // by operation: constants that are in fast memory while it runs
  std::vector<Before> before_;  // turns that can be taken back, the last one last
};

}  // namespace

int64_t stripe_operations(ScheduleDraft& draft, const StripingGoal& goal) {
  Striping striping(draft, goal.keeps_constants);
  npu::lower_peak(striping,
                  {goal.wanted, striping.cycles() * goal.most_time_ratio, goal.time_weight});
  return striping.peak();
}

int64_t least_striped_bytes(const ScheduleDraft& draft) {
  const std::vector<bool> rolls = rolls_into_next(draft.program);
  const std::vector<int64_t> live = draft.live_bytes();
  int64_t least = 0;
  for (size_t i = 0; i < live.size(); ++i) {
    const Unit& unit = draft.units[i];
    const auto at = static_cast<size_t>(unit.operation);
    const bool reads_rolling = at > 0 && rolls[at - 1];
    const auto bytes_of = [&](const FeatureMap& map) {
      return aligned_to_stream(
          draft.schedule.storages[static_cast<size_t>(map.span.storage)].bytes);
    };
    int64_t bytes = live[i];
    if (reads_rolling) bytes -= bytes_of(unit.ifm);
    if (rolls[at]) bytes -= bytes_of(unit.ofm);
    if (bytes < live[i] && draft.constants_are_slow())
      bytes = std::min(live[i], bytes + aligned_to_stream(unit.estimated_bytes));
    least = std::max(least, bytes);
  }
  return least;
}

}  // namespace intarsia::targets::ethos_u
