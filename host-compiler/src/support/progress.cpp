#include "intarsia/plugin/progress.h"

#include <fmt/format.h>

namespace intarsia {

std::string Progress::text() const {
  if (total > 0) return fmt::format("{}: {} of {}", what, done, total);
  if (done > 0) return fmt::format("{}: {}", what, done);
  return what;
}

}  // namespace intarsia
