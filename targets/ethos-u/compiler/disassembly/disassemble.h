// `intarsia disasm` for Ethos-U: a plain command stream, a driver payload ("COP1", what our packages and
// Vela's operators hold), or a .tflite with such operators. One command a line: offset in the stream,
// words, name and fields; operations carry a remark of what they do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "intarsia/result.h"

namespace intarsia::targets::ethos_u {

// Nothing: the bytes are none of these.
std::optional<Result<std::string>> disassemble(std::span<const uint8_t> bytes);

}  // namespace intarsia::targets::ethos_u
