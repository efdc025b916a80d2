// Programs for Linux that somebody else's build makes of packages, with a main() of their own, and how they are started here.
#pragma once

#include <string>
#include <vector>

#include "cli.h"

namespace intarsia::test {

struct LinuxMachine {
  const char* board;
  const char* tools;                  // the prefix of the compilers' names
  const char* processor;              // as CMake names it
  std::vector<std::string> emulator;  // nothing: this machine is one
};
const LinuxMachine& arm_linux();
const LinuxMachine& x86_linux();

// Both compilers and the emulator.
bool can_build_for(const LinuxMachine& machine);

// SharedLibrary: by CMake too, with models from libNAME.so, which `intarsia build` has written, and devices and their
// drivers from the packages.
enum class Build { CMake, Make, SharedLibrary };
const char* name_of(Build build);

// A package in a folder of its name; the model has one input and one output.
struct UsedPackage {
  std::string model;
  int devices = 0;
  // The package whose devices it runs on; empty: its own.
  std::string shares_devices_of = {};
};

// The programs read `rounds` inputs of each model, NAME.in, and write as many outputs, NAME.out; models take turns.
class LinuxPrograms : public Cli {
 protected:
  // Builds a program of the packages and runs it. What an earlier one had in common with it is not compiled again.
  testing::AssertionResult build_and_run(const LinuxMachine& machine, Build build,
                                         const std::vector<UsedPackage>& packages,
                                         int rounds = 1) const;

 private:
  void write_sources(const std::vector<UsedPackage>& packages, int rounds) const;
  ProcessOutcome build_program(const LinuxMachine& machine, Build build,
                               const std::vector<UsedPackage>& packages) const;
};

}  // namespace intarsia::test
