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

  // All that is linked from it into flash.
  int64_t flash_bytes() const { return code_bytes + constant_bytes + stream_bytes; }
};

// One operator of the emitted program. Numbers of bytes are of flash.
struct OperatorRow {
  std::string name, origin, device;
  std::string region;  // the function of the partitioned model that it is in
  // Multiply-accumulates are the operator's. What the operators of a stream share stands with the first of them:
  // its bytes and its memory.
  int64_t macs = 0, weight_bytes = 0, table_bytes = 0, stream_bytes = 0;
  // Bytes of a memory that it reads or writes.
  struct Range {
    std::string what, pool;  // "input", "sram"
    int64_t begin = 0, end = 0;
  };
  std::vector<Range> memory;
  std::vector<std::string> kernels;  // C functions that compute it, each once; none: its own loops
  std::string kind,
      shapes;  // "conv2d", "i8[1,8,8,1] -> i8[1,4,4,8]"; empty for what is no operator of the model
  std::string placement;  // why that device runs it, in words; empty where it was not asked
  std::optional<int64_t> cycles_alone;  // estimated, as if it ran alone; empty where nobody asked
  // One of its constants.
  struct ConstantBytes {
    std::string name, use;  // "stem_weights", "weights" or "table"
    int64_t bytes = 0;
    std::string memory = {};  // where the board has several for constants; else empty
  };
  std::vector<ConstantBytes> constants;  // that weight_bytes and table_bytes are the sums of
};

// One memory: what the plan takes of it, in bytes.
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
  int64_t fullest_step = 0;
  std::vector<Live> live;
};

// A memory that holds weights and tables.
struct ConstantMemoryRow {
  std::string name;
  int64_t size = 0;  // 0: unlimited
  int64_t bytes = 0, constants = 0;
};

// One planned buffer of the schedule: where it is, and during which steps its bytes are in use.
struct BufferRow {
  std::string name;
  std::string use;     // "input", "output", "tensor" (between operators), "scratch", "state"
  std::string tensor;  // of the model, whose values it holds; empty: none, or not known
  std::string pool;
  int64_t begin = 0, end = 0;             // bytes from the beginning of the memory's block
  int64_t first_step = 0, last_step = 0;  // inclusive
  std::string alias;  // the buffer whose bytes it shares on purpose; empty: none
  // Operators; who writes it is empty for what the application fills.
  std::string written_by;
  std::vector<std::string> read_by;
};

// Steps of the plan that belong to one operator. A command of a stream is a step, and so is an operator of a CPU.
struct StepRow {
  int64_t first = 0, last = 0;  // inclusive
  std::string name,
      device;  // of a function that has several operators without saying which: the function's
};

// The operators of the model with what passes between them.
struct GraphRow {
  std::string name, kind, device, region;
  std::string shapes;
};
// A tensor that one operator produces and another reads.
struct GraphEdge {
  std::string from, to;  // operators; empty: the application
  std::string tensor;
  int64_t bytes = 0;
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
  double clock_mhz = 0;  // that the estimate assumes
};
// The sum of a device's rows.
struct DeviceCycles {
  std::string device;
  double clock_mhz = 0;  // that the estimate assumes
  int64_t cycles = 0;
};

// An estimate between two others, for what the documents of a core do not say and for what the emulator does not show
// (docs/cycles.md).
struct CycleEstimate {
  double optimistic = 0, nominal = 0, pessimistic = 0;
};
// Of one run, from the call of the model's run function to its return.
struct RunCycles {
  struct Operator {
    std::string name;  // empty: what the run function does beside its operators
    uint64_t instructions = 0;
    CycleEstimate cycles;
  };
  uint64_t instructions = 0;
  CycleEstimate cycles;
  std::vector<Operator> operators;  // in their order; together they are the run
};

// All figures of a model, or of one CPU's part of it.
struct Report {
  std::string model, target, board;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<CycleRow> cycles;             // in the order they run; empty where nobody asked
  std::vector<DeviceCycles> device_cycles;  // their sums
  std::vector<RegionRow> regions;           // of streams only
  std::vector<OperatorRow> operators;       // in the order they run
  std::vector<PoolRow> pools;
  std::vector<ConstantMemoryRow> constant_memories;  // where the board has several, in its order
  std::vector<BufferRow> buffers;
  int64_t steps = 0;  // of the plan
  std::vector<StepRow> step_rows;
  std::vector<GraphRow> graph;
  std::vector<GraphEdge> edges;
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
  // Of one inference in the board's emulator, on the first random input of make_sample(); absent where nobody asked.
  std::optional<RunCycles> counted;
};

// Of a model that one CPU runs; and of one CPU's program, without what was done before it was split off.
Report make_report(const CompiledModel& model, const std::string& target, const std::string& board);
Report make_report(const CompiledProgram& program, const std::string& target,
                   const std::string& board);
// The estimated cycles of the explanation, rounded, and their sums.
void add_cycles(const Explanation& explanation, Report& report);
// Why each operator of the report is where it is, and what it would take alone. Of a model in several parts, the
// explanation is of all of them.
void add_placement(const Explanation& explanation, Report& report);
// report.txt, for people.
std::string report_text(const Report& report);
// report.json: keys stay what they are while kReportFormat does (docs/versioning.md).
std::string report_json(const Report& report);

// One page of HTML that shows the report and has it inside: it needs no other file, no network and, to be read, no
// JavaScript. The same report gives the same bytes.
std::string report_html(const Report& report);

// What a page shows beside a report: texts of files, with the names that messages call them. Empty: not there.
struct ReportPageExtras {
  std::string baseline, baseline_name;  // another report.json, to compare with
  std::string trace, trace_name;        // of `run --trace`: what simulated devices did
};
// The page for the text of a report.json, also of a model in several parts; `name` names the text in messages. Refuses
// what is no report.
Result<std::string> report_page(const std::string& report_json, const std::string& name,
                                const ReportPageExtras& extras = {});

}  // namespace intarsia
