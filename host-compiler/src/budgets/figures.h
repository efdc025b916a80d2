// What report.json says of a model, as far as budgets go. Budgets are kept or broken by these figures and no others: what
// `check` has just compiled and what a baseline holds are read by the same code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/result.h"

namespace intarsia::budgets {

// An operator or a buffer with what it takes, in the unit of the figure.
struct Share {
  std::string name;
  int64_t amount = 0;
};

struct MemoryFigures {
  std::string name;
  int64_t peak = 0;
  std::string fullest_at;  // the operator that runs when most bytes are in use; empty: nothing is
  int64_t fullest_bytes = 0;
  std::vector<Share> live;  // then, largest first
  int blocks = 1;           // in it; what is fullest is of the program that has most in use
};

struct FlashFigures {
  int64_t code = 0, constants = 0, streams = 0, total = 0;
};

struct DeviceFigures {
  std::string device;
  int64_t cycles = 0;
  std::vector<Share> operators;  // largest first
};

struct PlacedOperator {
  std::string name, device;
};

// Several CPUs have a part each: the blocks in memories of one name are added up.
struct Figures {
  std::string model, target, board;
  std::vector<MemoryFigures> memories;
  std::optional<FlashFigures> flash;
  std::vector<Share> constants;  // of operators: weights, tables and streams, largest first
  std::optional<int64_t> stack;
  std::vector<std::string> stack_chain;
  std::string compiler;                   // that `flash` and `stack` are of
  std::string not_measured;               // why those two are absent
  std::vector<DeviceFigures> cycles;      // estimated; empty where nothing is
  std::vector<PlacedOperator> operators;  // in the order they run

  int64_t ram() const;           // of all memories
  int64_t total_cycles() const;  // of all devices
};

// `where` names the text in messages. Refuses what is no report, and a report of another format.
Result<Figures> read_figures(std::string_view report_json, const std::string& where);

}  // namespace intarsia::budgets
