#include "intarsia/targets/example_npu/decode.h"

namespace intarsia::simulators::example_npu {
namespace {

enum Signedness { Unsigned, Signed };

int64_t take(const Words& words, Words& rest, uint32_t word, uint32_t low_bit, uint32_t bits,
             Signedness sign) {
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  rest[word] &= ~static_cast<uint32_t>(mask << low_bit);
  const auto value = static_cast<int64_t>(words[word] >> low_bit & mask);
  const bool negative = sign == Signed && (value >> (bits - 1) & 1) != 0;
  return negative ? value - (int64_t{1} << bits) : value;
}

}  // namespace

bool decode(const Words& words, Opcode& opcode, Operands& operands) {
  Words rest = words;
  const auto number = static_cast<uint32_t>(take(words, rest, 0, 0, 8, Unsigned));
  bool known = false;
  operands = {};
#define COMMAND(name, value) \
  if (number == value) {     \
    known = true;            \
    opcode = Opcode::name;   \
  }
#define FIELD(command, name, word, low_bit, bits, sign) \
  if (number == static_cast<uint32_t>(Opcode::command)) \
    operands.command##_##name = take(words, rest, word, low_bit, bits, sign);
#include "intarsia/targets/example_npu/commands.def"
#undef COMMAND
#undef FIELD
  return known && rest == Words{};
}

}  // namespace intarsia::simulators::example_npu
