#include "intarsia/check.h"

#include <cstdio>
#include <cstdlib>

namespace intarsia {

void check_failed(const char* file, int line, const char* condition, const std::string& assumed) {
  std::fprintf(stderr, "intarsia: internal error at %s:%d: %s (%s); please report this\n", file,
               line, assumed.c_str(), condition);
  std::fflush(nullptr);
  std::_Exit(3);
}

}  // namespace intarsia
