// Runs the built command line in a folder of the test's own. At the end of a test, nothing may be left
// of the program's temporary files.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/files.h"
#include "support/process.h"

namespace intarsia::test {

enum ExitCode { kDone = 0, kUserError = 1, kUsage = 2 };

class Cli : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // In the test's folder; relative paths are inside of it.
  ProcessOutcome intarsia(std::vector<std::string> arguments) const;
  // Any other program.
  ProcessOutcome program(const std::vector<std::string>& command,
                         const std::string& directory = "") const;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  bool exists(const std::string& name) const;
  void write(const std::string& name, const std::vector<uint8_t>& bytes) const;
  void write(const std::string& name, const std::string& text) const;
  std::vector<uint8_t> read(const std::string& name) const;
  // Every file below a folder, by its path in it.
  std::map<std::string, std::string> read_folder(const std::string& name) const;

  // Image `index` of the digits, as file `name`; and the recorded scores for it.
  void write_image(const std::string& name, int index) const;
  static std::vector<uint8_t> recorded_scores(int index);

 private:
  std::optional<TemporaryFolder> owner_;
  std::string folder_;
};

// Of examples/, which every clone has.
std::string digits_path();
std::vector<uint8_t> digits_bytes();

bool have_program(const std::string& name);

// Exit code 1, nothing on standard output, and a message with all of the words; every line of it says
// where and what.
testing::AssertionResult refused(const ProcessOutcome& outcome,
                                 const std::vector<std::string>& words);
// Exit code 0 and nothing on standard error.
testing::AssertionResult done(const ProcessOutcome& outcome);
// Exit code 2 and a message with the word.
testing::AssertionResult usage_error(const ProcessOutcome& outcome, const std::string& word);

}  // namespace intarsia::test
