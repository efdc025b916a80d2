// A state is a set of placed items that no later item goes beneath. `floor_[s]` is a bound on where
// the next item alive in section s can lie, `least_[i]` on the offset of item i; each raises the
// other until both rest. Every decision is about one section of a valley (floors equal, higher
// walls): which item lies on its floor, or none. Each canonical placement is met exactly once.
#include "plan/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace intarsia::plan {

namespace {

class Search {
 public:
  Search(const Instance& instance, int64_t capacity, const Strategy& strategy, int64_t step_limit,
         const std::function<bool()>& stop)
      : in_(instance),
        capacity_(capacity),
        strategy_(strategy),
        step_limit_(step_limit),
        stop_(stop),
        random_(strategy.seed) {
    const size_t items = in_.items.size();
    const size_t sections = static_cast<size_t>(in_.section_count);
    floor_.assign(sections, 0);
    waiting_size_.assign(sections, 0);
    waiting_.assign(sections, 0);
    across_.assign(sections + 1, 0);
    queued_.assign(sections, 0);
    trouble_.assign(sections, 1);
    least_.assign(items, 0);
    placed_.assign(items, 0);
    preference_.assign(items, 0);
    for (size_t i = 0; i < items; ++i) {
      const auto& item = in_.items[i];
      for (int s = item.first; s <= item.last; ++s) {
        waiting_size_[s] += item.size;
        ++waiting_[s];
        if (s > item.first) ++across_[s];
      }
      preference_[i] = base_preference(item);
    }
  }

  SearchAnswer run() {
    SearchAnswer answer;
    bool possible = true;
    for (size_t i = 0; i < in_.items.size() && possible; ++i)
      possible = raise_item(static_cast<int>(i), 0, true);
    for (int s = 0; s < in_.section_count; ++s) enqueue(s);
    const bool found = possible && propagate() && solve(0, in_.section_count, 0);
    answer.steps = steps_;
    answer.end = found           ? SearchEnd::Found
                 : out_of_steps_ ? SearchEnd::OutOfSteps
                                 : SearchEnd::Exhausted;
    if (found) answer.offsets = least_;
    return answer;
  }

 private:
  enum class Kind : uint8_t { Floor, Least, Placed };
  struct Change {
    Kind kind;
    int index;
    int64_t old;
  };

  double base_preference(const Instance::Item& item) {
    double value = static_cast<double>(item.size);
    // Square roots are exact to the last bit everywhere; std::pow is not.
    const double root = std::sqrt(std::sqrt(std::sqrt(static_cast<double>(item.steps))));
    for (int k = 0; k < strategy_.lifetime_eighths; ++k) value *= root;
    for (int k = 0; k > strategy_.lifetime_eighths; --k) value /= root;
    const double random = static_cast<double>(random_() >> 11) * 0x1.0p-52 - 1;  // in [-1, 1)
    return value * (1 + strategy_.noise * random);
  }

  double preference(int i, int begin, int end) const {
    const auto& item = in_.items[i];
    const int64_t top = least_[i] + item.size;
    const int64_t left = item.first > begin ? floor_[item.first - 1] : capacity_;
    const int64_t right = item.last + 1 < end ? floor_[item.last + 1] : capacity_;
    double value = preference_[i];
    if (left > least_[i] && right > least_[i]) value *= strategy_.nook_bonus;
    if (top == left) value *= strategy_.flush_bonus;
    if (top == right) value *= strategy_.flush_bonus;
    return value;
  }

  void enqueue(int s) {
    if (queued_[s]) return;
    queued_[s] = 1;
    queue_.push_back(s);
  }

  void set_floor(int s, int64_t value) {
    trail_.push_back({Kind::Floor, s, floor_[s]});
    floor_[s] = value;
    enqueue(s);
  }

  bool raise_item(int i, int64_t at_least, bool force = false) {
    if (at_least <= least_[i] && !force) return true;
    const auto& item = in_.items[i];
    const int64_t offset = in_.fit_above(i, at_least);
    if (item.fixed >= 0 && offset != item.fixed) return false;
    if (offset + item.size > capacity_) return false;
    if (offset == least_[i]) return true;
    trail_.push_back({Kind::Least, i, least_[i]});
    least_[i] = offset;
    for (int s = item.first; s <= item.last; ++s) enqueue(s);
    return true;
  }

  // Brings floors and least offsets to rest. False when they leave no room in some section.
  bool propagate() {
    bool possible = true;
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

  bool settle_section(int s) {
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

  bool place(int i) {
    const auto& item = in_.items[i];
    trail_.push_back({Kind::Placed, i, 0});
    placed_[i] = 1;
    for (int s = item.first; s <= item.last; ++s) {
      waiting_size_[s] -= item.size;
      --waiting_[s];
      if (s > item.first) --across_[s];
      if (waiting_[s] > 0) set_floor(s, least_[i] + item.size);
    }
    return propagate();
  }

  void undo_to(size_t mark) {
    while (trail_.size() > mark) {
      const Change change = trail_.back();
      trail_.pop_back();
      if (change.kind == Kind::Floor) {
        floor_[change.index] = change.old;
      } else if (change.kind == Kind::Least) {
        least_[change.index] = change.old;
      } else {
        const auto& item = in_.items[change.index];
        placed_[change.index] = 0;
        for (int s = item.first; s <= item.last; ++s) {
          waiting_size_[s] += item.size;
          ++waiting_[s];
          if (s > item.first) ++across_[s];
        }
      }
    }
  }

  // Places what waits in the sections [begin, end), which nothing waiting crosses.
  bool solve(int begin, int end, int depth) {
    // Parts that share no waiting item are solved one after the other: a part without a solution
    // says so at once, whatever was chosen in its neighbours.
    int part_begin = begin;
    std::vector<std::pair<int, int>> parts;
    for (int s = begin + 1; s <= end; ++s) {
      if (s < end && across_[s] > 0) continue;
      if (waiting_[part_begin] > 0) parts.push_back({part_begin, s});
      part_begin = s;
    }
    if (parts.size() > 1) {
      const auto slack = [&](const std::pair<int, int>& part) {
        int64_t least = std::numeric_limits<int64_t>::max();
        for (int s = part.first; s < part.second; ++s)
          least = std::min(least, capacity_ - floor_[s] - waiting_size_[s]);
        return std::pair(least, part.first);
      };
      std::sort(parts.begin(), parts.end(),
                [&](const auto& a, const auto& b) { return slack(a) < slack(b); });
    }
    for (const auto& [first, last] : parts)
      if (!decide(first, last, depth + 1)) return false;
    return true;
  }

  bool decide(int begin, int end, int depth) {
    if (depth > kMaxDepth) out_of_steps_ = true;
    if (out_of_steps_) return false;
    const int s = choose_section(begin, end);
    const int64_t level = floor_[s];
    std::vector<std::pair<double, int>> candidates;
    for (int i : in_.in_section[s])
      if (!placed_[i] && least_[i] == level) candidates.push_back({-preference(i, begin, end), i});
    std::sort(candidates.begin(), candidates.end());
    const size_t mark = trail_.size();
    for (size_t k = 0; k < candidates.size(); ++k) {
      if (k > 0 && twin_tried(candidates, k)) continue;
      if (++steps_ > step_limit_ || ((steps_ & 1023) == 0 && stop_ && stop_())) {
        out_of_steps_ = true;
        return false;
      }
      if (place(candidates[k].second) && solve(begin, end, depth)) return true;
      undo_to(mark);
      if (out_of_steps_) return false;
    }
    const int64_t next = level_without(s, level);
    if (next > capacity_ - waiting_size_[s]) {
      ++trouble_[s];
      return false;
    }
    set_floor(s, next);
    if (propagate() && solve(begin, end, depth)) return true;
    undo_to(mark);
    return false;
  }

  // Two items alike in all respects: the second would repeat the search of the first.
  bool twin_tried(const std::vector<std::pair<double, int>>& candidates, size_t k) const {
    const auto& item = in_.items[candidates[k].second];
    for (size_t j = 0; j < k; ++j) {
      const auto& other = in_.items[candidates[j].second];
      if (other.first == item.first && other.last == item.last && other.size == item.size &&
          other.alignment == item.alignment && other.fixed < 0 && item.fixed < 0)
        return true;
    }
    return false;
  }

  // Where the lowest waiting item of section s lies at least, if not on its floor.
  int64_t level_without(int s, int64_t level) const {
    int64_t next = std::numeric_limits<int64_t>::max();
    for (int i : in_.in_section[s]) {
      if (placed_[i]) continue;
      if (least_[i] > level) {
        next = std::min(next, least_[i]);
        continue;
      }
      if (in_.items[i].fixed >= 0) continue;  // it lies here and nowhere else
      // It has to rest on a waiting item beside section s.
      for (int t = in_.items[i].first; t <= in_.items[i].last; ++t) {
        if (t == s) continue;
        for (int j : in_.in_section[t]) {
          const auto& other = in_.items[j];
          if (placed_[j] || j == i || (other.first <= s && s <= other.last)) continue;
          next = std::min(next, least_[j] + other.size);
        }
      }
    }
    return next;
  }

  double urgency(int s) const {
    const auto share = [&](int64_t units) {
      return static_cast<double>(units) / static_cast<double>(capacity_);
    };
    return trouble_[s] /
           (1 + strategy_.tightness * share(capacity_ - floor_[s] - waiting_size_[s])) *
           (1 - strategy_.depth * share(floor_[s]));
  }

  // A section on the floor of a valley with few choices for a place that caused trouble before.
  int choose_section(int begin, int end) {
    int best = -1;
    double best_score = 0;
    for (int s = begin; s < end;) {
      int run_end = s + 1;
      while (run_end < end && floor_[run_end] == floor_[s]) ++run_end;
      const bool valley = (s == begin || floor_[s - 1] > floor_[s]) &&
                          (run_end == end || floor_[run_end] > floor_[s]);
      if (valley) {
        for (int t = s; t < run_end; ++t) {
          int choices = capacity_ - floor_[t] - waiting_size_[t] > 0 ? 1 : 0;
          for (int i : in_.in_section[t])
            if (!placed_[i] && least_[i] == floor_[t]) ++choices;
          const double score = urgency(t) / choices;
          if (best < 0 || score > best_score) {
            best = t;
            best_score = score;
          }
        }
      }
      s = run_end;
    }
    return best;
  }

  static constexpr int kMaxDepth = 20'000;

  const Instance& in_;
  const int64_t capacity_;
  const Strategy strategy_;
  const int64_t step_limit_;
  const std::function<bool()>& stop_;
  std::mt19937_64 random_;
  int64_t steps_ = 0;
  bool out_of_steps_ = false;

  std::vector<int64_t> floor_;
  std::vector<int64_t> waiting_size_;
  std::vector<int> waiting_;
  std::vector<double> trouble_;  // how often a section left no room: it is decided early
  std::vector<int> across_;      // items waiting in both section s - 1 and section s
  std::vector<int64_t> least_;
  std::vector<char> placed_;
  std::vector<double> preference_;
  std::vector<Change> trail_;
  std::vector<int> queue_;
  std::vector<char> queued_;
};

}  // namespace

SearchAnswer search_fit(const Instance& instance, int64_t capacity, const Strategy& strategy,
                        int64_t step_limit, const std::function<bool()>& stop) {
  return Search(instance, capacity, strategy, step_limit, stop).run();
}

}  // namespace intarsia::plan
