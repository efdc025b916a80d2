// The programs that `verify` compares with the reference: the generated C on this machine, the firmware in the board's
// emulator, and the compiled model executed in this process, for the same target and the same memories.
#pragma once

#include <string>
#include <vector>

#include "commands.h"
#include "verify_operators.h"

namespace intarsia::cli {

// Where a program runs.
struct Platform {
  std::string name;  // "host", the board's, or "engine"
  Selection selection;
  bool is_engine = false;  // nothing is built
};

// This machine first, then the board when it is another one, then the engine. `left_out`, when not empty, says in a line
// why the board's firmware is not among them.
struct Platforms {
  std::vector<Platform> all;
  std::string left_out;
};
Result<Platforms> platforms_of(const Context& context, const Selection& selection);

struct Ran {
  std::vector<Values> results;  // by sample, then by output
  Explanation explanation;
  std::string cannot;             // why it cannot be executed here; there are no results then
  std::vector<RunCycles> cycles;  // by sample, where they are counted
  bool is_object = false;         // its operators are an object file, not C
};
// Compiles and runs the module there, one start for all samples; state goes on from one to the next.
Result<Ran> run_module(const Context& context, const CommonOptions& options,
                       const Platform& platform, const graph::Module& module,
                       const std::vector<Values>& samples, bool counts_cycles = false);
// What else is wanted of a program's runs: by sample, what each operator computed, when the setting shows results; or
// cycles.
struct PackageRunNotes {
  std::vector<std::vector<ShownResult>>* shown = nullptr;
  std::vector<RunCycles>* cycles = nullptr;
};
// The same of a package.
Result<std::vector<Values>> run_package(const BuildSetting& setting,
                                        const std::vector<Values>& samples,
                                        const std::string& work_folder,
                                        const PackageRunNotes& notes = {});

// What a user gives as samples: once per input of the function a file with one slice for each, or one
// folder with a file per sample and input, dealt in the order of their names. Raw bytes or .npy.
Result<std::vector<Values>> read_samples(const graph::Function& function,
                                         const std::vector<std::string>& inputs);

// A model, the samples that the user gives or that are made, and what the reference makes of them.
struct Subject {
  graph::Module module;
  std::vector<Values> samples, expected;
};
Result<Subject> subject_of(const Context& context, const VerifyCommand& command,
                           const std::string& model);

}  // namespace intarsia::cli
