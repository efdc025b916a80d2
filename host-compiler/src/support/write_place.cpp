#include "support/write_place.h"

#include <charconv>
#include <filesystem>

namespace intarsia {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the system follows

// Of /proc/self/fd/1, whatever way leads there.
std::optional<int> descriptor_of(const fs::path& path) {
  // The name first: almost every file has another one, and the folders need not be looked at.
  const std::string name = path.filename().string();
  int number = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (problem != std::errc() || end != name.data() + name.size()) return std::nullopt;
  std::error_code error;
  const fs::path folder = fs::canonical(path.parent_path(), error);
  if (error || folder != fs::canonical("/proc/self/fd", error) || error) return std::nullopt;
  return number;
}

bool is_stream(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  return type == fs::file_type::character || type == fs::file_type::block ||
         type == fs::file_type::fifo || type == fs::file_type::socket;
}

}  // namespace

WritePlace place_to_write(const std::string& path) {
  std::error_code error;
  fs::path at = path;
  // A relative path of one name lies in no folder by its text.
  if (!at.has_parent_path()) at = fs::path(".") / at;
  for (int links = 0; links < kMostLinks; ++links) {
    if (const std::optional<int> descriptor = descriptor_of(at))
      return {at.string(), descriptor, true};
    if (!fs::is_symlink(at, error)) break;
    const fs::path next = fs::read_symlink(at, error);
    if (error) break;
    at = at.parent_path() / next;  // of an absolute one that alone
  }
  // In the words of who named it, where no link was followed.
  const bool is_same = at == fs::path(path) || at == fs::path(".") / path;
  return {is_same ? path : at.string(), std::nullopt, is_stream(at)};
}

}  // namespace intarsia
