#include "trace_of_cpus.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/files.h"

namespace intarsia::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFirstProcess = 1000;  // numbers of processes for CPUs: devices have small ones

bool is_duration(const Json& event) {
  return event.value("ph", "") == "X";
}

double rounded(double microseconds) {
  return std::round(microseconds * 1000) / 1000;
}

class CpuRows {
 public:
  CpuRows(Json& events, const std::vector<TimelineStep>& steps) : events_(events), steps_(steps) {}

  // False where the events are not those of the steps.
  bool add() {
    while (next_ < events_.size() && !is_duration(events_[next_])) ++next_;
    if (next_ == events_.size()) return false;
    while (next_ < events_.size())
      for (const TimelineStep& step : steps_) {
        if (step.operators.empty())
          add_operator(step);
        else if (!delay_stream(step))
          return false;
      }
    for (Json& event : added_) events_.push_back(std::move(event));
    return true;
  }

 private:
  // The events of a stream are one after another, its waits behind its commands.
  bool delay_stream(const TimelineStep& step) {
    size_t count = 0;
    for (; next_ < events_.size(); ++next_) {
      Json& event = events_[next_];
      if (!is_duration(event)) continue;
      const std::string name = event.value("name", "");
      if (name != "wait" && !step.operators.contains(name)) break;
      event["ts"] = rounded(event.value("ts", 0.0) + delay_);
      end_ = std::max(end_, event.value("ts", 0.0) + event.value("dur", 0.0));
      ++count;
    }
    return count > 0;
  }

  void add_operator(const TimelineStep& step) {
    if (step.clock_mhz <= 0) return;
    const double length = step.cycles / step.clock_mhz;
    added_.push_back({{"ph", "X"},
                      {"name", step.name},
                      {"pid", process_of(step)},
                      {"tid", 1},
                      {"ts", rounded(end_)},
                      {"dur", rounded(length)},
                      {"args", {{"cycles", std::round(step.cycles)}, {"estimated", true}}}});
    end_ += length;
    delay_ += length;
  }

  int process_of(const TimelineStep& step) {
    const auto [found, is_new] =
        processes_.try_emplace(step.device, kFirstProcess + static_cast<int>(processes_.size()));
    if (is_new) {
      const auto name = [&](const char* what, int row, const std::string& text) {
        added_.push_back({{"ph", "M"},
                          {"name", what},
                          {"pid", found->second},
                          {"tid", row},
                          {"args", {{"name", text}}}});
      };
      name("process_name", 0,
           fmt::format("{}, estimated at {:g} MHz", step.device, step.clock_mhz));
      name("thread_name", 1, "operators");
    }
    return found->second;
  }

  Json& events_;
  const std::vector<TimelineStep>& steps_;
  std::vector<Json> added_;
  std::map<std::string, int> processes_;
  size_t next_ = 0;             // of the events
  double delay_ = 0, end_ = 0;  // microseconds
};

}  // namespace

std::vector<TimelineStep> timeline_steps(const Partitioned& partitioned) {
  std::vector<TimelineStep> steps;
  for (const Explanation::Cycles& row : partitioned.explanation.cycles) {
    // Whole cycles, as the report has them.
    TimelineStep step{row.name, row.device, std::round(row.cycles), row.clock_mhz, {}};
    for (const graph::Function& function : partitioned.module.functions)
      if (function.name == row.name)
        for (const graph::Node& node : function.nodes) step.operators.insert(node.name);
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<TimelineStep> timeline_steps_of_package(const std::string& folder) {
  std::vector<TimelineStep> steps;
  const Result<std::string> text = read_text_file(folder + "/report.json");
  if (!text.ok()) return steps;
  const nlohmann::json report = nlohmann::json::parse(*text, nullptr, false);
  if (!report.is_object() || !report.contains("estimated_cycles") || !report.contains("operators"))
    return steps;
  try {
    std::map<std::string, double> clocks;
    for (const nlohmann::json& device : report.at("estimated_cycles").at("devices"))
      clocks[device.at("member")] = device.at("assumed_mhz");
    std::map<std::string, std::set<std::string>> regions;
    for (const nlohmann::json& op : report.at("operators"))
      regions[op.value("region", "")].insert(op.at("name").get<std::string>());
    for (const nlohmann::json& row : report.at("estimated_cycles").at("operators")) {
      const std::string name = row.at("name"), device = row.at("member");
      const auto region = regions.find(name);
      steps.push_back({name, device, row.at("cycles"), clocks[device],
                       region == regions.end() ? std::set<std::string>() : region->second});
    }
  } catch (const nlohmann::json::exception&) {
    steps.clear();  // of another format
  }
  return steps;
}

std::string with_cpu_operators(const std::string& trace, const std::vector<TimelineStep>& steps) {
  const auto on_cpus = std::count_if(
      steps.begin(), steps.end(), [](const TimelineStep& step) { return step.operators.empty(); });
  if (on_cpus == 0 || on_cpus == std::ssize(steps)) return trace;
  Json json = Json::parse(trace, nullptr, false);
  if (!json.is_object() || !json.contains("traceEvents")) return trace;
  if (!CpuRows(json["traceEvents"], steps).add()) return trace;
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const char* between = "";
  for (const Json& event : json["traceEvents"]) {
    text += between + event.dump(-1, ' ', false, Json::error_handler_t::replace);
    between = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace intarsia::cli
