// The exact search: does an instance fit in a capacity? Depth first over canonical placements, in
// which every item rests on the floor or on another item.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plan/instance.h"

namespace intarsia::plan {

// What the search prefers. It changes how soon a placement is found, never whether one is.
struct Strategy {
  // Larger items first; each eighth multiplies in the eighth root of the lifetime once.
  int lifetime_eighths = 0;
  double noise = 0;        // preferences are shuffled by up to this share, by `seed`
  double nook_bonus = 1;   // for items with a higher wall on either side
  double flush_bonus = 1;  // for each side on which the item ends level with the wall
  double tightness = 0;    // decide sections with little slack first
  double depth = 0;        // decide low sections first; at most 1
  uint64_t seed = 0;
};

enum class SearchEnd { Found, Exhausted, OutOfSteps };

struct SearchAnswer {
  SearchEnd end = SearchEnd::OutOfSteps;
  std::vector<int64_t> offsets;  // when Found
  int64_t steps = 0;             // used
  int64_t work = 0;              // items and sections looked at
};

struct SearchAllowance {
  int64_t steps = 0;
  int64_t work = 0;
};

// `instance` has its sections listed. `stop` is asked now and then and may be empty.
SearchAnswer search_fit(const Instance& instance, int64_t capacity, const Strategy& strategy,
                        const SearchAllowance& allowance, const std::function<bool()>& stop);

}  // namespace intarsia::plan
