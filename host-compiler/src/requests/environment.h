// What there is to choose from: the targets of this build with a user's tags, and the boards.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "intarsia/plugin/target_kind.h"

namespace intarsia::requests {

struct Environment {
  TargetRegistry registry;    // the composition root fills it
  std::string resource_root;  // as in PackageOptions

  std::string boards_folder() const { return resource_root + "/boards"; }
  // Where boards are looked for: the folders of INTARSIA_BOARDS, in their order, then the one above. A folder of
  // INTARSIA_BOARDS that is not there is an error, and so is an INTARSIA_ROOT without boards.
  Result<std::vector<std::string>> board_folders() const;
  // A user's target tags; a file that is loaded already, or none (""), is nothing to do.
  Result<void> load_tags(const std::string& file);

 private:
  std::set<std::string> loaded_tags_;
};

}  // namespace intarsia::requests
