// One program at a time replaces a folder: what the others find is then whole, and what they put there as well.
#pragma once

#include <filesystem>
#include <memory>

#include "support/interrupt.h"

namespace intarsia {

// Waits for the others. The lock is a file beside the folder, which is gone with the last of them; where none can be made
// (a folder in one that we may not write into) there is no lock, and whoever comes at the same moment may be refused.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::unique_ptr<interrupt::RemovedPath> file_;
  int descriptor_ = -1;
};

}  // namespace intarsia
