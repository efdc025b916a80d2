// Areas in proportion to amounts, as near to squares as they can be.
#pragma once

#include <cstdint>
#include <vector>

namespace intarsia::packaging::page {

struct Area {
  double x = 0, y = 0, width = 0, height = 0;
};

// One area in `whole` for each amount, in the order of `amounts`, which are sorted with the largest first.
std::vector<Area> treemap(const std::vector<int64_t>& amounts, Area whole);

}  // namespace intarsia::packaging::page
