// The page of a report made again: with another report to compare with, and with a trace of simulated devices.
#include <filesystem>

#include <fmt/format.h>

#include "commands.h"
#include "intarsia/report.h"
#include "support/files.h"

namespace intarsia::cli {

std::string report_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? path + "/report.json" : path;
}

namespace {

Result<std::string> make_page(const ReportCommand& command) {
  ReportPageExtras extras;
  Diagnostics problems;
  const auto read = [&](const std::string& path) {
    Result<std::string> text = read_text_file(path);
    if (!text.ok()) problems.append(text.error());
    return text.ok() ? *std::move(text) : std::string();
  };
  const std::string name = report_file(command.report);
  const std::string report = read(name);
  const auto read_extra = [&](const std::string& path, std::string& text, std::string& name_of) {
    if (path.empty()) return;
    name_of = path;
    text = read(path);
    if (text.empty() && problems.empty())
      problems.add(path, "is empty", "name a file that 'intarsia' wrote");
  };
  read_extra(command.baseline.empty() ? "" : report_file(command.baseline), extras.baseline,
             extras.baseline_name);
  read_extra(command.trace, extras.trace, extras.trace_name);
  if (!problems.empty()) return problems;
  return report_page(report, name, extras);
}

}  // namespace

int run_report(const ReportCommand& command) {
  const Result<std::string> page = make_page(command);
  if (!page.ok()) return fail(page.error());
  if (const Result<void> written = write_file(command.output_file, *page); !written.ok())
    return fail(written.error());
  fmt::print("{}\n", command.output_file);
  return kDone;
}

}  // namespace intarsia::cli
