#include "settings.h"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>

namespace intarsia::test::cortex_m {

// GCC 12 and clang 14 know neither M52, M85 nor STAR-MC1: the first two get the architecture with their features, the
// last is an Armv8-M Mainline core with DSP as M33 is. QEMU has no M23; an M33 runs its code.
const std::vector<SettingCore>& setting_cores() {
  static const std::vector<SettingCore> cores = {
      {"m0", "cortex-m0", "-mcpu=cortex-m0", "soft", "microbit", "cortex-m0"},
      {"m3", "cortex-m3", "-mcpu=cortex-m3", "soft", "mps2-an385", "cortex-m3"},
      {"m4", "cortex-m4", "-mcpu=cortex-m4", "hard", "mps2-an386", "cortex-m4"},
      {"m7", "cortex-m7", "-mcpu=cortex-m7", "hard", "mps2-an500", "cortex-m7"},
      {"m23", "cortex-m23", "-mcpu=cortex-m23", "soft", "mps2-an505", "cortex-m33"},
      {"m33", "cortex-m33", "-mcpu=cortex-m33", "hard", "mps2-an505", "cortex-m33"},
      {"m33_nodsp", "cortex-m33 -mattr=-dsp", "-mcpu=cortex-m33+nodsp", "hard", "mps2-an505",
       "cortex-m33"},
      {"m52", "cortex-m52", "-march=armv8.1-m.main+mve.fp+fp.dp", "hard", "mps3-an547",
       "cortex-m55"},
      {"m55", "cortex-m55", "-mcpu=cortex-m55", "hard", "mps3-an547", "cortex-m55"},
      {"m55_nomve", "cortex-m55 -mattr=-mve", "-mcpu=cortex-m55+nomve", "hard", "mps3-an547",
       "cortex-m55"},
      {"m55_nomvefp", "cortex-m55 -mattr=-mve.fp", "-mcpu=cortex-m55+nomve.fp", "hard",
       "mps3-an547", "cortex-m55"},
      {"m85", "cortex-m85", "-march=armv8.1-m.main+mve.fp+fp.dp", "hard", "mps3-an547",
       "cortex-m55"},
  };
  return cores;
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = {
      {"plain", {}},
      {"lto", {}, true},
      {"frame_pointer", {"-fno-omit-frame-pointer"}},
      {"fixed_r9", {"-ffixed-r9", "-DINTARSIA_RESERVED_R9"}},
      {"branch_protection", {"-mbranch-protection=standard"}, false, "clang"},
      {"aligned_words", {"-mno-unaligned-access"}},
      {"unaligned_words", {"-munaligned-access"}},
      {"no_asm", {"-DINTARSIA_NO_ASM"}},
  };
  return all;
}

namespace {

bool has_words_anywhere(const std::string& core) {
  return core != "m0" && core != "m23";
}

bool exists(const SettingCore& core, const std::string& compiler, const std::string& optimise,
            const Variant& variant) {
  const std::string name = core.name, what = variant.name;
  if (variant.only != nullptr && compiler != variant.only) return false;
  if (what == "branch_protection" && !name.starts_with("m33") && name[1] != '5' && name != "m85")
    return false;
  if (what == "unaligned_words" && !has_words_anywhere(name)) return false;
  // What is not optimised has no assembly to leave registers to.
  return optimise != "-O0" || (what != "no_asm" && what != "lto");
}

}  // namespace

std::string MatrixCase::name() const {
  return fmt::format("{}_{}_{}_{}", core->name, compiler == "clang" ? "clang" : "gcc",
                     optimise.substr(1), variant->name);
}

Setting MatrixCase::setting() const {
  Setting setting;
  setting.compiler = compiler;
  setting.core = {core->march, fmt::format("-mfloat-abi={}", core->fpu)};
  // Clang has Helium without floating point by another name.
  if (compiler == "clang" && std::string(core->name) == "m55_nomvefp")
    setting.core[0] = "-march=armv8.1-m.main+mve+fp.dp";
  setting.flags = variant->flags;
  setting.flags.insert(setting.flags.begin(), optimise);
  setting.whole_program = variant->whole_program;
  return setting;
}

void PrintTo(const MatrixCase& one, std::ostream* out) {
  *out << one.name();
}

std::vector<MatrixCase> full_matrix() {
  std::vector<MatrixCase> all;
  for (const SettingCore& core : setting_cores())
    for (const char* compiler : {"arm-none-eabi-gcc", "clang"})
      for (const char* optimise : {"-O0", "-Os", "-O2", "-O3"})
        for (const Variant& variant : variants())
          if (exists(core, compiler, optimise, variant))
            all.push_back({&core, compiler, optimise, &variant});
  return all;
}

std::vector<MatrixCase> lean_matrix() {
  constexpr const char* kNames[] = {
      "m0_gcc_O2_frame_pointer", "m3_gcc_O3_fixed_r9",
      "m4_gcc_Os_lto",           "m4_clang_O2_unaligned_words",
      "m7_gcc_O2_aligned_words", "m23_clang_O3_lto",
      "m33_nodsp_gcc_Os_plain",  "m52_clang_O2_branch_protection",
      "m55_nomve_gcc_O0_plain",  "m85_gcc_Os_no_asm",
  };
  std::vector<MatrixCase> some;
  for (MatrixCase& one : full_matrix())
    if (std::find(std::begin(kNames), std::end(kNames), one.name()) != std::end(kNames))
      some.push_back(std::move(one));
  if (some.size() != std::size(kNames)) throw std::logic_error("a setting that the table lacks");
  return some;
}

}  // namespace intarsia::test::cortex_m
