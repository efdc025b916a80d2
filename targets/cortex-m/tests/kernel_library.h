// The kernels for this machine, through the portable twins of the cores' instructions.
#pragma once

#include <string>

namespace intarsia::test::cortex_m {

// Path of a shared library of all kernels, by this compiler with every warning an error: the one that the build compiled with its
// own compiler, or one that this process compiles once. Empty after a failure, which is the test's.
std::string kernel_library(const std::string& compiler);
// What a program that calls kernels is compiled and linked with.
std::string flags_with_kernels(const std::string& compiler);

}  // namespace intarsia::test::cortex_m
