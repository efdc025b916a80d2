#include "row_tiling/row_tile_choice.h"

#include <algorithm>
#include <optional>

namespace intarsia::row_tiling {

namespace {

// A way from some operator to the end: what the tensor that enters it needs free beneath it, and the cost.
struct Way {
  int64_t below = 0, cost = 0;
  int option = -1, rest = -1;  // the first option, and which way of those from behind it on
};

// Of the ways from one operator on, those that no other beats in both.
void keep_best(std::vector<Way>& ways) {
  std::stable_sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.below < b.below;
  });
  std::vector<Way> kept;
  for (const Way& way : ways)
    if (kept.empty() || way.below < kept.back().below) kept.push_back(way);
  ways = std::move(kept);
}

std::optional<std::vector<Option>> within(int operators, const std::vector<Option>& options,
                                          int64_t budget) {
  const auto end = static_cast<size_t>(operators);
  std::vector<std::vector<int>> starting(end);
  for (size_t o = 0; o < options.size(); ++o)
    starting[static_cast<size_t>(options[o].first)].push_back(static_cast<int>(o));
  std::vector<std::vector<Way>> from(end + 1);
  from[end] = {{}};
  for (size_t first = end; first-- > 0;) {
    for (const int o : starting[first]) {
      const Option& option = options[static_cast<size_t>(o)];
      const std::vector<Way>& rest = from[static_cast<size_t>(option.last) + 1];
      for (size_t r = 0; r < rest.size(); ++r) {
        const int64_t cost = rest[r].cost + option.cost;
        if (option.bytes_apart(rest[r].below) <= budget)
          from[first].push_back({0, cost, o, static_cast<int>(r)});
        if (option.distance >= 0 && option.bytes_overlapping(rest[r].below) <= budget)
          from[first].push_back({rest[r].below + option.distance, cost, o, static_cast<int>(r)});
      }
    }
    keep_best(from[first]);
  }
  if (from[0].empty()) return std::nullopt;
  std::vector<Option> chosen;
  const Way* way = &from[0].front();  // the cheapest
  for (size_t first = 0; first < end;) {
    chosen.push_back(options[static_cast<size_t>(way->option)]);
    first = static_cast<size_t>(chosen.back().last) + 1;
    way = &from[first][static_cast<size_t>(way->rest)];
  }
  return chosen;
}

}  // namespace

int64_t Option::bytes_apart(int64_t below) const {
  return beside + scratch + std::max(below, input) + output;
}

// Scratch may lie in the room below.
int64_t Option::bytes_overlapping(int64_t below) const {
  return beside + std::max(below, scratch) + std::max(output, distance + input);
}

std::vector<Option> choose_options(int operators, const std::vector<Option>& options,
                                   int64_t budget) {
  if (auto chosen = within(operators, options, budget)) return *chosen;
  int64_t too_small = budget, enough = budget;
  for (const Option& option : options)
    if (option.step == 0) enough = std::max(enough, option.bytes_apart(0));
  while (too_small + 1 < enough) {
    const int64_t middle = too_small + (enough - too_small) / 2;
    (within(operators, options, middle) ? enough : too_small) = middle;
  }
  return *within(operators, options, enough);
}

}  // namespace intarsia::row_tiling
