#include "build/object_machine.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "support/files.h"
#include "support/process.h"

namespace intarsia::build {
namespace {

struct ElfMachine {
  unsigned number;  // e_machine
  const char* name;
  std::vector<std::string> triples;  // how they begin
};

const std::vector<ElfMachine>& elf_machines() {
  static const std::vector<ElfMachine> all = {
      {3, "x86 (32 bits)", {"i386", "i486", "i586", "i686"}},
      {40, "Arm", {"arm", "thumb"}},
      {62, "x86-64", {"x86_64"}},
      {183, "AArch64", {"aarch64"}},
      {243, "RISC-V", {"riscv"}},
  };
  return all;
}

constexpr size_t kMachineOffset = 18;  // of e_machine, two bytes

}  // namespace

std::string elf_machine(const std::string& bytes) {
  if (!bytes.starts_with("\x7f"
                         "ELF") ||
      bytes.size() < kMachineOffset + 2)
    return "";
  const unsigned number = static_cast<uint8_t>(bytes[kMachineOffset]) |
                          static_cast<unsigned>(static_cast<uint8_t>(bytes[kMachineOffset + 1]))
                              << 8;
  for (const ElfMachine& machine : elf_machines())
    if (machine.number == number) return machine.name;
  return fmt::format("machine {} of ELF", number);
}

std::string machine_of_triple(const std::string& triple) {
  for (const ElfMachine& machine : elf_machines())
    if (std::any_of(machine.triples.begin(), machine.triples.end(),
                    [&](const std::string& begin) { return triple.starts_with(begin); }))
      return machine.name;
  return "";
}

Result<void> check_machine(const board::Board& board, const std::string& object) {
  INTARSIA_TRY(const std::string bytes, read_text_file(object));
  const auto outcome = run_process({board.compiler, "-dumpmachine"});
  if (!outcome.ok() || !outcome->succeeded()) return {};
  const std::string has = elf_machine(bytes), wants = machine_of_triple(outcome->out);
  if (has.empty() || wants.empty() || has == wants) return {};
  return Diagnostics(std::filesystem::path(object).filename().string(),
                     fmt::format("is code for {}, and board '{}' runs {}", has, board.name, wants),
                     "choose a target of the board's core, or a board of the target's");
}

}  // namespace intarsia::build
