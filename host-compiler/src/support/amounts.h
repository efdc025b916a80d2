// Amounts as people write them, on the command line and in JSON files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace intarsia {

// Bytes: "60000", "20K", "1.5M", "2G" or "0x20000000"; K is 1024, M and G are its powers. What is left of a fraction of a
// byte is dropped. Nothing for another text, or for more than an int64_t holds.
std::optional<int64_t> parse_bytes(std::string_view text);

// For people, and as parse_bytes takes it: "512" up to 9999 bytes, then "22.1K", "1.50M", "2.00G", rounded up, so that what
// is shown as needed is enough.
std::string readable_bytes(int64_t bytes);
// The same rounded down: what is shown as there is there.
std::string readable_room(int64_t bytes);
// "512", then "22.1k", "3.58M", "1.20G", rounded to the nearest.
std::string readable_count(int64_t count);

// A count, of cycles say: "5000000", "500k", "5M", "1.5G"; k is 1000, M and G are its powers. As many digits behind the
// point as make a whole number: the rest is dropped.
std::optional<int64_t> parse_count(std::string_view text);

// "2%" or "0.25%" in thousandths of a per cent, at most three digits behind the point.
std::optional<int64_t> parse_percent(std::string_view text);

}  // namespace intarsia
