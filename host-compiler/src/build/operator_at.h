// Which operator of a model an address of its program belongs to, by the lines of the generated C.
#pragma once

#include <string>
#include <vector>

#include "board/cycles/cycle_listing.h"
#include "intarsia/build.h"

namespace intarsia::build {

class OperatorMap {
 public:
  // Of a program that was built with -g.
  static Result<OperatorMap> of(const BuildSetting& setting, const std::string& program);

  // Null where the instruction there belongs to none.
  const board::OperatorLines* at(uint32_t address) const;
  // The same of the instruction that ends there: a call, of an address that it returns to.
  const board::OperatorLines* before(uint32_t address) const;

 private:
  std::vector<board::CodeInstruction> code_;  // by address
  std::vector<board::OperatorLines> operators_;
};

}  // namespace intarsia::build
