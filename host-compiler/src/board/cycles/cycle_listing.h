// The code of a program as the plugin that counts cycles reads it: what the timing of each instruction depends on, and
// which operator of the model it belongs to.
#pragma once

#include <string>
#include <vector>

#include "board/cycles/disassembly.h"
#include "intarsia/board.h"

namespace intarsia::board {

// Lines of a file with generated C that belong to one operator: those up to the call of the trace hook with its index,
// from the hook before it or from the beginning of the function.
struct OperatorLines {
  std::string file;
  int first = 0, last = 0;
  int index = 0;  // of the trace hook
  std::string name;
  bool starts_stream = false;  // they are a driver's: the operator's work is a device's
};
// `hook`: the macro, KWS_TRACE.
std::vector<OperatorLines> operator_lines(const std::string& file, std::string_view text,
                                          const std::string& hook);

// One line per memory and one per instruction:
//   memory BASE SIZE CYCLES
//   code ADDRESS SIZE CLASS WORDS ELEMENTS FLAGS WRITTEN READ OF-ADDRESS ACCUMULATED OPERATOR
// Addresses, sizes and sets are hexadecimal; OPERATOR is -1 where the instruction says nothing of it; FLAGS is a word of
// letters: w writes the address back, l literal, r register offset, s shifted operand, p part of a word, - none. The class of
// an instruction that is not in thumb_mnemonics.def or riscv_mnemonics.def is Unknown.
std::string cycle_listing(const Board& board, const std::vector<CodeInstruction>& code,
                          const std::vector<OperatorLines>& operators);

}  // namespace intarsia::board
