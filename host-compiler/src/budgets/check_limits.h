// Figures against limits.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "budgets/figures.h"
#include "budgets/limits.h"

namespace intarsia::budgets {

// One limit, the figure it is for, and what decides that figure.
struct Verdict {
  Limit limit;
  int64_t figure = 0;
  // Where the figure comes from, in words, and its largest shares: of RAM the tensors that are alive where most of it is
  // in use, of flash the code and the operators with most constants, of cycles the operators with most.
  struct Reason {
    std::string text;  // "sram is fullest at 'conv_1' (3200 bytes)"
    std::vector<Share> shares;
  };
  std::vector<Reason> reasons;

  bool exceeded() const { return figure > limit.most; }
  int64_t excess() const { return figure - limit.most; }
};

// A verdict for each limit, in their order. Fails where a limit is for something that the figures do not have: a memory
// that the board has not, flash that was not measured; and where two limits are for one thing.
Result<std::vector<Verdict>> check_limits(const Figures& figures, std::span<const Limit> limits);

}  // namespace intarsia::budgets
