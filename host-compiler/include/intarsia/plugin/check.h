// INTARSIA_CHECK: our own invariant is broken; say what was assumed and stop here (exit code 3).
// For the user's mistakes use Result and Diagnostics instead.
#pragma once

#include <string>

namespace intarsia {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& assumed);

}  // namespace intarsia

#define INTARSIA_CHECK(condition, assumed)                                               \
  do {                                                                                   \
    if (!(condition)) ::intarsia::check_failed(__FILE__, __LINE__, #condition, assumed); \
  } while (false)
