// Whole parts and multiples, upwards. Of values from zero on, by positive units.
#pragma once

#include <concepts>

namespace intarsia {

template <std::integral Value, std::integral Unit>
constexpr auto ceil_div(Value value, Unit unit) {
  return (value + unit - 1) / unit;
}

template <std::integral Value, std::integral Unit>
constexpr auto round_up(Value value, Unit unit) {
  return ceil_div(value, unit) * unit;
}

}  // namespace intarsia
