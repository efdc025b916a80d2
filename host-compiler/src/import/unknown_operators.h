// What a user can do about an operator of a model that Intarsia does not have.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace intarsia::import {

// By the type of the operator, as the format calls it: "FlexErf", "NON_MAX_SUPPRESSION_V4", "Loop". Whoever has no advice
// of its own gets `otherwise`.
std::string what_to_do(std::string_view type, std::string_view otherwise);

// Operators of one type that is not known, told in one line: the first in full, the others by their numbers.
class UnknownType {
 public:
  void add(int index);
  // " and 3 more: operators 4, 7, 9"; empty when there is one only.
  std::string others() const;

 private:
  std::vector<int> indices_;
};

}  // namespace intarsia::import
