// Names that are given once each, in constant time: `wish`, or wish_2, wish_3, ... The number of a
// name does not depend on the others' wishes, only on which names are taken.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace intarsia {

class UniqueNames {
 public:
  // Takes the first of wish, wish_2, wish_3, ... that is free and not refused by `is_reserved`.
  template <typename IsReserved>
  std::string take(const std::string& wish, const IsReserved& is_reserved) {
    if (!is_reserved(wish) && taken_.insert(wish).second) return wish;
    // Names are never given back, so the search goes on where the last one for this wish ended.
    int& number = next_.try_emplace(wish, 2).first->second;
    for (;; ++number) {
      std::string name = wish + "_" + std::to_string(number);
      if (!is_reserved(name) && taken_.insert(name).second) return name;
    }
  }
  std::string take(const std::string& wish) {
    return take(wish, [](const std::string&) { return false; });
  }

  // A name that is as it is; false: it is taken already.
  bool reserve(const std::string& name) { return taken_.insert(name).second; }
  bool contains(const std::string& name) const { return taken_.contains(name); }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // per wish: the number to try first
};

}  // namespace intarsia
