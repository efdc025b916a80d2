// What happens to every result after scaling: zero point, clamp, activation.
#pragma once

#include <cstdint>
#include <optional>

#include "intarsia/targets/ethos_u/memory.h"
#include "intarsia/targets/ethos_u85/operation.h"

namespace intarsia::simulators::ethos_u85 {

using ethos_u::Memory;

class OutputStage {
 public:
  // A fault when the operation's activation is none that the device has for its OFM.
  static std::optional<Fault> check(const Operation& operation);
  // Where the operation's table lies in the memory of tables, and how long it is; 0 bytes: it needs none.
  static Range table_of(const Operation& operation);

  // The table is read where it lies.
  OutputStage(const Operation& operation, const Memory& memory);

  int64_t operator()(int64_t scaled) const {
    const int64_t value = scaled + zero_point_;
    if (function_ != value::activation_function_NO_FUNCTION) return activated(value);
    return value < low_ ? low_ : value > high_ ? high_ : value;
  }

 private:
  int64_t activated(int64_t value) const;
  int64_t interpolated(int64_t value) const;
  int64_t unit(int64_t value) const;

  int32_t function_;
  int64_t zero_point_;
  int64_t low_, high_;  // what fits, and is not clipped
  const uint8_t* table_ = nullptr;
};

}  // namespace intarsia::simulators::ethos_u85
