#include "packaging/copy_tree.h"

#include <algorithm>
#include <filesystem>

#include "support/files.h"

namespace intarsia::packaging {

namespace fs = std::filesystem;

Result<std::vector<SourceFile>> copy_tree(const std::string& root, const std::string& folder,
                                          const std::string& into,
                                          const std::vector<std::string>& endings) {
  std::vector<SourceFile> files;
  std::error_code error;
  const fs::path base = fs::path(root) / folder;
  for (fs::recursive_directory_iterator it(base, error), end; !error && it != end;
       it.increment(error)) {
    const std::string extension = it->path().extension().string();
    if (!it->is_regular_file() ||
        std::find(endings.begin(), endings.end(), extension) == endings.end())
      continue;
    INTARSIA_TRY(std::string text, read_text_file(it->path().string()));
    // By its text: what the file system says of every folder on the way takes longer than reading the file.
    const std::string path = it->path().lexically_relative(base).generic_string();
    files.push_back({into.empty() ? path : into + "/" + path, std::move(text)});
  }
  if (error)
    return Diagnostics(base.string(), "the runtime's sources are not there: " + error.message(),
                       "set INTARSIA_ROOT to the folder that holds device-runtime/");
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace intarsia::packaging
