// For the first line of a test that makes objects.
#pragma once

#include <gtest/gtest.h>

#include "needs.h"

namespace intarsia::test {

#ifdef INTARSIA_HAS_LLVM
inline constexpr bool kHasLlvm = true;
#else
inline constexpr bool kHasLlvm = false;
#endif

}  // namespace intarsia::test

#define INTARSIA_NEEDS_LLVM()      \
  if (!::intarsia::test::kHasLlvm) \
  GTEST_SKIP() << ::intarsia::test::needs("llvm") << "built without LLVM and its clang"
