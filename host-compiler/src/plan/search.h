// The exact search: does an instance fit in a capacity? Depth first over canonical placements, in
// which every item rests on the floor or on another item.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plan/instance.h"

namespace intarsia::plan {

enum class ValueOrder { Area, Lifetime, Size, Span };

struct Strategy {
  ValueOrder order = ValueOrder::Area;
  uint64_t seed = 0;  // 0: no shuffling
  const char* name = "";
};

enum class SearchEnd { Found, Exhausted, OutOfSteps };

struct SearchAnswer {
  SearchEnd end = SearchEnd::OutOfSteps;
  std::vector<int64_t> offsets;  // when Found
  int64_t steps = 0;             // used
};

// `stop` is asked now and then and may be empty.
SearchAnswer search_fit(const Instance& instance, int64_t capacity, const Strategy& strategy,
                        int64_t step_limit, const std::function<bool()>& stop);

}  // namespace intarsia::plan
