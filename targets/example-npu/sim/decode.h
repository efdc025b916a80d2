// Commands as structures, read with the table of isa/commands.def.
#pragma once

#include <array>
#include <cstdint>

namespace intarsia::simulators::example_npu {

#define CONSTANT(name, value) inline constexpr uint32_t k##name = value;
#include "intarsia/targets/example_npu/constants.def"
#undef CONSTANT

using Words = std::array<uint32_t, kCommandWords>;

enum class Opcode : uint32_t {
#define COMMAND(name, opcode) name = opcode,
#define FIELD(command, name, word, low_bit, bits, sign)
#include "intarsia/targets/example_npu/commands.def"
#undef COMMAND
#undef FIELD
};

// One structure per command would need the table to be grouped; one structure of everything that
// a command can hold does not. Fields of other commands stay zero.
struct Operands {
#define COMMAND(name, opcode)
#define FIELD(command, name, word, low_bit, bits, sign) int64_t command##_##name = 0;
#include "intarsia/targets/example_npu/commands.def"
#undef COMMAND
#undef FIELD
};

// False: the opcode is unknown, or a bit that no field names is set.
bool decode(const Words& words, Opcode& opcode, Operands& operands);

}  // namespace intarsia::simulators::example_npu
