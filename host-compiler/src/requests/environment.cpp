#include "requests/environment.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

namespace intarsia::requests {

Result<std::vector<std::string>> Environment::board_folders() const {
  std::vector<std::string> folders;
  Diagnostics problems;
  if (const char* given = std::getenv("INTARSIA_BOARDS")) {
    std::istringstream list(given);
    for (std::string folder; std::getline(list, folder, ':');) {
      std::error_code error;
      if (folder.empty()) continue;
      if (!std::filesystem::is_directory(folder, error))
        problems.add("INTARSIA_BOARDS", fmt::format("there is no folder '{}'", folder),
                     "list folders that hold boards, with ':' between them");
      folders.push_back(folder);
    }
  }
  std::error_code error;
  if (const char* given = std::getenv("INTARSIA_ROOT");
      given != nullptr && given == resource_root &&
      !std::filesystem::is_directory(boards_folder(), error))
    problems.add(
        "INTARSIA_ROOT", fmt::format("there is no folder '{}'", boards_folder()),
        "set it to the folder that holds boards/, device-runtime/ and targets/, or not at all");
  if (!problems.empty()) return problems;
  folders.push_back(boards_folder());
  return folders;
}

Result<void> Environment::load_tags(const std::string& file) {
  if (file.empty() || loaded_tags_.contains(file)) return {};
  INTARSIA_TRY_VOID(registry.catalogue().load_tags_file(file));
  loaded_tags_.insert(file);
  return {};
}

}  // namespace intarsia::requests
