// What the timing of an instruction depends on: its class, and the registers that it reads and writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "board/cycles/disassembly.h"

namespace intarsia::board {

// Sets of registers. Arm: bits 0 to 15 are r0 to pc, bits 16 to 47 s0 to s31, of which d and q registers are parts. RISC-V: bits 0 to
// 31 are x0 to x31, but that x15 is bit 0 and x0, which nothing waits for, in no set; bits 32 to 63 f0 to f31.
using RegisterSet = uint64_t;
inline constexpr int kFirstFloatRegister = 16;

struct TimedInstruction {
  uint32_t address = 0;
  uint8_t size = 0;             // in bytes
  std::string_view class_name;  // a class of boards/common/qemu_plugin/core_timings.def
  int words = 1;                // that are loaded, stored or moved
  int elements = 0;             // of a vector in memory
  RegisterSet written = 0, read = 0;
  RegisterSet of_address = 0;    // those of `read` that make an address
  RegisterSet accumulated = 0;   // those of `read` that are only added to
  bool writes_back = false;      // the address register is written
  bool literal = false;          // a load relative to the program counter
  bool register_offset = false;  // the address is a sum of two registers
  bool shifts_operand = false;   // an operand is shifted by the way
  bool part_of_word = false;     // a load of a byte or of 16 bits
};

// Nothing where the mnemonic is not in thumb_mnemonics.def, or riscv_mnemonics.def.
std::optional<TimedInstruction> timed_instruction(const CodeInstruction& code);
std::optional<TimedInstruction> timed_riscv_instruction(const CodeInstruction& code);

}  // namespace intarsia::board
