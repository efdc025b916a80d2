#include "file_text.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "quoted_text.h"

namespace intarsia {

namespace {

constexpr uintmax_t kMaxFileSize = 1024 * 1024;

}  // namespace

Result<std::string> read_small_file(const std::string& path, const std::string& where) {
  const auto fail = [&](const std::string& why, const std::string& hint = {}) {
    return Diagnostics(where, fmt::format("cannot read {}: {}", in_quotes(path), why), hint);
  };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return fail("there is no such file", "check the path");
  if (!std::filesystem::is_regular_file(status)) return fail("it is not a regular file");
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kMaxFileSize) return fail("it is larger than a megabyte");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) return fail("reading failed", "check its permissions");
  return text;
}

}  // namespace intarsia
