// Report: the figures of a compiled model that a firmware engineer asks for before flashing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/compiled_model.h"

namespace intarsia {

// Of report.json, as its key "format": another number where a key has got another meaning or is gone.
inline constexpr int kReportFormat = 1;

// What the board's compiler made of the model's sources: unused helpers dropped, weights apart.
struct Measurements {
  std::string compiler;        // "arm-none-eabi-gcc 12.2.1 -Os"
  int64_t code_bytes = 0;      // instructions and read-only data other than the model's constants
  int64_t constant_bytes = 0;  // weights and tables as linked
  int64_t stream_bytes =
      0;  // the package as linked: command streams with the weights that devices read
  int64_t stack_bytes = 0;  // deepest chain of calls from <model>_run, library functions included
  std::vector<std::string> stack_chain;  // that chain

  int64_t flash_bytes() const { return code_bytes + constant_bytes + stream_bytes; }
};

struct OperatorRow {
  std::string name, origin, device;
  std::string region;  // the function of the partitioned model that it is in
  // Multiply-accumulates are the operator's. What the operators of a stream share stands with the first of them:
  // its bytes and its memory.
  int64_t macs = 0, weight_bytes = 0, table_bytes = 0, stream_bytes = 0;
  struct Range {
    std::string what, pool;  // "input", "sram"
    int64_t begin = 0, end = 0;
  };
  std::vector<Range> memory;
  std::vector<std::string> kernels;  // C functions that compute it, each once; none: its own loops
};

struct PoolRow {
  std::string name;
  int64_t size = 0;  // 0: unlimited
  int64_t peak = 0, lower_bound = 0;
  bool proven_optimal = false;
  std::string method;
  // The step at which most bytes are in use: what runs then, and the buffers that are alive, each range once. Gaps
  // between them make the peak larger.
  struct Live {
    std::string name;
    int64_t begin = 0, end = 0;  // bytes from the beginning of the memory's block
  };
  std::string fullest_at;
  int64_t fullest_bytes = 0;
  std::vector<Live> live;
};

// How long a smaller plan of the memory was looked for, in steps of PlanOptions::search_budget.
struct SearchFigures {
  int64_t steps = 0;
  bool ended_early = false;  // a smaller plan may exist
};

// The one line about a search that ended early, with its line feed; else nothing.
std::string search_text(const SearchFigures& search);

// Operators that a device runs as one stream.
struct RegionRow {
  std::string name, device;
  int64_t operators = 0, macs = 0, stream_bytes = 0;
};

// Of estimated cycles, as partition.h has them.
struct CycleRow {
  std::string name, device;  // an operator of a CPU, or a function of another device
  int64_t operators = 1, cycles = 0;
};
struct DeviceCycles {
  std::string device;
  double clock_mhz = 0;  // that the estimate assumes
  int64_t cycles = 0;
};

struct Report {
  std::string model, target, board;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<CycleRow> cycles;             // in the order they run; empty where nobody asked
  std::vector<DeviceCycles> device_cycles;  // their sums
  std::vector<RegionRow> regions;           // of streams only
  std::vector<OperatorRow> operators;       // in the order they run
  std::vector<PoolRow> pools;
  SearchFigures search;
  int64_t macs = 0, weight_bytes = 0, table_bytes = 0, stream_bytes = 0;
  int64_t transfers = 0, transfer_bytes = 0;
  std::string search_note;  // of partition.h
  EliminationFigures before_elimination, after_elimination;
  std::vector<EliminationStep> eliminated;
  std::optional<RamBudgetOutcome> ram_budget;
  std::vector<ScheduledAgain> scheduled_again;
  std::optional<Measurements> measured;
  std::string not_measured;  // why `measured` is absent
};

// Of a model that one CPU runs; and of one CPU's program, without what was done before it was split off.
Report make_report(const CompiledModel& model, const std::string& target, const std::string& board);
Report make_report(const CompiledProgram& program, const std::string& target,
                   const std::string& board);
// The estimated cycles of the explanation, rounded, and their sums.
void add_cycles(const Explanation& explanation, Report& report);
std::string report_text(const Report& report);
std::string report_json(const Report& report);

}  // namespace intarsia
