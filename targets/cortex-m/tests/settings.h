// What users set for a core: compilers, levels of optimisation and other flags; and the emulated machines.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "core_program.h"

namespace intarsia::test::cortex_m {

struct SettingCore {
  const char* name;    // in the table
  const char* target;  // behind `c -mcpu=`
  const char* march;   // of the compilers
  const char* fpu;     // "soft" or "hard"
  const char* board;   // that runs its code; none: compiled only
  const char* also;    // a core of the board, whose flags what is around the kernels gets
};
const std::vector<SettingCore>& setting_cores();

struct Variant {
  const char* name;
  std::vector<std::string> flags;
  bool whole_program = false;
  const char* only = nullptr;  // the compiler that has it
};
const std::vector<Variant>& variants();

struct MatrixCase {
  const SettingCore* core;
  std::string compiler, optimise;
  const Variant* variant;

  std::string name() const;
  Setting setting() const;
};
void PrintTo(const MatrixCase& one, std::ostream* out);  // for GoogleTest

// Each core, compiler, level and variant once at least; or all of them with all.
std::vector<MatrixCase> lean_matrix();
std::vector<MatrixCase> full_matrix();

}  // namespace intarsia::test::cortex_m
