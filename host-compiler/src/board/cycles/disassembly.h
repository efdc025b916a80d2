// The instructions of a board's program, from the text of GNU binutils' disassembler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace intarsia::board {

// A place in C source. Of code that was inlined, the place of the outermost call.
struct SourceLine {
  std::string file;  // empty: not known
  int line = 0;

  bool operator==(const SourceLine&) const = default;
};

struct CodeInstruction {
  uint32_t address = 0;
  uint8_t size = 0;      // in bytes: 2 or 4
  std::string mnemonic;  // as written: "addeq.w"
  std::string operands;  // without the disassembler's remarks
  SourceLine source;
};

// The arguments behind the disassembler's name: code with places in the source. `architecture`: where the program does not
// tell the disassembler of all the instructions that it has; may be empty.
std::vector<std::string> disassembler_arguments(const std::string& architecture,
                                                const std::string& program);

// In the order of the text; words of data between the code are left out.
std::vector<CodeInstruction> parse_disassembly(std::string_view text);

}  // namespace intarsia::board
