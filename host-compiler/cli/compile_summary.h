// What `compile` prints: what was made and what it needs, on one screen of 24 lines and 80 columns whatever the model. The
// report has the rest.
#pragma once

#include <string>

#include "program.h"
#include "terminal.h"

namespace intarsia::cli {

struct CompileSummary {
  std::string board, target, folder;
  const ProgramReport& report;
};
std::string compile_summary(const CompileSummary& made, const Terminal& terminal);

}  // namespace intarsia::cli
