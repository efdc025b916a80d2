// Sources of the runtime and of targets, as files of a package.
#pragma once

#include <string>
#include <vector>

#include "intarsia/plugin/artifacts.h"
#include "intarsia/result.h"

namespace intarsia::packaging {

// Every file below root/folder with one of the endings, placed below `into`, which may be
// empty; sorted by path.
Result<std::vector<SourceFile>> copy_tree(const std::string& root, const std::string& folder,
                                          const std::string& into,
                                          const std::vector<std::string>& endings);

}  // namespace intarsia::packaging
