// A trace that `run --trace` wrote, read back.
#pragma once

#include <string>
#include <vector>

#include "intarsia/result.h"

namespace intarsia::packaging::page {

struct Trace {
  struct Event {
    std::string name;              // an operator of the model, or what a command does
    double begin = 0, length = 0;  // microseconds
    double mac = 0, output = 0;    // of `length`: how long those units were busy
    double macs = 0, cycles = 0;
  };
  // What one unit of a device did, in the order of time.
  struct Row {
    std::string device, unit;
    std::vector<Event> events;
  };
  std::vector<Row> rows;
  double end = 0;  // microseconds
};

// `where` names the text in messages.
Result<Trace> read_trace(const std::string& json, const std::string& where);

}  // namespace intarsia::packaging::page
