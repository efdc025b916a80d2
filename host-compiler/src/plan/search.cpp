// Every decision is about one section of a valley (equal floors between higher walls): which item
// lies on its floor, or none. Items of a valley's floor have nothing beneath them, so each
// canonical placement is met exactly once, and a search that ends without one has proved that there
// is none.
#include "plan/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "plan/search_state.h"

namespace intarsia::plan {

namespace {

class Search {
 public:
  Search(const Instance& instance, int64_t capacity, const Strategy& strategy,
         const SearchAllowance& allowance, const std::function<bool()>& stop)
      : in_(instance),
        capacity_(capacity),
        strategy_(strategy),
        allowance_(allowance),
        stop_(stop),
        random_(strategy.seed),
        state_(instance, capacity) {
    for (const auto& item : in_.items) preference_.push_back(base_preference(item));
    entries_before_.push_back(0);
    for (const std::vector<int>& section : in_.in_section)
      entries_before_.push_back(entries_before_.back() + std::ssize(section));
  }

  SearchAnswer run() {
    SearchAnswer answer;
    const bool found = state_.start() && solve();
    answer.steps = steps_;
    answer.work = work_ + state_.work();
    answer.end = found           ? SearchEnd::Found
                 : out_of_steps_ ? SearchEnd::OutOfSteps
                                 : SearchEnd::Exhausted;
    if (found) answer.offsets = state_.offsets();
    return answer;
  }

 private:
  using Range = std::pair<int, int>;  // sections [first, second)

  double base_preference(const Instance::Item& item) {
    double value = static_cast<double>(item.size);
    // Square roots are exact to the last bit everywhere; std::pow is not.
    const double root = std::sqrt(std::sqrt(std::sqrt(static_cast<double>(item.steps))));
    for (int k = 0; k < strategy_.lifetime_eighths; ++k) value *= root;
    for (int k = 0; k > strategy_.lifetime_eighths; --k) value /= root;
    const double random = static_cast<double>(random_() >> 11) * 0x1.0p-52 - 1;  // in [-1, 1)
    return value * (1 + strategy_.noise * random);
  }

  double preference(int i, const Range& range) const {
    const auto& item = in_.items[i];
    const int64_t top = state_.least(i) + item.size;
    const int64_t left = item.first > range.first ? state_.floor(item.first - 1) : capacity_;
    const int64_t right = item.last + 1 < range.second ? state_.floor(item.last + 1) : capacity_;
    double value = preference_[i];
    if (left > state_.least(i) && right > state_.least(i)) value *= strategy_.nook_bonus;
    if (top == left) value *= strategy_.flush_bonus;
    if (top == right) value *= strategy_.flush_bonus;
    return value;
  }

  // A decision about one section and what follows from its present choice. The frames are a stack
  // of our own: problems are as deep as they have items, and the program's stack is not.
  struct Frame {
    Range range;
    int section = 0;
    size_t mark = 0;                                 // the state before any choice
    std::vector<std::pair<double, int>> candidates;  // with negated preference
    size_t next_candidate = 0;
    bool none_tried = true;  // "no item lies on this floor" is the last choice
    std::vector<Range> parts;
    size_t next_part = 0;
  };

  bool solve() {
    std::vector<Frame> frames(1);
    frames.back().parts = parts_of({0, in_.section_count});
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.next_part == frame.parts.size()) {
        // Solved. It is not returned to: later parts do not depend on how this one was solved.
        frames.pop_back();
        continue;
      }
      const Range part = frame.parts[frame.next_part++];
      frames.push_back(open(part));
      while (!choose(frames.back())) {
        frames.pop_back();
        if (out_of_steps_ || frames.size() == 1) return false;
      }
    }
    return true;
  }

  // The groups of sections within `range` that no waiting item connects, the tightest first: a part
  // without a solution says so at once, whatever was chosen in its neighbours.
  std::vector<Range> parts_of(const Range& range) const {
    std::vector<Range> ranges;
    for (int begin = range.first; begin < range.second;) {
      const int end = state_.next_uncrossed(begin + 1, range.second);
      if (state_.has_waiting(begin)) ranges.push_back({begin, end});
      begin = end;
    }
    if (ranges.size() < 2) return ranges;
    std::vector<std::pair<int64_t, Range>> parts;
    for (const Range& part : ranges) parts.push_back({least_slack(part), part});
    std::sort(parts.begin(), parts.end());
    for (size_t i = 0; i < parts.size(); ++i) ranges[i] = parts[i].second;
    return ranges;
  }

  int64_t least_slack(const Range& part) const {
    int64_t least = state_.slack(part.first);
    for (int s = part.first + 1; s < part.second; ++s) least = std::min(least, state_.slack(s));
    return least;
  }

  Frame open(const Range& range) {
    Frame frame;
    frame.range = range;
    frame.section = choose_section(range.first, range.second);
    frame.mark = state_.mark();
    frame.none_tried = false;
    for (int i : in_.in_section[frame.section])
      if (state_.may_lie_at(i, state_.floor(frame.section)))
        frame.candidates.push_back({-preference(i, range), i});
    std::sort(frame.candidates.begin(), frame.candidates.end());
    return frame;
  }

  // Takes back the present choice and makes the next. False when there is none that leaves room.
  bool choose(Frame& frame) {
    state_.undo_to(frame.mark);
    const auto made = [&] {
      frame.parts = parts_of(frame.range);
      frame.next_part = 0;
      return true;
    };
    while (frame.next_candidate < frame.candidates.size()) {
      const size_t k = frame.next_candidate++;
      if (twin_tried(frame.candidates, k)) continue;
      const bool enough = ++steps_ > allowance_.steps || work_ + state_.work() > allowance_.work;
      if (enough || ((steps_ & 1023) == 0 && stop_ && stop_())) {
        out_of_steps_ = true;
        return false;
      }
      if (state_.place(frame.candidates[k].second)) return made();
      state_.undo_to(frame.mark);
    }
    if (frame.none_tried) return false;
    frame.none_tried = true;
    if (state_.raise_floor(frame.section, level_without(frame.section))) return made();
    state_.undo_to(frame.mark);
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
  int64_t level_without(int s) {
    const int64_t level = state_.floor(s);
    int64_t next = std::numeric_limits<int64_t>::max();
    for (int i : in_.in_section[s]) {
      if (!state_.is_waiting(i)) continue;
      if (state_.least(i) > level) {
        next = std::min(next, state_.least(i));
        continue;
      }
      if (in_.items[i].fixed >= 0) continue;  // it lies here and nowhere else
      // It has to rest on a waiting item beside section s. Whoever counts the work sees these in each of their sections.
      const auto& item = in_.items[i];
      work_ += entries_before_[item.last + 1] - entries_before_[item.first] -
               std::ssize(in_.in_section[s]);
      in_.for_each_alive_with(i, [&](int j) {
        const auto& other = in_.items[j];
        if (!state_.is_waiting(j) || (other.first <= s && s <= other.last)) return;
        next = std::min(next, state_.least(j) + other.size);
      });
    }
    return next;
  }

  double urgency(int s) const {
    if (strategy_.tightness == 0 && strategy_.depth == 0) return state_.trouble(s);
    const auto share = [&](int64_t units) {
      return static_cast<double>(units) / static_cast<double>(capacity_);
    };
    return state_.trouble(s) / (1 + strategy_.tightness * share(state_.slack(s))) *
           (1 - strategy_.depth * share(state_.floor(s)));
  }

  // A section on the floor of a valley with few choices for a place that caused trouble before.
  int choose_section(int begin, int end) {
    int best = -1;
    double best_score = 0;
    work_ += end - begin;
    for (int s = begin; s < end;) {
      const int run_end = state_.end_of_floor(s, end);
      const bool valley = (s == begin || state_.floor(s - 1) > state_.floor(s)) &&
                          (run_end == end || state_.floor(run_end) > state_.floor(s));
      if (valley) {
        work_ += entries_before_[run_end] - entries_before_[s];
        for (int t = s; t < run_end; ++t) {
          // Sections of a part have room, and an item that waits: nothing is more urgent than its trouble says.
          if (best >= 0 && state_.trouble(t) <= best_score) continue;
          const int64_t slack = state_.slack(t);
          int choices = slack > 0 ? 1 : 0;
          const int64_t floor = state_.floor(t);
          // One item at least lies on the floor where any waits; more choices only make it worse.
          const bool waits = best >= 0 && state_.has_waiting(t);
          const double at_most = choices > 0 ? 0.5 : 1.0;
          if (waits && slack >= 0 && state_.trouble(t) * at_most <= best_score) continue;
          const double urgent = urgency(t);
          if (waits && urgent * at_most <= best_score) continue;
          double score = 0;
          for (int i : in_.in_section[t]) {
            if (!state_.may_lie_at(i, floor)) continue;
            score = urgent / ++choices;
            if (best >= 0 && score <= best_score) break;
          }
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

  const Instance& in_;
  const int64_t capacity_;
  const Strategy strategy_;
  const SearchAllowance allowance_;
  const std::function<bool()>& stop_;
  std::mt19937_64 random_;
  int64_t steps_ = 0;
  int64_t work_ = 0;
  bool out_of_steps_ = false;

  SearchState state_;
  std::vector<double> preference_;
  std::vector<int64_t> entries_before_;  // of the items listed in the sections before each
};

}  // namespace

SearchAnswer search_fit(const Instance& instance, int64_t capacity, const Strategy& strategy,
                        const SearchAllowance& allowance, const std::function<bool()>& stop) {
  return Search(instance, capacity, strategy, allowance, stop).run();
}

}  // namespace intarsia::plan
