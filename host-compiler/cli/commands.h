// The sub-commands: one function and one file each. They print to standard output, problems to
// standard error, and return the exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "context.h"

namespace intarsia::cli {

struct CompileCommand {
  CommonOptions common;
  std::string output_folder;
  std::string
      runtime_folder;  // of the runtime as a package of its own; empty: it is in the model's
  bool single_file = false;
  // Of packaging/formats/format.h; or no folder of C: of requests/offload_model.h, or requests/bare_networks.h.
  std::string format = "plain";
  bool count_cycles = false;              // for the report
  std::string summary_file, layers_file;  // of kOffloadFormat
};
int run_compile(Context& context, const CompileCommand& command);
int run_offload(Context& context, const CompileCommand& command);   // of kOffloadFormat
int run_networks(Context& context, const CompileCommand& command);  // of bare networks
// What only a folder of C has, asked for in a format that is none.
Result<void> check_no_folder_options(const CompileCommand& command);
inline constexpr const char* kExecutorFormat = "executor";
int run_executable(Context& context, const CompileCommand& command);  // of kExecutorFormat

struct RunCommand {
  CommonOptions common;
  std::vector<std::string> inputs;
  std::string output_folder;
  int repeat = 1;
  bool keep_all = false;  // write the outputs of every run, one after another
  bool count = false;     // count instructions (emulated boards)
  bool count_cycles = false;
  bool native = false;  // on this machine: build and run the C instead of executing in this process
  bool batch = false;   // each input file holds any number of samples, each an inference of its own
  unsigned jobs = 0;    // threads of a batch; 0: one per core
  std::string trace_file;  // of the simulated devices
  std::vector<std::string>
      intermediates;      // operators or tensors whose results are outputs too; "all"
  std::string firmware;   // that runs the model, which is then a package
  bool in_flash = false;  // the package lies beside the firmware; else the firmware reads the file
};
int run_run(Context& context, const RunCommand& command);

struct BuildCommand {
  CommonOptions common;
  std::string output_file;
};
int run_build(Context& context, const BuildCommand& command);

struct FirmwareCommand {
  CommonOptions common;  // without a model
  std::vector<std::string> models;
  std::string output_file;  // empty: no program is built
  std::string sources_folder;
  std::optional<int64_t> package_bytes;
  std::vector<std::string> arenas;  // MEMORY=BYTES
  bool same_interface =
      false;  // takes only packages with the inputs and outputs of the first model
};
int run_firmware(Context& context, const FirmwareCommand& command);

struct VerifyCommand {
  CommonOptions common;
  int samples = 4;                  // made, where there are no inputs
  std::vector<std::string> inputs;  // files or a folder
  bool layers = true;               // operator by operator, too
  bool layers_are_asked_for = false;
  std::string reference;  // of a package: the model
  bool count_cycles = false;
};
int run_verify(Context& context, const VerifyCommand& command);

struct CheckCommand {
  CommonOptions common;  // without a model where there is a file
  std::vector<std::string> max_ram, max_flash, max_stack, max_cycles;
  std::string baseline;                   // a report.json
  std::optional<std::string> max_growth;  // "2%"
  std::string file;                       // of budgets
};
// kUserError too when a budget is exceeded.
int run_check(Context& context, const CheckCommand& command);

struct ReportCommand {
  std::string report;           // a report.json, or the folder that holds it
  std::string baseline, trace;  // of the same kind; a file of `run --trace`
  std::string output_file;
};
int run_report(const ReportCommand& command);
// That of a folder that `compile` wrote, or the file itself.
std::string report_file(const std::string& path);

struct ExplainCommand {
  CommonOptions common;
  bool refused = false;      // only operators that a device was asked for and cannot take
  bool unsupported = false;  // what cannot be imported, or stays off the accelerators, by reason
};
int run_explain(Context& context, const ExplainCommand& command);

struct DumpCommand {
  CommonOptions common;
  std::string stage;
  std::string constants;  // none, short or all; empty: short on a terminal, else all
};
int run_dump(Context& context, const DumpCommand& command);

int run_disasm(Context& context, const std::string& path);
struct BoardsCommand {
  std::string name;      // of the board to show; empty: all. kNewBoard: one is written
  std::string new_name;  // of its folder
  std::string like;
  bool own_files = false;
  bool json = false;
};
inline constexpr const char* kNewBoard = "new";
int run_boards(Context& context, const BoardsCommand& command);
int run_explain_error(const std::string& code, bool json);
// Name, tab and meaning of every code, a line each.
std::string status_code_lines();

}  // namespace intarsia::cli
