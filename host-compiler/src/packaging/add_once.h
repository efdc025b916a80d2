#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace intarsia::packaging {

inline void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace intarsia::packaging
