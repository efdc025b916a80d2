// Whole parts and multiples, upwards, for simulator and timing. Of values from zero on, by positive units.
#ifndef INTARSIA_ETHOS_U_ROUNDING_H
#define INTARSIA_ETHOS_U_ROUNDING_H

#include <cstdint>

namespace intarsia::isa::ethos_u {

constexpr int64_t ceil_div(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit;
}
constexpr int64_t round_up(int64_t value, int64_t unit) {
  return ceil_div(value, unit) * unit;
}

}  // namespace intarsia::isa::ethos_u

#endif
