// What an operator of one integer gives, as the reference evaluator computes it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

// The operator's results for every value of its input's type, from the least on.
std::vector<uint8_t> all_results(const Site& site);
// Those of an operator of two int8, of each value of the first one a row, by the second one.
std::vector<uint8_t> all_results_of_pairs(const Site& site);
int32_t int16_at(const std::vector<uint8_t>& bytes, int32_t index);

// What follows from an operator of one integer or two, whatever its name and shape are. To find it all values of the integers are
// tried, and it is asked for several times: whether the NPU takes the operator, and for each schedule that has it.
template <typename Value>
class KnownOfSites {
 public:
  template <typename Make>
  std::shared_ptr<const Value> of(const Site& site, const Make& make) {
    Key key{site.node.kind,
            site.node.attributes,
            site.in().type,
            site.out().type,
            site.in().quantization,
            site.out().quantization,
            {}};
    if (site.has(1)) key.second = site.in(1).quantization;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [other, value] : known_)
        if (other == key) return value;
    }
    auto made = std::make_shared<const Value>(make(site));
    const std::lock_guard lock(mutex_);
    known_.emplace_front(std::move(key), made);
    if (known_.size() > kMost) known_.pop_back();
    return made;
  }

 private:
  static constexpr size_t kMost = 256;

  struct Key {
    graph::OpKind kind;
    graph::Attributes attributes;
    DataType in_type, out_type;
    graph::Quantization in, out, second;
    bool operator==(const Key&) const = default;
  };

  std::mutex mutex_;
  std::deque<std::pair<Key, std::shared_ptr<const Value>>> known_;
};

}  // namespace intarsia::targets::ethos_u
