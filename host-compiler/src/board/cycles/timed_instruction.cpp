#include "board/cycles/timed_instruction.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

namespace intarsia::board {
namespace {

enum class Operands {
  None,
  Result,
  Binary,
  Result2,
  InPlace,
  Accumulate,
  Accumulate2,
  AddTo,
  Read,
  Move2,
  Load,
  Load2,
  LoadList,
  Store,
  Store2,
  StoreList,
  Link,
};
enum class Bank { Core, Float, Vector };

struct Mnemonic {
  std::string_view name, class_name;
  Operands operands;
  Bank bank;
};

constexpr auto kMnemonics = std::to_array<Mnemonic>({
#define MNEMONIC(name, class_name, operands) {name, #class_name, Operands::operands, Bank::Core},
#define FLOATING(name, class_name, operands) {name, #class_name, Operands::operands, Bank::Float},
#define VECTOR(name, class_name, operands) {name, #class_name, Operands::operands, Bank::Vector},
#include "board/cycles/thumb_mnemonics.def"
#undef MNEMONIC
#undef FLOATING
#undef VECTOR
});

constexpr auto kConditions =
    std::to_array<std::string_view>({"eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl", "vs", "vc",
                                     "hi", "ls", "ge", "lt", "gt", "le", "al"});

const Mnemonic* named(std::string_view name, bool vector) {
  for (const Mnemonic& mnemonic : kMnemonics)
    if (mnemonic.name == name &&
        (mnemonic.bank == Bank::Core || (mnemonic.bank == Bank::Vector) == vector))
      return &mnemonic;
  return nullptr;
}

bool is_then_else(std::string_view text) {
  return text.find_first_not_of("te") == std::string_view::npos;
}

// Conditions of `it` blocks stand behind core and floating-point instructions, t and e of `vpt` blocks behind vector ones.
const Mnemonic* mnemonic_of(std::string_view written, bool vector) {
  const std::string_view name = written.substr(0, written.find('.'));
  if (const Mnemonic* exact = named(name, vector)) return exact;
  if (name.starts_with("it") && is_then_else(name.substr(2))) return named("it", false);
  for (const std::string_view block : {"vpt", "vpst"})
    if (name.starts_with(block) && is_then_else(name.substr(block.size())))
      return named(block, true);
  if (vector && (name.ends_with('t') || name.ends_with('e')))
    return named(name.substr(0, name.size() - 1), true);
  const bool conditional =
      name.size() > 2 && std::find(kConditions.begin(), kConditions.end(),
                                   name.substr(name.size() - 2)) != kConditions.end();
  const std::string_view plain = conditional ? name.substr(0, name.size() - 2) : name;
  if (const Mnemonic* found = conditional ? named(plain, vector) : nullptr) return found;
  for (const std::string_view with_flags : {name, plain})
    if (with_flags.ends_with('s'))
      if (const Mnemonic* found = named(with_flags.substr(0, with_flags.size() - 1), vector))
        return found;
  return nullptr;
}

RegisterSet float_registers(int first, int count) {
  if (first < 0 || first + count > 32) return 0;
  return ((RegisterSet{1} << count) - 1) << (kFirstFloatRegister + first);
}

// 0: no register.
RegisterSet register_of(std::string_view word) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"sb", "sl", "fp", "ip", "sp", "lr", "pc"});
  const auto named = std::find(kNames.begin(), kNames.end(), word);
  if (named != kNames.end()) return RegisterSet{1} << (9 + (named - kNames.begin()));
  if (word.size() < 2 || word.size() > 3) return 0;
  int number = 0;
  const char* end = word.data() + word.size();
  const auto [last, error] = std::from_chars(word.data() + 1, end, number);
  if (error != std::errc() || last != end) return 0;
  switch (word[0]) {
    case 'r':
      return number < 16 ? RegisterSet{1} << number : 0;
    case 's':
      return float_registers(number, 1);
    case 'd':
      return float_registers(2 * number, 2);
    case 'q':
      return float_registers(4 * number, 4);
    default:
      return 0;
  }
}

int bits_set(RegisterSet set) {
  return __builtin_popcountll(set);
}

// From the lowest register of `first` to the highest of `last`.
RegisterSet range_of(RegisterSet first, RegisterSet last) {
  if (first == 0 || last == 0) return 0;
  const int from = __builtin_ctzll(first), to = 63 - __builtin_clzll(last);
  RegisterSet all = 0;
  for (int i = from; i <= to; ++i) all |= RegisterSet{1} << i;
  return all;
}

struct ParsedOperands {
  std::vector<RegisterSet> plain;  // in their order
  RegisterSet bracketed = 0, list = 0;
  int registers_in_brackets = 0;
  bool writes_back = false;
  bool vector_in_brackets = false;
  bool shifts = false;
  int count = 1;  // of operands of any kind
};

ParsedOperands parse_operands(std::string_view text) {
  ParsedOperands found;
  bool in_brackets = false, in_list = false, behind_brackets = false, to_range = false;
  RegisterSet last = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) {
      ++at;
      if (c == '[') in_brackets = true;
      if (c == ']') in_brackets = false, behind_brackets = true;
      if (c == '{') in_list = true, last = 0;
      if (c == '}') in_list = false;
      if (c == '!') found.writes_back = true;
      if (c == '-' && in_list) to_range = true;
      if (c == ',' && !in_list && !in_brackets) ++found.count;
      if (c == '#') {  // a number; behind brackets it is added to the address afterwards
        if (behind_brackets && !in_brackets) found.writes_back = true;
        while (at < text.size() && text[at] != ',' && text[at] != ']') ++at;
      }
      continue;
    }
    size_t end = at;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    const std::string_view word = text.substr(at, end - at);
    at = end;
    const RegisterSet set = register_of(word);
    if (set == 0) {
      if (word == "lsl" || word == "lsr" || word == "asr" || word == "ror" || word == "rrx")
        found.shifts = !in_brackets || found.shifts;
      continue;
    }
    if (in_list) {
      found.list |= to_range ? range_of(last, set) : set;
      to_range = false;
      last = set;
    } else if (at < text.size() && text[at] == '[') {  // an element of a vector: q0[2]
      found.plain.push_back(set);
      at = std::min(text.find(']', at), text.size() - 1) + 1;
    } else if (in_brackets) {
      found.bracketed |= set;
      ++found.registers_in_brackets;
      if (word[0] == 'q') found.vector_in_brackets = true;
    } else {
      if (behind_brackets) found.writes_back = true;
      found.plain.push_back(set);
    }
  }
  return found;
}

// The bits of the memory's elements are in the mnemonic's own letter, those of the vector's in its type.
int elements_of(std::string_view mnemonic) {
  const size_t digits = mnemonic.find_first_of("0123456789", mnemonic.find('.'));
  int bits = 0;
  if (mnemonic.find('.') != std::string_view::npos && digits != std::string_view::npos)
    std::from_chars(mnemonic.data() + digits, mnemonic.data() + mnemonic.size(), bits);
  return bits == 0 ? 4 : 128 / bits;
}

void set_memory_operands(const Mnemonic& mnemonic, const ParsedOperands& parsed,
                         TimedInstruction& timed) {
  const auto at = [&](size_t i) { return i < parsed.plain.size() ? parsed.plain[i] : 0; };
  const bool by_stack = mnemonic.name == "push" || mnemonic.name == "pop" ||
                        mnemonic.name == "vpush" || mnemonic.name == "vpop";
  constexpr RegisterSet kStackPointer = RegisterSet{1} << 13;
  RegisterSet data = 0;
  switch (mnemonic.operands) {
    case Operands::Load:
    case Operands::Store:
      data = at(0);
      timed.of_address = parsed.bracketed;
      break;
    case Operands::Load2:
    case Operands::Store2:
      data = at(0) | at(1);
      timed.of_address = parsed.bracketed;
      break;
    default:
      data = parsed.list;
      timed.of_address = by_stack                ? kStackPointer
                         : parsed.bracketed != 0 ? parsed.bracketed
                                                 : at(0);
      break;
  }
  const bool loads = mnemonic.operands == Operands::Load || mnemonic.operands == Operands::Load2 ||
                     mnemonic.operands == Operands::LoadList;
  timed.words = std::max(1, bits_set(data));
  timed.read = timed.of_address | (loads ? 0 : data);
  timed.written = loads ? data : 0;
  timed.writes_back = parsed.writes_back || by_stack;
  if (timed.writes_back) timed.written |= timed.of_address;
  // tbb and tbh have a branch where loads have a register.
  if (mnemonic.class_name == "TableBranch") timed.written = 0, timed.words = 1;
}

void set_operands(const Mnemonic& mnemonic, const ParsedOperands& parsed, TimedInstruction& timed) {
  const std::vector<RegisterSet>& plain = parsed.plain;
  const auto at = [&](size_t i) { return i < plain.size() ? plain[i] : 0; };
  const auto from = [&](size_t first) {
    RegisterSet all = 0;
    for (size_t i = first; i < plain.size(); ++i) all |= plain[i];
    return all;
  };
  switch (mnemonic.operands) {
    case Operands::None:
      break;
    case Operands::Result:
      timed.written = at(0), timed.read = from(1);
      break;
    case Operands::Binary:
      timed.written = at(0), timed.read = from(parsed.count == 2 ? 0 : 1);
      break;
    case Operands::Result2:
      timed.written = at(0) | at(1), timed.read = from(2);
      break;
    case Operands::InPlace:
      timed.written = at(0), timed.read = from(0);
      break;
    case Operands::Accumulate:
      timed.written = at(0), timed.read = from(1);
      timed.accumulated = plain.empty() ? 0 : plain.back();
      for (size_t i = 1; i + 1 < plain.size(); ++i) timed.accumulated &= ~plain[i];
      break;
    case Operands::Accumulate2:
      timed.written = at(0) | at(1), timed.read = from(0);
      timed.accumulated = timed.written & ~from(2);
      break;
    case Operands::AddTo:
      timed.written = at(0), timed.read = from(0);
      timed.accumulated = at(0) & ~from(1);
      break;
    case Operands::Read:
      timed.read = from(0) | parsed.bracketed;
      break;
    case Operands::Move2: {  // vmov s0, r0; vmov d0, r0, r1; vmov r0, r1, d0; vmov r0, r1, s0, s1
      constexpr RegisterSet kCoreRegisters = 0xffff;
      const bool two_results =
          plain.size() == 4 || (plain.size() == 3 && (at(0) & kCoreRegisters) != 0);
      timed.written = two_results ? at(0) | at(1) : at(0);
      timed.read = from(two_results ? 2 : 1);
      timed.words = plain.size() > 2 ? 2 : 1;
      break;
    }
    case Operands::Link:
      timed.written = RegisterSet{1} << 14;
      timed.read = from(0) & ~timed.written;
      break;
    default:
      set_memory_operands(mnemonic, parsed, timed);
      break;
  }
}

// Whose operands may be called like registers: `b.n d0`, an address.
bool has_target(std::string_view class_name) {
  return class_name == "Branch" || class_name == "Call" || class_name == "LoopEnd";
}

}  // namespace

std::optional<TimedInstruction> timed_instruction(const CodeInstruction& code) {
  // The first register says whether `vmov` and `vadd` are of vectors.
  const ParsedOperands parsed = parse_operands(code.operands);
  const bool vector = code.operands.find('q') != std::string::npos ||
                      code.mnemonic.starts_with("vp") || code.mnemonic.starts_with("vctp");
  const bool floats = code.mnemonic == "vpush" || code.mnemonic == "vpop";
  const Mnemonic* mnemonic = mnemonic_of(code.mnemonic, vector && !floats);
  if (mnemonic == nullptr) return std::nullopt;
  TimedInstruction timed;
  timed.address = code.address;
  timed.size = code.size;
  timed.class_name = mnemonic->class_name;
  if (has_target(mnemonic->class_name)) {
    if (mnemonic->name.starts_with("cb") && !parsed.plain.empty())
      timed.read = parsed.plain.front();
    if (mnemonic->class_name == "Call") timed.written = RegisterSet{1} << 14;
    return timed;
  }
  set_operands(*mnemonic, parsed, timed);
  constexpr RegisterSet kProgramCounter = RegisterSet{1} << 15;
  timed.literal = (timed.of_address & kProgramCounter) != 0;
  timed.register_offset = parsed.registers_in_brackets > 1;
  timed.shifts_operand = parsed.shifts;
  timed.part_of_word = mnemonic->class_name == "Load" && mnemonic->name != "ldr";
  if (mnemonic->bank == Bank::Vector) {
    timed.elements = elements_of(code.mnemonic);
    if (parsed.vector_in_brackets)
      timed.class_name = mnemonic->class_name == "VectorLoad" ? "VectorGather" : "VectorScatter";
    if (mnemonic->class_name == "VectorInteger" && code.mnemonic.find(".f") != std::string::npos)
      timed.class_name = "VectorCompare";  // the pipe of floating point
    if (mnemonic->class_name == "VectorMove" && parsed.plain.size() == 1)
      timed.class_name = "VectorInteger";  // of a constant
  }
  return timed;
}

}  // namespace intarsia::board
