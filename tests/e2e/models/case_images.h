// Many recorded cases in one firmware: each is a model with a descriptor of its own, one more descriptor
// runs them all, so that a board's emulator starts once for dozens of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance_case.h"

namespace intarsia::test {

struct RecordedCase {
  fs::path folder;
  nlohmann::json meta;
  std::string name() const { return folder.filename().string(); }
};

// Cases of a folder whose inputs and outputs are all integers, in order of names; not the optional ones.
std::vector<RecordedCase> integer_cases(const fs::path& root);

// The cases on the board's first core with its default target. One line per case whose outputs are not as
// recorded or that could not be compiled; an image that does not build or run fails as a whole.
struct BoardOutcome {
  int cases = 0, images = 0;
  std::vector<std::string> failures;
};
Result<BoardOutcome> run_on_board(const std::vector<RecordedCase>& cases, const std::string& board);

}  // namespace intarsia::test
