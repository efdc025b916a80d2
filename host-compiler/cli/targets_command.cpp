#include "targets_command.h"

#include <cstdio>

#include "target/target_list.h"

namespace intarsia::cli {

int run_targets_command(const TargetCatalogue& catalogue, std::optional<std::string> name,
                        bool json) {
  const Result<std::string> text = describe_targets(catalogue, name, json);
  if (!text) {
    std::fputs(text.error().to_string().c_str(), stderr);
    return 1;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace intarsia::cli
