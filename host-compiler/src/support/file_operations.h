// What changes the file system, behind functions that a test can let fail or stop at any of them.
#pragma once

#include <filesystem>
#include <functional>
#include <system_error>

#include "intarsia/plugin/artifacts.h"

namespace intarsia {

class FileOperations {
 public:
  virtual ~FileOperations() = default;

  virtual std::error_code make_folders(const std::filesystem::path& folder);  // parents too
  // What `content` gives to its sink, piece by piece.
  using Content = std::function<void(const TextSink&)>;
  virtual std::error_code write(const std::filesystem::path& file, const Content& content);
  // Atomic: `to` is the old one or the new one, at every moment.
  virtual std::error_code rename(const std::filesystem::path& from,
                                 const std::filesystem::path& to);
  // Atomic: both exist, and each is the other afterwards. Fails where the file system cannot.
  virtual std::error_code exchange(const std::filesystem::path& a, const std::filesystem::path& b);
  // The same file, or the same symbolic link, in a second place; a copy where that cannot be.
  virtual std::error_code link(const std::filesystem::path& from, const std::filesystem::path& to);
  virtual std::error_code remove(const std::filesystem::path& path);  // a file, or an empty folder
  virtual std::error_code remove_all(const std::filesystem::path& path);
};

}  // namespace intarsia
