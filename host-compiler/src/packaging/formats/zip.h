// A zip archive of files, not compressed, the same bytes every time (APPNOTE.TXT 4.3, version 2.0 of the format).
#pragma once

#include <string>
#include <vector>

#include "intarsia/plugin/artifacts.h"

namespace intarsia::packaging {

// Written piece by piece, so that large files are never in memory as a whole. At most 65,535 files and 4 GiB.
SourceFile zip(const std::string& path, std::vector<SourceFile> files);

}  // namespace intarsia::packaging
