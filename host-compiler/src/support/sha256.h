// The hash that names a file's contents: FIPS 180-4, as the command sha256sum prints it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace intarsia {

// 64 hexadecimal digits, in lower case.
std::string sha256(std::span<const uint8_t> bytes);

}  // namespace intarsia
