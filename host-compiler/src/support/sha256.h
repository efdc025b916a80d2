// The hash that names a file's contents: FIPS 180-4, as the command sha256sum prints it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace intarsia {

// 64 hexadecimal digits, in lower case.
std::string sha256(std::span<const uint8_t> bytes);
// The same without the instructions that some processors have for it.
std::string sha256_in_plain_code(std::span<const uint8_t> bytes);

}  // namespace intarsia
