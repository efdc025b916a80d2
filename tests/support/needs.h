// What a test needs beside the repository and a C++ compiler. A test that lacks it says so by name, so that a run can
// count what it left out and why, and continuous integration can refuse to leave out what it must have.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace intarsia::test {

inline constexpr char kNeedsWords[] = "needs ";

// For the first words of a GTEST_SKIP(): `GTEST_SKIP() << needs("clang") << "it is not installed"`.
// Names in use: cross-toolchain, riscv-toolchain, linux-toolchain, x86-vectors, clang, llvm, dnnl, arm-acl, cppcheck, make, cargo, opencl-device, thread-sanitizer,
// shared-data, onnx-node-tests, cmsis-schemas, zephyr, platformio, idf-component-manager, rust-for-cores, browser, zsh-and-fish, man,
// ethos-u-core-driver, nvidia-gpu, cuda-tools, python-module, python-packages, training-packages, docs-site.
inline std::string needs(const std::string& name) {
  return kNeedsWords + name + ": ";
}

// The name in such a message; "" in any other.
inline std::string need_of(const std::string& message) {
  const size_t at = message.find(kNeedsWords);
  if (at == std::string::npos) return "";
  const size_t begin = at + sizeof kNeedsWords - 1, end = message.find(": ", begin);
  return end == std::string::npos ? "" : message.substr(begin, end - begin);
}

}  // namespace intarsia::test
