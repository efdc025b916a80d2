// Object files that a package brings, and the machine that a board's compiler makes code for.
#pragma once

#include <string>

#include "intarsia/board.h"
#include "intarsia/result.h"

namespace intarsia::build {

// The machine of the ELF file of these bytes, as a name: "AArch64". Empty where they are none.
std::string elf_machine(const std::string& bytes);
// The machine in the first part of a compiler's triple: "aarch64-linux-gnu". Empty where it is not known.
std::string machine_of_triple(const std::string& triple);

// Refuses an object file that the board cannot run, which its linker would say less clearly. Says nothing of machines and
// files that it does not know.
Result<void> check_machine(const board::Board& board, const std::string& object);

}  // namespace intarsia::build
