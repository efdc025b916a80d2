// Models and golden data that lie beside the sources, not among them: $INTARSIA_SHARED or
// ../shared.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "needs.h"

namespace intarsia::test {

inline std::filesystem::path shared_folder() {
  const char* folder = std::getenv("INTARSIA_SHARED");
  return folder ? folder : INTARSIA_SHARED_DEFAULT;
}

// Empty when there is no such file.
inline std::vector<uint8_t> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<uint8_t> bytes(file ? static_cast<size_t>(file.tellg()) : 0);
  file.seekg(0).read(reinterpret_cast<char*>(bytes.data()),
                     static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

}  // namespace intarsia::test

// For the first line of a test.
#define INTARSIA_NEEDS_SHARED(path)                                         \
  if (!std::filesystem::exists(::intarsia::test::shared_folder() / (path))) \
  GTEST_SKIP() << ::intarsia::test::needs("shared-data") << "no "           \
               << (::intarsia::test::shared_folder() / (path)).string() << "; set INTARSIA_SHARED"
