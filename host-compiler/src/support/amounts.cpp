#include "support/amounts.h"

#include <charconv>
#include <limits>

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

}  // namespace

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
