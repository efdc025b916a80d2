// Amounts as people write them, on the command line and in JSON files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace intarsia {

// Bytes: "60000", "20K", "1.5M", "2G" or "0x20000000"; K is 1024, M and G are its powers. What is left of a fraction of a
// byte is dropped. Nothing for another text, or for more than an int64_t holds.
std::optional<int64_t> parse_bytes(std::string_view text);

// A count, of cycles say: "5000000", "500k", "5M", "1.5G"; k is 1000, M and G are its powers. As many digits behind the
// point as make a whole number: the rest is dropped.
std::optional<int64_t> parse_count(std::string_view text);

// "2%" or "0.25%" in thousandths of a per cent, at most three digits behind the point.
std::optional<int64_t> parse_percent(std::string_view text);

}  // namespace intarsia
