#include "plan/search_state.h"

#include <algorithm>
#include <limits>

namespace intarsia::plan {
namespace {

constexpr int64_t kPlaced = std::numeric_limits<int64_t>::max();

}  // namespace

SearchState::SearchState(const Instance& instance, int64_t capacity)
    : in_(instance), capacity_(capacity) {
  const size_t sections = static_cast<size_t>(in_.section_count);
  floor_.assign(sections, 0);
  waiting_size_.assign(sections, 0);
  waiting_.assign(sections, 0);
  across_.assign(sections, 0);
  trouble_.assign(sections, 1);
  queue_.assign(sections + 1, 0);
  queued_.assign(sections, 0);
  least_.assign(in_.items.size(), 0);
  waiting_least_.assign(in_.items.size(), 0);
  placed_.assign(in_.items.size(), 0);
  for (size_t i = 0; i < in_.items.size(); ++i) count_waiting(static_cast<int>(i), 1);
}

bool SearchState::start() {
  for (size_t i = 0; i < in_.items.size(); ++i) {
    // Before anything is placed an item already clears the fixed ones, and has to end in bounds.
    const int64_t lowest = in_.fit_above(static_cast<int>(i), 0);
    if (lowest + in_.items[i].size > capacity_) return false;
    least_[i] = waiting_least_[i] = lowest;
  }
  enqueue(0, in_.section_count - 1, 0, kDisturbed | kRaised);
  return propagate();
}

bool SearchState::place(int item) {
  const Instance::Item& it = in_.items[item];
  trail_.push_back({Kind::Placed, item, 0});
  placed_[item] = 1;
  waiting_least_[item] = kPlaced;
  count_waiting(item, -1);
  for (int s = it.first; s <= it.last; ++s)
    if (waiting_[s] > 0) set_floor(s, least_[item] + it.size);
  return propagate();
}

bool SearchState::raise_floor(int s, int64_t value) {
  if (value > capacity_ - waiting_size_[s]) {
    ++trouble_[s];
    return false;
  }
  set_floor(s, value);
  return propagate();
}

void SearchState::undo_to(size_t mark) {
  while (trail_.size() > mark) {
    const Change change = trail_.back();
    trail_.pop_back();
    switch (change.kind) {
      case Kind::Floor:
        floor_[change.index] = change.old;
        break;
      case Kind::Least:
        least_[change.index] = waiting_least_[change.index] = change.old;
        break;
      case Kind::Placed:
        placed_[change.index] = 0;
        waiting_least_[change.index] = least_[change.index];
        count_waiting(change.index, 1);
        break;
    }
  }
}

void SearchState::count_waiting(int item, int direction) {
  const Instance::Item& it = in_.items[item];
  work_ += it.last - it.first + 1;
  for (int s = it.first; s <= it.last; ++s) {
    waiting_size_[s] += direction * it.size;
    waiting_[s] += direction;
    if (s > it.first) across_[s] += direction;
  }
}

// Without branches, which nobody could foresee: what is in the queue already is overwritten by the next.
inline void SearchState::enqueue(int first, int last, int64_t low, uint8_t how) {
  uint8_t* const queued = queued_.data();
  const int64_t* const floors = floor_.data();
  int* const queue = queue_.data();
  size_t size = queue_size_;
  for (int s = first; s <= last; ++s) {
    queue[size] = s;
    size += queued[s] == 0 ? 1 : 0;
    queued[s] = static_cast<uint8_t>(queued[s] | kQueued | (low <= floors[s] ? how : 0));
  }
  queue_size_ = size;
}

void SearchState::set_floor(int s, int64_t value) {
  trail_.push_back({Kind::Floor, s, floor_[s]});
  floor_[s] = value;
  enqueue(s, s, value, kDisturbed | kRaised);
}

// Sections in which another item lies lower stay as they are. They are looked at nevertheless: the order in which the others are
// decides which of them is found to be without room.
bool SearchState::raise_item(int item, int64_t at_least) {
  const Instance::Item& it = in_.items[item];
  const int64_t offset = in_.fit_above(item, at_least);
  if (it.fixed >= 0 && offset != it.fixed) return false;
  if (offset + it.size > capacity_) return false;
  const int64_t before = least_[item];
  trail_.push_back({Kind::Least, item, before});
  least_[item] = waiting_least_[item] = offset;
  enqueue(it.first, it.last, before, kDisturbed);
  return true;
}

bool SearchState::propagate() {
  while (queue_size_ > 0) {
    const int s = queue_[--queue_size_];
    const bool disturbed = (queued_[s] & kDisturbed) != 0, raised = (queued_[s] & kRaised) != 0;
    queued_[s] = 0;
    if (waiting_[s] == 0) continue;
    work_ += std::ssize(in_.in_section[s]);
    if (!disturbed || (!raised && has_lowest(s)) || settle_section(s)) continue;
    ++trouble_[s];
    // What follows is undone anyway.
    while (queue_size_ > 0) queued_[queue_[--queue_size_]] = 0;
    return false;
  }
  return true;
}

// Of a section whose floor is where it was at rest, so that no waiting item lies lower: whether one lies there still.
bool SearchState::has_lowest(int s) const {
  const std::vector<int>& items = in_.in_section[s];
  return std::any_of(items.begin(), items.end(),
                     [&](int i) { return waiting_least_[i] == floor_[s]; });
}

bool SearchState::settle_section(int s) {
  const std::vector<int>& items = in_.in_section[s];
  int64_t lowest = kPlaced;
  for (const int i : items) lowest = std::min(lowest, waiting_least_[i]);
  const bool is_lower = lowest < floor_[s];
  if (lowest > floor_[s]) {
    trail_.push_back({Kind::Floor, s, floor_[s]});
    floor_[s] = lowest;
  }
  if (floor_[s] + waiting_size_[s] > capacity_) return false;
  if (!is_lower) return true;
  for (const int i : items)
    if (waiting_least_[i] < floor_[s] && !raise_item(i, floor_[s])) return false;
  return true;
}

}  // namespace intarsia::plan
