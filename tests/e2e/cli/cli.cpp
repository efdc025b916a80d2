#include "cli.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;

constexpr size_t kImageBytes = 64, kScoreBytes = 10;

std::vector<uint8_t> slice_of(const std::string& file, size_t size, int index) {
  const auto all = read_file(INTARSIA_SOURCE_DIR "/examples/digits/" + file);
  const auto begin = all->begin() + static_cast<std::ptrdiff_t>(size) * index;
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

std::string told(const ProcessOutcome& outcome) {
  return outcome.ending() + "\nstandard output:\n" + outcome.out + "\nstandard error:\n" +
         outcome.err;
}

}  // namespace

void Cli::SetUp() {
  unsetenv("INTARSIA_ROOT");
  unsetenv("TMPDIR");
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok()) << folder.error().to_string();
  owner_.emplace(std::move(folder).value());
  folder_ = owner_->path() + "/work";
  fs::create_directories(folder_);
  const std::string temporary = owner_->path() + "/temporary";
  fs::create_directories(temporary);
  setenv("TMPDIR", temporary.c_str(), 1);
}

void Cli::TearDown() {
  unsetenv("TMPDIR");
  std::error_code error;
  EXPECT_TRUE(fs::is_empty(owner_->path() + "/temporary", error)) << "temporary files are left";
}

ProcessOutcome Cli::intarsia(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), INTARSIA_PROGRAM);
  return program(arguments);
}

ProcessOutcome Cli::program(const std::vector<std::string>& command,
                            const std::string& directory) const {
  ProcessOptions options;
  options.directory = directory.empty() ? folder_ : path(directory);
  options.timeout = std::chrono::minutes(5);
  Result<ProcessOutcome> outcome = run_process(command, options);
  if (outcome.ok()) return std::move(outcome).value();
  ADD_FAILURE() << outcome.error().to_string();
  return {};
}

bool Cli::exists(const std::string& name) const {
  return fs::exists(path(name));
}

void Cli::write(const std::string& name, const std::vector<uint8_t>& bytes) const {
  write(name, std::string(bytes.begin(), bytes.end()));
}

void Cli::write(const std::string& name, const std::string& text) const {
  fs::create_directories(fs::path(path(name)).parent_path());
  const auto written = write_file(path(name), text);
  ASSERT_TRUE(written.ok()) << written.error().to_string();
}

std::vector<uint8_t> Cli::read(const std::string& name) const {
  const auto bytes = read_file(path(name));
  EXPECT_TRUE(bytes.ok()) << bytes.error().to_string();
  return bytes.ok() ? *bytes : std::vector<uint8_t>();
}

std::map<std::string, std::string> Cli::read_folder(const std::string& name) const {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(path(name))) {
    if (!entry.is_regular_file()) continue;
    files[fs::relative(entry.path(), path(name)).string()] = *read_text_file(entry.path().string());
  }
  return files;
}

void Cli::write_image(const std::string& name, int index) const {
  write(name, slice_of("test_images.bin", kImageBytes, index));
}

std::vector<uint8_t> Cli::recorded_scores(int index) {
  return slice_of("golden_outputs.bin", kScoreBytes, index);
}

std::string digits_path() {
  return INTARSIA_SOURCE_DIR "/examples/digits/digits.tflite";
}

std::vector<uint8_t> digits_bytes() {
  return *read_file(digits_path());
}

bool have_program(const std::string& name) {
  const auto outcome = run_process({name, "--version"});
  return outcome.ok() && outcome->succeeded();
}

testing::AssertionResult refused(const ProcessOutcome& outcome,
                                 const std::vector<std::string>& words) {
  if (outcome.exit_code != kUserError) return testing::AssertionFailure() << told(outcome);
  if (!outcome.out.empty())
    return testing::AssertionFailure() << "something was printed\n" << told(outcome);
  for (const std::string& word : words)
    if (outcome.err.find(word) == std::string::npos)
      return testing::AssertionFailure() << "'" << word << "' is not in the message\n"
                                         << told(outcome);
  if (outcome.err.empty() || outcome.err.back() != '\n')
    return testing::AssertionFailure() << "the message is no line\n" << told(outcome);
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line);)
    if (line.find(": ") == std::string::npos)
      return testing::AssertionFailure() << "a line without a place: " << line;
  return testing::AssertionSuccess();
}

testing::AssertionResult done(const ProcessOutcome& outcome) {
  if (outcome.exit_code == kDone && outcome.err.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << told(outcome);
}

testing::AssertionResult usage_error(const ProcessOutcome& outcome, const std::string& word) {
  if (outcome.exit_code == kUsage && outcome.err.find(word) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no usage error about '" << word << "'\n" << told(outcome);
}

}  // namespace intarsia::test
