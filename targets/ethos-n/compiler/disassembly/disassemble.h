// `intarsia disasm` for Ethos-N: a compiled network (ENCN), or what our packages hold of one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "intarsia/result.h"

namespace intarsia::targets::ethos_n {

// Nothing: the bytes are none of these.
std::optional<Result<std::string>> disassemble(std::span<const uint8_t> bytes);

}  // namespace intarsia::targets::ethos_n
