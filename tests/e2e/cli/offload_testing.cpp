#include "offload_testing.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace intarsia::test {

ProcessOutcome Offload::offload(const std::string& model, const std::string& target,
                                std::vector<std::string> more) const {
  std::vector<std::string> command = {"compile",  model,    "--target", target,
                                      "--format", "tflite", "-o",       "out.tflite"};
  command.insert(command.end(), more.begin(), more.end());
  return intarsia(command);
}

std::vector<std::vector<uint8_t>> Offload::results(const std::string& model,
                                                   const std::string& target,
                                                   const std::vector<std::string>& inputs) const {
  std::vector<std::string> command = {"run",          model,     "--target", target,
                                      "--output-dir", "results", "--repeat", "2"};
  for (const std::string& input : inputs) {
    command.emplace_back("--input");
    command.push_back(input);
  }
  const ProcessOutcome outcome = intarsia(command);
  EXPECT_TRUE(outcome.succeeded()) << outcome.err;
  std::vector<std::vector<uint8_t>> outputs;
  for (int i = 0; exists("results/out" + std::to_string(i) + ".bin"); ++i) {
    outputs.push_back(read("results/out" + std::to_string(i) + ".bin"));
    std::filesystem::remove(path("results/out" + std::to_string(i) + ".bin"));
  }
  EXPECT_FALSE(outputs.empty());
  return outputs;
}

Table table_of(const std::vector<uint8_t>& bytes) {
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  const auto cells = [&]() -> std::vector<std::string> {
    std::string line, cell;
    std::vector<std::string> result;
    if (!std::getline(lines, line)) return result;
    for (std::istringstream row(line); std::getline(row, cell, ',');) result.push_back(cell);
    return result;
  };
  const std::vector<std::string> header = cells();
  Table table;
  for (std::vector<std::string> row = cells(); !row.empty(); row = cells()) {
    EXPECT_EQ(row.size(), header.size());
    auto& named = table.emplace_back();
    for (size_t i = 0; i < std::min(row.size(), header.size()); ++i) named[header[i]] = row[i];
  }
  return table;
}

std::string python_with(const std::string& package) {
  const char* folders = std::getenv("INTARSIA_PEERS");
  std::istringstream list(folders == nullptr ? "" : folders);
  for (std::string folder; std::getline(list, folder, ':');) {
    std::string python = folder + "/bin/python";
    const Result<ProcessOutcome> ran = run_process({python, "-c", "import " + package});
    if (ran.ok() && ran->succeeded()) return python;
  }
  return "";
}

}  // namespace intarsia::test
