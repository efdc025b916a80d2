// What happens to every result after scaling: zero point, clamp, activation.
#pragma once

#include <cstdint>
#include <optional>

#include "intarsia/targets/ethos_u/fault.h"
#include "intarsia/targets/ethos_u/memory.h"
#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

class OutputStage {
 public:
  // A fault when the operation's activation is none that the device has for its OFM.
  static std::optional<Fault> check(const Operation& operation);

  // The tables are read where they lie in SHRAM.
  OutputStage(const Operation& operation, const Configuration& configuration, const Memory& memory);

  int32_t operator()(int64_t scaled) const {
    // 32 bits are neither offset nor clamped, but they saturate: Arm's softmax multiplies by powers of
    // two where TFLite's fixed-point arithmetic saturates.
    if (plain32_)
      return static_cast<int32_t>(scaled < INT32_MIN   ? INT32_MIN
                                  : scaled > INT32_MAX ? INT32_MAX
                                                       : scaled);
    return function_ == ActivationFunction::Clamp
               ? static_cast<int32_t>(clamped(scaled + zero_point_))
               : activated(scaled);
  }

 private:
  int64_t clamped(int64_t value) const {
    return value < low_ ? low_ : value > high_ ? high_ : value;
  }
  int32_t activated(int64_t scaled) const;
  int32_t looked_up(int64_t index_value) const;

  bool plain32_;
  ActivationFunction function_;
  ElementType ofm_type_;
  int32_t zero_point_;
  int64_t low_, high_;
  int64_t table_lowest_;  // value of the first entry
  const uint8_t* table_;
};

// The fixed-point units, as TFLite's int16 kernels define them: x in units of 1 / (3 * 4096), the
// result in units of 1 / 32768.
int32_t sigmoid_unit(int32_t x);
int32_t tanh_unit(int32_t x);

}  // namespace intarsia::simulators::ethos_u
