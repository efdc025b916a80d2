#include "budgets/figures.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "intarsia/report.h"
#include "support/strict_json.h"

namespace intarsia::budgets {
namespace {

using nlohmann::json;

void largest_first(std::vector<Share>& shares) {
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.amount > b.amount; });
}

// Of a report whose keys and types are as report_json() writes them; json's own exceptions say what is not.
class Reader {
 public:
  explicit Reader(Figures& figures) : figures_(figures) {}

  void program(const json& report) {
    for (const json& pool : report.at("pools")) memory(pool);
    for (const json& row : report.at("operators")) {
      const std::string name = row.at("name");
      figures_.operators.push_back({name, row.at("member")});
      const int64_t bytes = row.at("weight_bytes").get<int64_t>() +
                            row.at("table_bytes").get<int64_t>() +
                            row.at("stream_bytes").get<int64_t>();
      // The stream of a region stands with the first of its operators.
      const bool is_stream = row.at("stream_bytes") > 0;
      if (bytes > 0)
        figures_.constants.push_back(
            {is_stream ? row.at("region").get<std::string>() : name, bytes});
    }
    largest_first(figures_.constants);
    if (report.contains("flash")) measured(report);
    if (report.contains("not_measured")) figures_.not_measured = report.at("not_measured");
  }

  // Parts of several CPUs: their stages use blocks in turn. Reports of earlier versions do not say so.
  void blocks(const json& rows) {
    for (MemoryFigures& memory : figures_.memories) {
      memory.peak = 0;
      memory.blocks = 0;
    }
    for (const json& row : rows)
      for (MemoryFigures& memory : figures_.memories)
        if (row.at("pool") == memory.name) {
          memory.peak += row.at("bytes").get<int64_t>();
          ++memory.blocks;
        }
  }

  void cycles(const json& estimated) {
    for (const json& device : estimated.at("devices"))
      figures_.cycles.push_back({device.at("member"), device.at("cycles"), {}});
    for (const json& row : estimated.at("operators"))
      for (DeviceFigures& device : figures_.cycles)
        if (row.at("member") == device.device)
          device.operators.push_back({row.at("name"), row.at("cycles")});
    for (DeviceFigures& device : figures_.cycles) largest_first(device.operators);
  }

 private:
  void memory(const json& pool) {
    MemoryFigures row{pool.at("name"), pool.at("peak")};
    const json& fullest = pool.at("fullest");
    row.fullest_at = fullest.at("at");
    row.fullest_bytes = fullest.at("bytes");
    for (const json& live : fullest.at("live"))
      row.live.push_back(
          {live.at("buffer"), live.at("end").get<int64_t>() - live.at("begin").get<int64_t>()});
    largest_first(row.live);
    const auto same = std::find_if(figures_.memories.begin(), figures_.memories.end(),
                                   [&](const MemoryFigures& m) { return m.name == row.name; });
    if (same == figures_.memories.end()) {
      figures_.memories.push_back(std::move(row));
      return;
    }
    row.peak += same->peak;
    row.blocks += same->blocks;
    if (same->fullest_bytes > row.fullest_bytes) {
      row.fullest_at = same->fullest_at;
      row.fullest_bytes = same->fullest_bytes;
      row.live = same->live;
    }
    *same = std::move(row);
  }

  void measured(const json& report) {
    const json& flash = report.at("flash");
    figures_.flash = {flash.at("code_bytes"), flash.at("constant_bytes_linked"),
                      flash.at("stream_bytes_linked"), flash.at("total_bytes")};
    figures_.stack = report.at("stack").at("bytes");
    figures_.stack_chain = report.at("stack").at("chain");
    figures_.compiler = report.at("compiler");
  }

  Figures& figures_;
};

}  // namespace

int64_t Figures::ram() const {
  int64_t bytes = 0;
  for (const MemoryFigures& memory : memories) bytes += memory.peak;
  return bytes;
}

int64_t Figures::total_cycles() const {
  int64_t sum = 0;
  for (const DeviceFigures& device : cycles) sum += device.cycles;
  return sum;
}

Result<Figures> read_figures(std::string_view report_json, const std::string& where) {
  constexpr const char* kWanted = "name the report.json in the folder that 'compile' wrote";
  INTARSIA_TRY(const json report, parse_strict_json(report_json, where, kWanted));
  const char* again = "compile the model again for a report of this version";
  if (!report.is_object() || !report.contains("model") || !report.contains("target"))
    return Diagnostics(where, "is no report.json of 'intarsia compile'", kWanted);
  if (!report.contains("format"))
    return Diagnostics(where, "is the report of an earlier version, without the figures of budgets",
                       again);
  if (report["format"] != kReportFormat)
    return Diagnostics(where,
                       fmt::format("is a report of format {}, this version reads format {}",
                                   report["format"].dump(), kReportFormat),
                       again);
  Figures figures;
  // What the library throws is of a file that somebody has changed.
  try {
    Reader reader(figures);
    figures.model = report.at("model");
    figures.target = report.at("target");
    figures.board = report.at("board");
    if (report.contains("stages")) {
      for (const json& part : report.at("stages")) reader.program(part);
      if (report.contains("blocks")) reader.blocks(report.at("blocks"));
      const int64_t mailbox = report.at("mailbox_bytes");
      figures.memories.push_back({"mailbox", mailbox, "", mailbox, {{"mailbox", mailbox}}});
    } else {
      reader.program(report);
    }
    if (report.contains("estimated_cycles")) reader.cycles(report.at("estimated_cycles"));
  } catch (const json::exception& error) {
    std::string what = error.what();
    if (const size_t bracket = what.find("] "); bracket != std::string::npos)
      what = what.substr(bracket + 2);
    return Diagnostics(where, "is not a report as 'intarsia compile' writes it: " + what, again);
  }
  return figures;
}

}  // namespace intarsia::budgets
