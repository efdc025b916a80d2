#include "support/amounts.h"

#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace intarsia {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::optional<int64_t> parse_digits(std::string_view text, int base) {
  int64_t value = 0;
  if (text.empty() || text.front() == '-') return std::nullopt;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// "1.25" times `unit`, without its fraction. The digits are taken one by one: nothing is rounded.
std::optional<int64_t> parse_decimal(std::string_view text, int64_t unit) {
  const size_t point = text.find('.');
  const std::optional<int64_t> whole = parse_digits(text.substr(0, point), 10);
  if (!whole || *whole > kMost / unit) return std::nullopt;
  if (point == std::string_view::npos) return *whole * unit;
  const std::string_view digits = text.substr(point + 1);
  constexpr size_t kMostDigits = 9;
  if (digits.size() > kMostDigits) return std::nullopt;
  const std::optional<int64_t> fraction = parse_digits(digits, 10);
  if (!fraction) return std::nullopt;
  int64_t scale = 1;
  for (size_t i = 0; i < digits.size(); ++i) scale *= 10;
  // Below 2^30 times 10^9: in range.
  const int64_t more = *fraction * unit / scale;
  if (*whole * unit > kMost - more) return std::nullopt;
  return *whole * unit + more;
}

std::optional<int64_t> parse_scaled(std::string_view text, int64_t thousand) {
  if (text.empty()) return std::nullopt;
  int64_t unit = 1;
  switch (text.back()) {
    case 'k':
    case 'K':
      unit = thousand;
      break;
    case 'm':
    case 'M':
      unit = thousand * thousand;
      break;
    case 'g':
    case 'G':
      unit = thousand * thousand * thousand;
      break;
    default:
      break;
  }
  if (unit > 1) text.remove_suffix(1);
  if (unit == 1 && text.find('.') != std::string_view::npos) return std::nullopt;
  return parse_decimal(text, unit);
}

enum class Rounding { Up, Down, Nearest };

// Three digits and a letter: `tenths` of the unit, or hundredths below ten of it. The rest is rounded.
std::string readable(int64_t amount, int64_t thousand, const char* letters, Rounding rounding) {
  constexpr int64_t kAsItIs = 9999;
  if (amount <= kAsItIs) return fmt::format("{}", amount);
  int64_t unit = thousand;
  while (letters[1] != '\0' && amount / unit >= thousand) unit *= thousand, ++letters;
  const int64_t scale = amount / unit < 10 ? 100 : 10;
  // In parts, since all of it times `scale` may be more than there are numbers.
  const int64_t rest = amount % unit * scale;
  const int64_t added = rounding == Rounding::Up     ? unit - 1
                        : rounding == Rounding::Down ? 0
                                                     : unit / 2;
  const int64_t more = (rest + added) / unit;
  const int64_t whole = amount / unit + more / scale, part = more % scale;
  return fmt::format("{}.{:0{}}{}", whole, part, scale == 100 ? 2 : 1, *letters);
}

}  // namespace

std::string readable_bytes(int64_t bytes) {
  return readable(bytes, 1024, "KMG", Rounding::Up);
}

std::string readable_room(int64_t bytes) {
  return readable(bytes, 1024, "KMG", Rounding::Down);
}

std::string readable_count(int64_t count) {
  return readable(count, 1000, "kMG", Rounding::Nearest);
}

std::optional<int64_t> parse_bytes(std::string_view text) {
  if (text.starts_with("0x")) return parse_digits(text.substr(2), 16);
  return parse_scaled(text, 1024);
}

std::optional<int64_t> parse_count(std::string_view text) {
  return parse_scaled(text, 1000);
}

std::optional<int64_t> parse_percent(std::string_view text) {
  if (text.empty() || text.back() != '%') return std::nullopt;
  text.remove_suffix(1);
  const size_t point = text.find('.');
  if (point != std::string_view::npos && text.size() - point - 1 > 3) return std::nullopt;
  return parse_decimal(text, 1000);
}

}  // namespace intarsia
