// A report.json read back, for the page that shows it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/report.h"

namespace intarsia::packaging::page {

// The program of one CPU, with what the views of it have in common.
struct Part {
  std::string cpu;  // empty: the whole model is one program
  size_t number = 0;
  Report report;
  std::map<std::string, size_t> numbers;  // of operators, by their names
  struct Time {
    int64_t cycles = 0;
    double microseconds = 0;
    bool is_share = false;  // of what was estimated for several operators together
  };
  std::vector<Time> times;  // of operators; empty where nothing was estimated
  // Of operators, in the emulator of the board; empty where nothing was counted.
  std::vector<std::optional<RunCycles::Operator>> counted;

  // In attributes, the operator that several views show: "0.12"; empty for what is none.
  std::string id(const std::string& name) const;
  double microseconds() const;  // of all operators
};

// Working memory of a part, which its stages use in turn.
struct Block {
  std::string cpu, name, pool;
  int64_t bytes = 0, stages = 0;
};

struct PageReport {
  Report whole;  // of a model in parts: its figures, without operators
  std::vector<Part> parts;
  std::vector<Block> blocks;         // of parts; none in reports of earlier versions
  int64_t mailbox_bytes = 0;         // between parts
  std::vector<std::string> devices;  // in the order in which they are first used

  // The class of a device's colour: "d0" ...
  std::string colour(const std::string& device) const;
};

Result<PageReport> read_page_report(const std::string& json, const std::string& where);

}  // namespace intarsia::packaging::page
