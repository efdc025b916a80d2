#include "intarsia/npu/cheapest_chain.h"

#include <algorithm>
#include <limits>

namespace intarsia::npu {

std::vector<size_t> cheapest_chain(
    const std::vector<std::vector<double>>& costs,
    const std::function<double(size_t option)>& first,
    const std::function<double(size_t link, size_t before, size_t option)>& between) {
  struct Way {
    double total = std::numeric_limits<double>::infinity();
    size_t before = 0;  // the option of the link before
  };
  std::vector<size_t> chosen(costs.size());
  if (costs.empty()) return chosen;
  std::vector<std::vector<Way>> ways;
  for (size_t link = 0; link < costs.size(); ++link) {
    std::vector<Way>& own = ways.emplace_back(costs[link].size());
    for (size_t option = 0; option < own.size(); ++option) {
      if (link == 0) {
        own[option].total = costs[0][option] + first(option);
        continue;
      }
      for (size_t before = 0; before < costs[link - 1].size(); ++before) {
        const double total =
            ways[link - 1][before].total + costs[link][option] + between(link, before, option);
        if (total < own[option].total) own[option] = {total, before};
      }
    }
  }
  const auto least = std::min_element(ways.back().begin(), ways.back().end(),
                                      [](const Way& a, const Way& b) { return a.total < b.total; });
  auto at = static_cast<size_t>(least - ways.back().begin());
  for (size_t link = costs.size(); link-- > 0;) {
    chosen[link] = at;
    at = ways[link][at].before;
  }
  return chosen;
}

}  // namespace intarsia::npu
