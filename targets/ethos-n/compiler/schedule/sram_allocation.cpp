#include "schedule/sram_allocation.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace intarsia::targets::ethos_n {
namespace {

using Order = std::function<bool(const SramRequest&, const SramRequest&)>;

// Each to the lowest gap among those that were placed before it.
int64_t place_in_order(std::vector<SramRequest>& requests, const Order& before) {
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return before(requests[a], requests[b]); });
  int64_t end = 0;
  std::vector<size_t> placed, beside;
  for (const size_t i : order) {
    SramRequest& request = requests[i];
    beside.clear();
    for (const size_t other : placed)
      if (requests[other].begin <= request.end && request.begin <= requests[other].end)
        beside.push_back(other);
    std::sort(beside.begin(), beside.end(),
              [&](size_t a, size_t b) { return requests[a].address < requests[b].address; });
    int64_t at = 0;
    for (const size_t other : beside) {
      if (at + request.bytes <= requests[other].address) break;
      at = std::max(at, requests[other].address + requests[other].bytes);
    }
    request.address = at;
    placed.push_back(i);
    end = std::max(end, at + request.bytes);
  }
  return end;
}

}  // namespace

std::optional<int64_t> allocate(std::vector<SramRequest>& requests, int64_t limit) {
  const Order orders[] = {
      [](const SramRequest& a, const SramRequest& b) { return a.begin < b.begin; },
      [](const SramRequest& a, const SramRequest& b) { return a.bytes > b.bytes; },
      [](const SramRequest& a, const SramRequest& b) { return a.end - a.begin > b.end - b.begin; },
  };
  for (const Order& order : orders)
    if (const int64_t end = place_in_order(requests, order); end <= limit) return end;
  return std::nullopt;
}

}  // namespace intarsia::targets::ethos_n
