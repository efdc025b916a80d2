#include "plan/search_state.h"

#include <algorithm>
#include <limits>

namespace intarsia::plan {

SearchState::SearchState(const Instance& instance, int64_t capacity)
    : in_(instance), capacity_(capacity) {
  const size_t sections = static_cast<size_t>(in_.section_count);
  floor_.assign(sections, 0);
  waiting_size_.assign(sections, 0);
  waiting_.assign(sections, 0);
  across_.assign(sections, 0);
  trouble_.assign(sections, 1);
  queued_.assign(sections, 0);
  least_.assign(in_.items.size(), 0);
  placed_.assign(in_.items.size(), 0);
  for (size_t i = 0; i < in_.items.size(); ++i) count_waiting(static_cast<int>(i), 1);
}

bool SearchState::start() {
  for (size_t i = 0; i < in_.items.size(); ++i) {
    // Before anything is placed an item already clears the fixed ones, and has to end in bounds.
    const int64_t lowest = in_.fit_above(static_cast<int>(i), 0);
    if (lowest + in_.items[i].size > capacity_) return false;
    least_[i] = lowest;
  }
  for (int s = 0; s < in_.section_count; ++s) enqueue(s);
  return propagate();
}

bool SearchState::place(int item) {
  const Instance::Item& it = in_.items[item];
  trail_.push_back({Kind::Placed, item, 0});
  placed_[item] = 1;
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
        least_[change.index] = change.old;
        break;
      case Kind::Placed:
        placed_[change.index] = 0;
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

void SearchState::enqueue(int s) {
  if (queued_[s]) return;
  queued_[s] = 1;
  queue_.push_back(s);
}

void SearchState::set_floor(int s, int64_t value) {
  trail_.push_back({Kind::Floor, s, floor_[s]});
  floor_[s] = value;
  enqueue(s);
}

bool SearchState::raise_item(int item, int64_t at_least) {
  const Instance::Item& it = in_.items[item];
  const int64_t offset = in_.fit_above(item, at_least);
  if (it.fixed >= 0 && offset != it.fixed) return false;
  if (offset + it.size > capacity_) return false;
  trail_.push_back({Kind::Least, item, least_[item]});
  least_[item] = offset;
  for (int s = it.first; s <= it.last; ++s) enqueue(s);
  return true;
}

bool SearchState::propagate() {
  bool possible = true;
  // After a failure the queue is only emptied: what follows is undone anyway.
  while (!queue_.empty()) {
    const int s = queue_.back();
    queue_.pop_back();
    queued_[s] = 0;
    if (!possible || waiting_[s] == 0) continue;
    if (!settle_section(s)) {
      ++trouble_[s];
      possible = false;
    }
  }
  return possible;
}

bool SearchState::settle_section(int s) {
  work_ += std::ssize(in_.in_section[s]);
  int64_t lowest = std::numeric_limits<int64_t>::max();
  for (int i : in_.in_section[s])
    if (!placed_[i]) lowest = std::min(lowest, least_[i]);
  if (lowest > floor_[s]) {
    trail_.push_back({Kind::Floor, s, floor_[s]});
    floor_[s] = lowest;
  }
  if (floor_[s] + waiting_size_[s] > capacity_) return false;
  for (int i : in_.in_section[s])
    if (!placed_[i] && least_[i] < floor_[s] && !raise_item(i, floor_[s])) return false;
  return true;
}

}  // namespace intarsia::plan
