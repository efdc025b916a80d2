// For harnesses: a failed INTARSIA_CHECK ends as a signal, which every fuzzer takes for what it is. On its own it ends
// the process in an orderly way.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "intarsia/check_handler.h"

extern "C" __attribute__((used)) inline int LLVMFuzzerInitialize(int*, char***) {
  intarsia::set_check_handler([](const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    std::abort();
  });
  return 0;
}
