#include "support/file_operations.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string_view>

namespace intarsia {

namespace fs = std::filesystem;

std::error_code FileOperations::make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return error;
}

std::error_code FileOperations::write(const fs::path& file, const Content& content) {
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  content([&](std::string_view piece) {
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  });
  out.close();
  if (out) return {};
  return {errno != 0 ? errno : EIO, std::generic_category()};
}

std::error_code FileOperations::rename(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  return error;
}

std::error_code FileOperations::exchange(const fs::path& a, const fs::path& b) {
  // The system call: the C library's function for it is younger than the kernel's.
  if (syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0)
    return {};
  return {errno, std::generic_category()};
}

std::error_code FileOperations::link(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::is_symlink(from, error)) {
    fs::copy_symlink(from, to, error);
    return error;
  }
  fs::create_hard_link(from, to, error);
  if (error) fs::copy_file(from, to, error);
  return error;
}

std::error_code FileOperations::remove(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  return error;
}

std::error_code FileOperations::remove_all(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error;
}

}  // namespace intarsia
