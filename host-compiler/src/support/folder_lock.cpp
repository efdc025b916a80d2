#include "support/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace intarsia {
namespace {

namespace fs = std::filesystem;

bool is_file(int descriptor, const std::string& path) {
  struct stat held = {}, there = {};
  return fstat(descriptor, &held) == 0 && stat(path.c_str(), &there) == 0 &&
         held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

bool lock(int descriptor) {
  while (flock(descriptor, LOCK_EX) != 0)
    if (errno != EINTR) return false;
  return true;
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(fs::absolute(folder, error), error);
  if (target.filename().empty()) target = target.parent_path();
  if (error || target.filename().empty()) return;
  fs::create_directories(target.parent_path(), error);
  const std::string path =
      (target.parent_path() / ("." + target.filename().string() + ".intarsia-lock")).string();
  for (;;) {
    const int made = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (made < 0) return;
    const bool is_locked = lock(made);
    // Who had it before has removed the file, and another may have made a new one.
    if (is_locked && is_file(made, path)) {
      descriptor_ = made;
      file_ = std::make_unique<interrupt::RemovedPath>(path);
      return;
    }
    close(made);
    if (!is_locked) return;  // a file system that has no locks
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) return;
  unlink(file_->path().c_str());
  close(descriptor_);
}

}  // namespace intarsia
