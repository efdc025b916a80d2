// Compiling many sources, several at a time.
#pragma once

#include <string>
#include <vector>

#include "intarsia/build.h"

namespace intarsia::build {

struct Job {
  std::vector<std::string> command;  // without the names of source and object
  std::vector<std::string> include_dirs;
  std::string source;
  std::string directory;  // where the command runs; empty: here
  std::string object;
  bool same_for_every_model = false;  // may come from the cache
};

// Fails with what the compiler said about the first source that it refused.
Result<void> run_jobs(const BuildSetting& setting, const std::vector<Job>& jobs);

}  // namespace intarsia::build
