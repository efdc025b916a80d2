// A folder that `compile` writes is the old one or the new one, whatever happens between.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "intarsia/plugin/artifacts.h"
#include "intarsia/result.h"
#include "support/file_operations.h"

namespace intarsia::packaging {

struct NewFolder {
  std::string folder;
  std::vector<SourceFile> files;
  // Of an earlier compilation, and replaced or removed; other files of the folder stay.
  std::set<std::string> earlier;
  bool overwrite = false;  // files that are not in `earlier` but in the way: else they are refused
  // What stands in for `guard` while files are replaced one by one (below), a path of `files`.
  std::string guard, guard_text;
};

// The new folder is made aside, beside the old one and with the other files of it, and the two change places in one
// step. Where that cannot be (a mount point, the current folder, a file system without it), files are replaced one by
// one: `guard` says so from the first to the last of them.
Result<void> replace_folder(const NewFolder& wanted, FileOperations& operations);

}  // namespace intarsia::packaging
