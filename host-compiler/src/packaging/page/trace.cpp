#include "packaging/page/trace.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "support/strict_json.h"

namespace intarsia::packaging::page {
namespace {

using nlohmann::json;

double number_in(const json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  constexpr double kMost = 1e12;  // microseconds: more than any run
  const double value = found->get<double>();
  return std::isfinite(value) ? std::clamp(value, 0.0, kMost) : 0;
}

std::string text_in(const json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

using Place = std::pair<double, double>;  // process and thread

Trace::Event event_of(const json& from, double clock) {
  Trace::Event event;
  event.name = text_in(from, "name");
  event.begin = number_in(from, "ts");
  event.length = number_in(from, "dur");
  const json& arguments = from.contains("args") ? from["args"] : from;
  event.cycles = number_in(arguments, "cycles");
  event.macs = number_in(arguments, "macs");
  if (clock > 0) {
    event.mac = std::min(event.length, number_in(arguments, "mac_cycles") / clock);
    event.output = std::min(event.length, number_in(arguments, "output_cycles") / clock);
  }
  return event;
}

}  // namespace

Result<Trace> read_trace(const std::string& from, const std::string& where) {
  constexpr const char* kWanted = "name a file that 'intarsia run --trace FILE' wrote";
  INTARSIA_TRY(const json parsed, parse_strict_json(from, where, kWanted));
  const bool has_events =
      parsed.is_object() && parsed.contains("traceEvents") && parsed["traceEvents"].is_array();
  if (!has_events) return Diagnostics(where, "is no trace of 'intarsia run --trace'", kWanted);
  Trace trace;
  std::map<Place, std::string> units;
  std::map<double, std::string> devices;
  std::map<Place, size_t> rows;
  for (const json& event : parsed["traceEvents"]) {
    const Place place = {number_in(event, "pid"), number_in(event, "tid")};
    const std::string phase = text_in(event, "ph");
    if (phase == "M" && event.contains("args")) {
      const std::string name = text_in(event["args"], "name");
      if (text_in(event, "name") == "process_name") devices[place.first] = name;
      if (text_in(event, "name") == "thread_name") units[place] = name;
    }
    if (phase != "X") continue;
    const auto [row, is_new] = rows.try_emplace(place, trace.rows.size());
    if (is_new) trace.rows.push_back({devices[place.first], units[place], {}});
    // Cycles of a command over its microseconds are the clock.
    const double cycles = event.contains("args") ? number_in(event["args"], "cycles") : 0;
    const double length = number_in(event, "dur");
    Trace::Event read = event_of(event, length > 0 ? cycles / length : 0);
    trace.end = std::max(trace.end, read.begin + read.length);
    trace.rows[row->second].events.push_back(std::move(read));
  }
  if (trace.rows.empty())
    return Diagnostics(where, "is a trace without anything that a device did",
                       "run a model whose target has a simulated device");
  for (Trace::Row& row : trace.rows)
    std::stable_sort(
        row.events.begin(), row.events.end(),
        [](const Trace::Event& a, const Trace::Event& b) { return a.begin < b.begin; });
  return trace;
}

}  // namespace intarsia::packaging::page
