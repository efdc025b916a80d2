// Compiling the sources of a package into objects.
#pragma once

#include <string>
#include <vector>

#include "intarsia/build.h"

namespace intarsia::build {

struct Objects {
  std::vector<std::string> model;        // everything the model itself needs
  std::vector<std::string> program;      // what only the generic main needs
  std::vector<std::string> call_graphs;  // of the model's objects, when the compiler wrote them
};

// The compiler for a language of a board: "arm-none-eabi-gcc" and "arm-none-eabi-g++".
std::string compiler_for(const board::Board& board, bool cpp);

// An environment variable. Where it is set, emitted C and the kernels are compiled with the warnings that
// they are promised to be free of, as errors: for tests. A user's compiler may have warnings of its own.
inline constexpr const char* kWarningsAreErrors = "INTARSIA_WARNINGS_ARE_ERRORS";

Result<Objects> compile_objects(const BuildSetting& setting, const std::string& work_folder);

// The boards' generic main for a program of the setting's model, and the descriptor by which it finds the model.
Result<std::vector<std::string>> compile_board_support(const BuildSetting& setting,
                                                       const std::string& work_folder);

// The program that simulates the devices of a package beside an emulator, for this machine.
Result<void> build_simulators(const BuildSetting& setting, const std::string& work_folder,
                              const std::string& output);

// The deepest chain of calls from `entry`, in bytes of stack, from GCC's call graphs (.ci).
struct StackBound {
  int64_t bytes = 0;
  std::vector<std::string> chain;
};
Result<StackBound> stack_bound(const std::vector<std::string>& call_graph_texts,
                               const std::string& entry);

}  // namespace intarsia::build
