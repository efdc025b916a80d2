#include "slice_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>

namespace intarsia::npu {
namespace {

// Pieces on either side of one that is cut: what they take is measured with it, for fetching begins while those before it run
// and holds up those behind it; and of the nearest the constants may be fetched otherwise for it.
constexpr size_t kMeasured = 64, kFreeAtFirst = 1, kFreeAtLast = 6;

// 128 bits of all that is added, in its order: multiplication carries what differs up, rotation brings it down again.
class Fingerprint {
 public:
  Fingerprint() = default;
  explicit Fingerprint(const KnownSlices::Key& begin) : state_(begin) {}

  void add(uint64_t word) {
    state_[0] = std::rotl((state_[0] ^ word) * 0xd6e8feb86659fd93, 29);
    state_[1] = std::rotl((state_[1] ^ word) * 0xa0761d6478bd642f, 29);
  }
  void add(const PrefetchUnit& unit) {
    for (const OperationCost* cost : {&unit.direct, &unit.fetched}) {
      for (const double number : {cost->pipeline, cost->first_fetch, cost->drain, cost->start})
        add(std::bit_cast<uint64_t>(number));
      add(cost->ports);
    }
    add(unit.transfer);
    add(static_cast<uint64_t>(unit.bytes));
    add(static_cast<uint64_t>(unit.live_bytes));
    add(pair_of(unit.owner, unit.last_user));
    add(pair_of(unit.table_earliest, unit.operation));
    add((unit.waits ? 1 : 0) | (unit.has_table ? 2 : 0));
    if (unit.has_table) add(unit.table);
  }
  KnownSlices::Key value() const { return state_; }

 private:
  void add(const std::array<double, kMostPorts>& ports) {
    for (const double port : ports) add(std::bit_cast<uint64_t>(port));
  }
  void add(const TransferCost& cost) {
    add(std::bit_cast<uint64_t>(cost.cycles));
    add(cost.ports);
  }
  static uint64_t pair_of(int32_t one, int32_t other) {
    return uint64_t{static_cast<uint32_t>(one)} << 32 | static_cast<uint32_t>(other);
  }

  KnownSlices::Key state_ = {0x9e3779b97f4a7c15, 0x2545f4914f6cdd1d};
};

// The stretch with other units in the place of those from `first` to `end`.
std::vector<PrefetchUnit> with_others(const std::vector<PrefetchUnit>& units, size_t first,
                                      size_t end, const SlicedPiece& others) {
  std::vector<PrefetchUnit> result(units.begin(), units.begin() + static_cast<ptrdiff_t>(first));
  result.insert(result.end(), others.units.begin(), others.units.end());
  result.insert(result.end(), units.begin() + static_cast<ptrdiff_t>(end), units.end());
  const auto begin = static_cast<int32_t>(first), old_end = static_cast<int32_t>(end);
  const int32_t move = static_cast<int32_t>(others.units.size()) - (old_end - begin);
  const auto moved = [&](int32_t unit) {
    return unit >= old_end ? unit + move : std::min(unit, begin);
  };
  for (size_t i = 0; i < result.size(); ++i) {
    PrefetchUnit& unit = result[i];
    if (i >= first && i < first + others.units.size()) {
      unit.live_bytes = units[first].live_bytes;
      if (i > first) continue;
      unit.has_table = units[first].has_table;
      unit.table = units[first].table;
      unit.table_earliest = units[first].table_earliest;
      continue;
    }
    if (unit.owner >= 0) unit.owner = moved(unit.owner);
    if (unit.last_user >= begin) unit.last_user = moved(unit.last_user);
    if (unit.table_earliest >= begin) unit.table_earliest = moved(unit.table_earliest);
  }
  if (const size_t next = first + others.units.size(); next < result.size())
    result[next].waits = others.next_waits;
  return result;
}

}  // namespace

PrefetchPlan SliceSearch::of_whole() {
  read_draft();
  return prefetch_.plan(units_, budget_);
}

PrefetchPlan SliceSearch::all_alike(PrefetchPlan whole) {
  plan_ = std::move(whole);
  for (const int32_t count : {2, 4}) try_all(count);
  return std::move(plan_);
}

PrefetchPlan SliceSearch::each_once(PrefetchPlan plan) {
  plan_ = std::move(plan);
  free_ = kFreeAtFirst;
  open_.assign(draft_.pieces(), true);
  try_round();
  return std::move(plan_);
}

PrefetchPlan SliceSearch::improved(PrefetchPlan plan, int rounds) {
  read_draft();
  plan_ = std::move(plan);
  free_ = kFreeAtLast;
  open_.assign(draft_.pieces(), true);
  for (int round = 0; round < rounds; ++round)
    if (!try_round()) break;
  return std::move(plan_);
}

void SliceSearch::read_draft() {
  units_ = draft_.prefetch_units();
  first_.assign(1, 0);
  for (size_t piece = 0; piece < draft_.pieces(); ++piece)
    first_.push_back(first_.back() + (draft_.can_slice(piece) ? draft_.slices(piece) : 1));
}

// The draft has been changed there: the units that it says now, without asking for all of them.
void SliceSearch::take(size_t piece, const SlicedPiece& made) {
  const size_t first = first_[piece], end = first_[piece + 1], count = made.units.size();
  const int32_t operation = units_[first].operation;
  units_ = with_others(units_, first, end, made);
  for (size_t i = first; i < first + count; ++i) units_[i].operation = operation;
  for (size_t later = piece + 1; later < first_.size(); ++later)
    first_[later] = first_[later] - (end - first) + count;
}

// Keeps it when it makes the plan better.
void SliceSearch::try_all(int32_t count) {
  bool changes = false;
  for (size_t piece = 0; piece < draft_.pieces() && !changes; ++piece)
    changes = draft_.can_slice(piece) && draft_.slices_for(piece, count) != draft_.slices(piece);
  if (!changes) return;
  const std::shared_ptr<const void> before = draft_.save();
  const double growth = draft_.constants_growth();
  draft_.slice_all(count);
  PrefetchPlan other = of_whole();
  if (other.cycles * (draft_.constants_growth() / growth) < plan_.cycles) {
    plan_ = std::move(other);
    return;
  }
  draft_.restore(before);
  read_draft();
}

// Each piece by itself; what that comes to is kept when the whole is better for it.
bool SliceSearch::try_round() {
  const std::shared_ptr<const void> before = draft_.save();
  const double growth = draft_.constants_growth();
  fetched_ = plan_.fetched;
  cycles_ = plan_.cycles;
  bool changed = false;
  for (size_t piece = 0; piece < draft_.pieces(); ++piece) {
    if (!open_[piece]) continue;
    open_[piece] = false;
    if (!draft_.can_slice(piece) || !try_slices(piece)) continue;
    changed = true;
    for (size_t near = piece - std::min(piece, kMeasured);
         near < std::min(draft_.pieces(), piece + kMeasured + 1); ++near)
      open_[near] = true;
  }
  if (!changed) return false;
  PrefetchPlan other = prefetch_.plan(units_, budget_);
  PrefetchPlan followed = place_prefetch(prefetch_.queues(), units_, fetched_, budget_);
  if (followed.cycles < other.cycles) other = std::move(followed);
  if (other.cycles * (draft_.constants_growth() / growth) < plan_.cycles) {
    plan_ = std::move(other);
    return true;
  }
  draft_.restore(before);
  read_draft();
  return false;
}

// The first number of slices that helps.
bool SliceSearch::try_slices(size_t piece) {
  if (units_[first_[piece]].last_user >= 0) return false;  // others use its constants
  Stretch now = stretch_around(piece);
  const size_t slices = units_between(piece, piece + 1);
  size_t tried = slices;
  for (const int32_t count : {1, 2, 3, 4, 6, 8, 12, 16}) {
    const size_t made = draft_.slices_for(piece, count);
    if (made == tried || made == slices) continue;
    tried = made;
    if (try_count(piece, count, now)) return true;
  }
  return false;
}

SliceSearch::Stretch SliceSearch::stretch_around(size_t piece) const {
  Stretch now;
  now.first_piece = piece - std::min(piece, kMeasured);
  now.end_piece = std::min(draft_.pieces(), piece + kMeasured + 1);
  now.first_free = piece - std::min(piece, free_);
  now.end_free = std::min(draft_.pieces(), piece + free_ + 1);
  const size_t first = first_[now.first_piece], end = first_[now.end_piece];
  now.units = prefetch_window(units_, first, end, fetched_);
  now.fetched.assign(fetched_.begin() + static_cast<ptrdiff_t>(first),
                     fetched_.begin() + static_cast<ptrdiff_t>(end));
  Fingerprint key;
  for (const size_t number :
       {units_between(now.first_piece, piece), units_between(now.first_piece, now.first_free),
        units_between(now.first_piece, now.end_free), now.units.size()})
    key.add(number);
  for (size_t i = 0; i < now.units.size(); ++i) {
    key.add(now.units[i]);
    key.add(now.fetched[i] ? 1 : 0);
  }
  now.key = key.value();
  return now;
}

KnownSlices::Plans SliceSearch::planned(size_t piece, const SlicedPiece& made, Stretch& now) const {
  const size_t first = units_between(now.first_piece, piece),
               end = units_between(now.first_piece, piece + 1),
               first_free = units_between(now.first_piece, now.first_free),
               end_free = units_between(now.first_piece, now.end_free);
  if (!now.known)
    now.known.emplace(prefetch_.queues(), now.units, std::vector<std::vector<bool>>{now.fetched},
                      first_free, end_free, budget_);
  const std::vector<PrefetchUnit> units = with_others(now.units, first, end, made);
  std::vector<std::vector<bool>> starts;
  for (const bool fetches : {true, false}) {
    std::vector<bool>& start = starts.emplace_back(now.known->plan().fetched);
    start.erase(start.begin() + static_cast<ptrdiff_t>(first),
                start.begin() + static_cast<ptrdiff_t>(end));
    start.insert(start.begin() + static_cast<ptrdiff_t>(first), made.units.size(), fetches);
  }
  PrefetchPlan plan =
      now.known->with_others(units, {first, first + made.units.size(), end}, starts, first_free,
                             end_free - (end - first) + made.units.size());
  plan.budgets.refuse(now.known->plan().budgets.end);
  return {std::move(plan.fetched), plan.cycles, now.known->plan().cycles, plan.budgets};
}

const KnownSlices::Plans& SliceSearch::plans_of(size_t piece, const SlicedPiece& made,
                                                Stretch& now) const {
  Fingerprint key(now.key);
  key.add(made.next_waits ? 1 : 0);
  for (const PrefetchUnit& unit : made.units) key.add(unit);
  KnownSlices& known = prefetch_.known_slices();
  if (const KnownSlices::Plans* plans = known.find(key.value(), budget_)) return *plans;
  return known.add(key.value(), planned(piece, made, now));
}

bool SliceSearch::try_count(size_t piece, int32_t count, Stretch& now) {
  const SlicedPiece made = draft_.sliced(piece, count);
  const KnownSlices::Plans& plans = plans_of(piece, made, now);
  const double growth =
      draft_.constants_growth(piece, made.units.size()) / draft_.constants_growth();
  const double cycles = cycles_ + plans.cycles - plans.cycles_before;
  if (cycles * growth >= cycles_) return false;
  draft_.slice(piece, count);
  const auto at = fetched_.begin();
  const auto behind = fetched_.erase(at + static_cast<ptrdiff_t>(first_[now.first_piece]),
                                     at + static_cast<ptrdiff_t>(first_[now.end_piece]));
  fetched_.insert(behind, plans.fetched.begin(), plans.fetched.end());
  cycles_ = cycles;
  take(piece, made);
  return true;
}

}  // namespace intarsia::npu
