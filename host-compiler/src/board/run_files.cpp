// The files that host and firmware exchange: the run file, the report, the instruction counts.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "board/board_firmware.h"
#include "support/files.h"

namespace intarsia::board {
namespace {

// The firmware reads lines of up to 511 characters (boards/common/run_file.h), "output " included.
constexpr size_t kMaxPath = 500;

void add_path(std::string& text, const char* key, const std::string& path, Diagnostics& problems) {
  if (path.empty() || path.find('\n') != std::string::npos) {
    problems.add(path, fmt::format("is no path the firmware can take as {}", key));
  }
  if (path.size() > kMaxPath) {
    problems.add(path, fmt::format("is longer than the {} characters a firmware takes", kMaxPath),
                 "use a folder with a shorter name");
  }
  text += fmt::format("{} {}\n", key, path);
}

}  // namespace

Result<std::string> run_file_text(const RunRequest& request) {
  Diagnostics problems;
  if (request.repeat < 1 || request.repeat > 99'999'999) {
    problems.add("--repeat", fmt::format("{} is not between 1 and 99999999", request.repeat));
  }
  std::string text =
      fmt::format("repeat {}\nkeep {}\n", request.repeat, request.keep_all ? "all" : "last");
  // The report first: it exists then even when a later line is at fault.
  if (!request.report.empty()) add_path(text, "report", request.report, problems);
  if (!request.results.empty()) add_path(text, "results", request.results, problems);
  if (!request.package.empty()) add_path(text, "package", request.package, problems);
  for (const std::string& path : request.inputs) add_path(text, "input", path, problems);
  for (const std::string& path : request.outputs) add_path(text, "output", path, problems);
  if (!request.joined_inputs.empty()) add_path(text, "inputs", request.joined_inputs, problems);
  if (!request.joined_outputs.empty()) add_path(text, "outputs", request.joined_outputs, problems);
  if (!problems.empty()) return problems;
  return text;
}

Result<std::vector<uint64_t>> read_counts(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return Diagnostics(path, "the instruction counts are missing",
                       "the counting plugin needs a QEMU with plugin interface 1 (4.2 to 8.x)");
  }
  std::vector<uint64_t> counts;
  uint64_t count = 0;
  while (file >> count) counts.push_back(count);
  if (!file.eof()) return Diagnostics(path, "is not a list of instruction counts");
  return counts;
}

Result<std::vector<CycleCount>> read_cycle_counts(const std::string& path) {
  const Diagnostics wrong(path, "is not a list of cycle counts");
  std::ifstream file(path);
  if (!file)
    return Diagnostics(path, "the cycle counts are missing",
                       "the counting plugin needs a QEMU with plugin interface 1 (4.2 to 8.x)");
  const auto cycles_of = [](const nlohmann::json& numbers, size_t first) {
    return EstimatedCycles{numbers.at(first), numbers.at(first + 1), numbers.at(first + 2)};
  };
  std::vector<CycleCount> counts;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("instructions") || !json.contains("cycles") ||
        json["cycles"].size() != 3 || !json.contains("operators"))
      return wrong;
    CycleCount count;
    count.instructions = json["instructions"];
    count.cycles = cycles_of(json["cycles"], 0);
    for (const nlohmann::json& part : json["operators"]) {
      if (part.size() != 5) return wrong;
      count.parts.push_back({part[0], part[1], cycles_of(part, 2)});
    }
    if (json.contains("unknown")) count.unknown = json["unknown"].get<uint32_t>();
    counts.push_back(std::move(count));
  }
  return counts;
}

Result<RunReport> read_run_report(const std::string& path) {
  INTARSIA_TRY(const std::string text, read_text_file(path));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto field = [&json](const char* key) -> std::optional<int32_t> {
    if (!json.is_object()) return std::nullopt;
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<int32_t>();
  };
  const std::optional<int32_t> exit_status = field("exit_status");
  const std::optional<int32_t> runs = field("runs");
  if (!exit_status || !runs) return Diagnostics(path, "the firmware left no report");
  RunReport report;
  report.exit_status = *exit_status;
  report.runs = *runs;
  report.model_status = field("model_status").value_or(0);
  report.stack_run = field("stack_run").value_or(-1);
  report.stack_total = field("stack_total").value_or(-1);
  report.stack_size = field("stack_size").value_or(-1);
  return report;
}

std::string exit_status_meaning(int exit_status) {
  // enum intarsia_exit in boards/common/include/intarsia_board/port.h.
  switch (exit_status) {
    case 0:
      return "done";
    case 10:
      return "the firmware could not read its run file";
    case 11:
      return "an input file is missing or has the wrong size";
    case 12:
      return "an output or the report could not be written";
    case 13:
      return "the model's init or run returned an error status";
    case 14:
      return "the processor took a fault";
    default:
      return fmt::format("the program ended with status {}", exit_status);
  }
}

}  // namespace intarsia::board
