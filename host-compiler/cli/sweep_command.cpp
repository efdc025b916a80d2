#include "sweep_command.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "requests/sweep.h"
#include "requests/sweep_page.h"
#include "requests/sweep_shown.h"
#include "support/amounts.h"
#include "support/files.h"
#include "text_table.h"

namespace intarsia::cli {
namespace {

using requests::Figure;
using requests::SweepRow;

constexpr const char* kNoBudget = "none";

enum class FileKind : uint8_t { Json, Csv, Svg, Html };

// By the end of the file's name, or, where that says nothing, as `otherwise` says.
std::optional<FileKind> kind_of(const std::string& path, std::optional<FileKind> otherwise) {
  const std::string end = std::filesystem::path(path).extension().string();
  if (end == ".json") return FileKind::Json;
  if (end == ".csv") return FileKind::Csv;
  if (end == ".svg") return FileKind::Svg;
  if (end == ".html" || end == ".htm") return FileKind::Html;
  return otherwise;
}

struct SweepFiles {
  std::optional<FileKind> output, plot;
};

// What can be wrong with the command's own options, before time is spent on compiling.
Result<SweepFiles> check_command(const SweepCommand& command) {
  Diagnostics problems;
  SweepFiles files;
  const auto check_folder = [&](const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (!folder.empty() && !std::filesystem::is_directory(folder, error))
      problems.add(path, fmt::format("there is no folder '{}'", folder.string()), "make it first");
  };
  if (!command.output_file.empty()) {
    files.output =
        kind_of(command.output_file, command.csv           ? std::optional(FileKind::Csv)
                                     : command.common.json ? std::optional(FileKind::Json)
                                                           : std::nullopt);
    if (files.output != FileKind::Json && files.output != FileKind::Csv)
      problems.add(command.output_file, "is neither a .csv nor a .json",
                   "give it such a name; --plot draws");
    check_folder(command.output_file);
  }
  if (!command.plot_file.empty()) {
    files.plot = kind_of(command.plot_file, std::nullopt);
    if (files.plot != FileKind::Svg && files.plot != FileKind::Html)
      problems.add(command.plot_file, "is neither a .svg nor a .html",
                   "give it such a name; -o writes the rows");
    check_folder(command.plot_file);
  }
  if (command.no_measure && command.common.flash_budget)
    problems.add("--flash-budget", "needs flash to be measured", "leave --no-measure out");
  if (!problems.empty()) return problems;
  return files;
}

std::vector<Figure> figures_of(const std::vector<std::string>& names) {
  std::vector<Figure> figures;
  for (const std::string& name : names)
    if (const std::optional<Figure> figure = requests::figure_named(name);
        figure && std::find(figures.begin(), figures.end(), *figure) == figures.end())
      figures.push_back(*figure);
  return figures;
}

requests::SweepRequest request_of(const SweepCommand& command) {
  requests::SweepRequest request{command.common, command.models, command.targets, command.boards};
  for (const std::string& text : command.ram_budgets)
    request.ram_budgets.push_back({.bytes = text == kNoBudget || text == requests::kAutoSweepBudget
                                                ? std::nullopt
                                                : parse_bytes(text),
                                   .is_auto = text == requests::kAutoSweepBudget});
  request.attributes = command.attributes;
  request.measures = !command.no_measure;
  request.jobs = command.jobs;
  request.on_progress = [listener = progress_listener()](size_t ready, size_t all) {
    if (listener)
      listener({"choices compiled", static_cast<int64_t>(ready), static_cast<int64_t>(all)});
  };
  return request;
}

// What holds for one model and target is said once, whatever boards and budgets it was compiled for.
void print_notes(const std::vector<SweepRow>& rows) {
  std::set<std::string> said;
  for (const SweepRow& row : rows)
    for (const std::string& note : row.notes) {
      const std::string text = fmt::format("{} for {}: {}", row.model, row.choice, note);
      if (said.insert(text).second) print_note(text);
    }
}

std::string table_of(const requests::ShownSweep& shown) {
  const Terminal& terminal = output_terminal();
  std::vector<TableRow> table;
  TableRow heading;
  for (const std::string& text : shown.headings) heading.push_back({text});
  table.push_back(heading);
  for (const std::vector<std::string>& cells : shown.cells) {
    const bool is_marked = !cells[shown.mark].empty();
    TableRow row;
    for (size_t c = 0; c < cells.size(); ++c)
      row.push_back({cells[c], is_marked && c <= shown.mark ? Tint::Good : Tint::Plain});
    table.push_back(std::move(row));
  }
  const std::vector<std::string> lines =
      table_lines(table, terminal, {.has_heading = true, .right = shown.right});
  std::string text = lines.front() + "\n";
  for (size_t r = 0; r < shown.cells.size(); ++r) {
    text += lines[r + 1] + "\n";
    if (shown.reasons[r].empty()) continue;
    const auto width = static_cast<size_t>(terminal.width);
    text +=
        "      " +
        tinted(terminal, Tint::Faint,
               terminal.is_terminal ? wrapped(shown.reasons[r], width, 6, 6) : shown.reasons[r]) +
        "\n";
  }
  for (const std::string& remark : shown.remarks)
    text += (&remark == &shown.remarks.front() ? "\n" : "") + for_output(remark) + "\n";
  return text;
}

}  // namespace

std::string check_budget(const std::string& text) {
  if (text == kNoBudget || text == requests::kAutoSweepBudget) return "";
  const std::optional<int64_t> bytes = parse_bytes(text);
  if (!bytes)
    return fmt::format(
        "'{}' is no size; write bytes as 60000, 20K, 1.5M or 2G (K is 1024), or 'none', or 'auto'",
        text);
  return *bytes < 1 ? "is less than one byte" : "";
}

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const Figure figure : requests::all_figures()) names.emplace_back(to_string(figure));
  return names;
}

int run_sweep(Context& context, const SweepCommand& command) {
  const Result<SweepFiles> files = check_command(command);
  if (!files.ok()) return fail(files.error());
  show_progress("choices compiled");
  const Result<std::vector<SweepRow>> rows = requests::sweep(context, request_of(command));
  if (!rows.ok()) return fail(rows.error());

  std::vector<Figure> by = figures_of(command.by);
  if (by.empty()) by = requests::compared_by_default(*rows);
  const std::vector<bool> unbeaten = requests::unbeaten(*rows, by);
  const auto text_as = [&](FileKind kind) {
    switch (kind) {
      case FileKind::Json:
        return requests::sweep_json(*rows, unbeaten);
      case FileKind::Csv:
        return requests::sweep_csv(*rows, unbeaten);
      case FileKind::Svg:
        return requests::sweep_picture(*rows, by);
      case FileKind::Html:
        return requests::sweep_page(*rows, by);
    }
    return std::string();
  };
  for (const auto& [path, kind] :
       {std::pair{&command.output_file, files->output}, std::pair{&command.plot_file, files->plot}})
    if (kind)
      if (const Result<void> written = write_file(*path, text_as(*kind)); !written.ok())
        return fail(written.error());
  clear_progress();
  print_notes(*rows);
  fmt::print("{}", command.common.json ? text_as(FileKind::Json)
                   : command.csv       ? text_as(FileKind::Csv)
                                       : table_of(requests::shown_sweep(*rows, unbeaten, by)));
  if (std::none_of(rows->begin(), rows->end(),
                   [](const SweepRow& row) { return row.has_figures(); })) {
    std::fflush(stdout);
    return fail(Diagnostics("sweep", "none of the choices can be had",
                            "the table says why; 'intarsia explain' says more of each"));
  }
  return kDone;
}

}  // namespace intarsia::cli
