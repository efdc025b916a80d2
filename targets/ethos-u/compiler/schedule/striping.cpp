#include "schedule/striping.h"

#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "intarsia/npu/peak_search.h"
#include "schedule/cascade.h"

namespace intarsia::targets::ethos_u {
namespace {

// Cascades that are looked at have as many stripes at most. What bounds the work of the search.
constexpr size_t kMostStripes = 100;
// Preferences, and no facts of the hardware. Where no limit on memory is given, all operations may take half as
// long again; four percent of time are worth one percent of memory.
constexpr double kMostCascadeCost = 1.5;
constexpr double kCascadeTimeWeight = 0.25;

class Striping final : public npu::CascadeDraft {
 public:
  explicit Striping(ScheduleDraft& draft) : draft_(draft), rolls_(rolls_into_next(draft.program)) {}

  std::vector<Unit> units() const override {
    const std::vector<int64_t> live = draft_.live_bytes();
    std::vector<Unit> result;
    for (size_t i = 0; i < live.size(); ++i) result.push_back({draft_.units[i].operation, live[i]});
    return result;
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
    return draft_.program.operations[static_cast<size_t>(operation)].ofm.extent.height;
  }
  bool feeds_next(int32_t operation) const override {
    return rolls_[static_cast<size_t>(operation)];
  }

  bool take_turns(int32_t first, int32_t last, int64_t rows) override {
    std::optional<Cascade> cascade =
        plan_cascade(draft_.program, first, last, static_cast<int32_t>(rows), kMostStripes);
    if (!cascade) return false;
    for (const auto& [id, kept] : cascade->rolling) set_rolling(id, kept);
    std::vector<ethos_u::Unit> units = striped(*cascade, first, last);
    std::swap(units, draft_.units);
    before_.push_back({std::move(units), std::move(cascade->rolling)});
    return true;
  }
  void undo() override {
    for (const auto& [id, kept] : before_.back().rolling) set_rolling(id, 0);
    draft_.units = std::move(before_.back().units);
    before_.pop_back();
  }

 private:
  void set_rolling(int32_t id, int32_t rows) {
    TensorPlace& place = draft_.places.at(static_cast<size_t>(id));
    const NpuTensor& t = draft_.tensor(id);
    Extent kept = t.extent;
    if (rows > 0) kept.height = rows;
    place.rolling_rows = rows > 0 && rows < t.extent.height ? rows : 0;
    draft_.schedule.storages[static_cast<size_t>(place.storage)].bytes =
        stored_bytes(kept, t.type, place.layout);
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
  };
  ScheduleDraft& draft_;
  std::vector<bool> rolls_;
  std::vector<Before> before_;  // turns that can be taken back, the last one last
};

}  // namespace

void stripe_operations(ScheduleDraft& draft, int64_t wanted) {
  Striping striping(draft);
  const double most_cycles = draft.options.sram_limit ? std::numeric_limits<double>::infinity()
                                                      : striping.cycles() * kMostCascadeCost;
  npu::lower_peak(striping, {wanted, most_cycles, kCascadeTimeWeight});
}

}  // namespace intarsia::targets::ethos_u
