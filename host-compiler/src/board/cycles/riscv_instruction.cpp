#include <array>
#include <cctype>
#include <charconv>
#include <vector>

#include "board/cycles/timed_instruction.h"

namespace intarsia::board {
namespace {

enum class RiscvOperands { None, Result, Read, Load, Store, Jump, Link, Return };

struct RiscvMnemonic {
  std::string_view name, class_name;
  RiscvOperands operands;
};

constexpr auto kRiscvMnemonics = std::to_array<RiscvMnemonic>({
#define MNEMONIC(name, class_name, operands) {name, #class_name, RiscvOperands::operands},
#include "board/cycles/riscv_mnemonics.def"
#undef MNEMONIC
});

// x0 is never waited for. Bit 15 is the program counter of an Arm core, which is none here: it is x0's.
RegisterSet integer_register(int number) {
  if (number == 0) return 0;
  return RegisterSet{1} << (number == 15 ? 0 : number);
}
RegisterSet riscv_float_register(int number) {
  return RegisterSet{1} << (32 + number);
}

// By the names of the calling convention: a0, fs11; 0 where it is none.
RegisterSet riscv_register(std::string_view word) {
  struct Named {
    std::string_view name;
    int number;
  };
  constexpr auto kNames =
      std::to_array<Named>({{"zero", 0}, {"ra", 1}, {"sp", 2}, {"gp", 3}, {"tp", 4}, {"fp", 8}});
  for (const Named& named : kNames)
    if (named.name == word) return integer_register(named.number);
  const bool is_float = word.starts_with('f');
  if (is_float) word.remove_prefix(1);
  int number = 0;
  if (word.size() < 2) return 0;
  const char* end = word.data() + word.size();
  const auto [last, error] = std::from_chars(word.data() + 1, end, number);
  if (error != std::errc() || last != end || number < 0) return 0;
  int place = -1;
  if (word[0] == 't' && is_float && number < 12) place = number < 8 ? number : number + 20;
  if (word[0] == 't' && !is_float && number < 7) place = number < 3 ? number + 5 : number + 25;
  if (word[0] == 's' && number < 12) place = number < 2 ? number + 8 : number + 16;
  if (word[0] == 'a' && number < 8) place = number + 10;
  if (place < 0) return 0;
  return is_float ? riscv_float_register(place) : integer_register(place);
}

struct RiscvParsed {
  std::vector<RegisterSet> plain;  // in their order; 0 for what is no register
  RegisterSet in_parentheses = 0;
};

RiscvParsed parse_riscv_operands(std::string_view text) {
  RiscvParsed parsed;
  bool inside = false;
  for (size_t at = 0; at < text.size() && text[at] != '#';) {
    if (text[at] == '(') inside = true;
    if (text[at] == ')') inside = false;
    if (std::isalnum(static_cast<unsigned char>(text[at])) == 0) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    const RegisterSet found = riscv_register(text.substr(at, end - at));
    if (inside)
      parsed.in_parentheses |= found;
    else
      parsed.plain.push_back(found);
    at = end;
  }
  return parsed;
}

}  // namespace

std::optional<TimedInstruction> timed_riscv_instruction(const CodeInstruction& code) {
  const RiscvMnemonic* mnemonic = nullptr;
  for (const RiscvMnemonic& known : kRiscvMnemonics)
    if (known.name == code.mnemonic) mnemonic = &known;
  if (mnemonic == nullptr) return std::nullopt;
  constexpr RegisterSet kReturnAddress = RegisterSet{1} << 1;
  TimedInstruction timed;
  timed.address = code.address;
  timed.size = code.size;
  timed.class_name = mnemonic->class_name;
  const RiscvParsed parsed = parse_riscv_operands(code.operands);
  const auto from = [&](size_t first) {
    RegisterSet all = parsed.in_parentheses;
    for (size_t i = first; i < parsed.plain.size(); ++i) all |= parsed.plain[i];
    return all;
  };
  const RegisterSet first = parsed.plain.empty() ? 0 : parsed.plain.front();
  switch (mnemonic->operands) {
    case RiscvOperands::Result:
      timed.written = first, timed.read = from(1);
      // `jalr a5` links to ra.
      if (mnemonic->class_name == "CallRegister" && parsed.plain.size() == 1)
        timed.written = kReturnAddress, timed.read = from(0);
      break;
    case RiscvOperands::Read:
      timed.read = from(0);
      break;
    case RiscvOperands::Load:
      timed.written = first;
      timed.read = timed.of_address = parsed.in_parentheses;
      break;
    case RiscvOperands::Store:
      timed.read = timed.of_address = parsed.in_parentheses;
      break;
    case RiscvOperands::Link:
      timed.written = kReturnAddress;
      break;
    case RiscvOperands::Return:
      timed.read = kReturnAddress;
      break;
    case RiscvOperands::Jump:
    case RiscvOperands::None:
      break;
  }
  timed.part_of_word = mnemonic->class_name == "Load" && mnemonic->name != "lw";
  return timed;
}

}  // namespace intarsia::board
