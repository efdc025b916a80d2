// How compilers and linkers are started.
#pragma once

#include <filesystem>
#include <string>

#include "support/process.h"

namespace intarsia::build {

// Their temporary files lie beside `output`, in a folder that goes away with all that is in it: one that is ended by force
// leaves its own behind.
inline ProcessOptions tool_options(const std::string& output) {
  std::error_code error;
  ProcessOptions options;
  options.environment = {"TMPDIR=" +
                         std::filesystem::absolute(output, error).parent_path().string()};
  return options;
}

}  // namespace intarsia::build
