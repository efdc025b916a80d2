// Figures against those of an earlier report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "budgets/figures.h"
#include "budgets/limits.h"

namespace intarsia::budgets {

struct Change {
  std::string figure;  // "ram of sram", "flash", "cycles"
  Unit unit = Unit::Bytes;
  int64_t before = 0, now = 0;
  int64_t allowed = 0;     // the most that it may be
  bool is_detail = false;  // a share of another figure: shown, never too much by itself

  bool changed() const { return before != now; }
  bool too_much() const { return !is_detail && now > allowed; }
};

// An operator that another device runs than before. Empty: there is no such operator then.
struct Moved {
  std::string name, before, now;
};

struct Comparison {
  std::string baseline;  // its file
  Growth growth = 0;     // that is allowed
  std::vector<Change> changes;
  std::vector<Moved> moved;
  std::vector<std::string> notes;  // what makes figures differ although the model does not

  bool passed() const;
};

// `file` names the baseline. Fails where the two are not comparable: another board or target, or figures that the
// baseline has and that cannot be measured now.
Result<Comparison> compare(const Figures& baseline, const std::string& file, const Figures& now,
                           Growth growth);

}  // namespace intarsia::budgets
