// The timeline of runs as a trace in Chrome's JSON format, which ui.perfetto.dev and chrome://tracing show:
// a process for each device, with a row for operations, one for transfers, and one for the waits of the
// command processor. Times are microseconds at the device's clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "intarsia/targets/ethos_u/timeline.h"

namespace intarsia::simulators::ethos_u {

using NodeOf = std::function<std::string(uint32_t offset)>;  // empty: not known

class Trace {
 public:
  // Runs after this number are left out: a trace is for looking at.
  static constexpr int kMostRuns = 16;

  // A run of the device `process`; it begins where the process's last run ended.
  void add(int process, std::string_view device, const Timeline& timeline, const NodeOf& node_of);
  // JSON objects, with commas between.
  const std::string& events() const { return events_; }
  // A JSON object that has them as `traceEvents`.
  std::string text() const;

 private:
  struct Process {
    int id;
    double now_us;
    int runs;
  };
  Process& process(int id, std::string_view device);
  void event(int process, int row, const std::string& name, double from_us, double length_us,
             const std::string& arguments);

  std::string events_;
  std::vector<Process> processes_;
};

// What a command does, in a word: "conv", "average pool", "add", "dma".
std::string work_name(const TimedCommand& command);
// As the inside of a JSON string.
std::string json_escaped(std::string_view text);

}  // namespace intarsia::simulators::ethos_u
