// Names that are given once each, in constant time: `hint`, or hint_2, hint_3, ... The number of a
// name does not depend on the others' hints, only on which names are taken.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace intarsia {

class UniqueNames {
 public:
  // Takes the first of hint, hint_2, hint_3, ... that is free and not refused by `is_reserved`.
  template <typename IsReserved>
  std::string take(const std::string& hint, const IsReserved& is_reserved) {
    if (!is_reserved(hint) && taken_.insert(hint).second) return hint;
    // Names are never given back, so the search goes on where the last one for this hint ended.
    int& number = next_.try_emplace(hint, 2).first->second;
    for (;; ++number) {
      std::string name = hint + "_" + std::to_string(number);
      if (!is_reserved(name) && taken_.insert(name).second) return name;
    }
  }
  std::string take(const std::string& hint) {
    return take(hint, [](const std::string&) { return false; });
  }

  // A name that is as it is; false: it is taken already.
  bool reserve(const std::string& name) { return taken_.insert(name).second; }
  bool contains(const std::string& name) const { return taken_.contains(name); }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // per hint: the number to try first
};

}  // namespace intarsia
