// The post-processing side: what each PLE kernel makes of a stripe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/targets/ethos_n/fault.h"
#include "intarsia/targets/ethos_n/mce.h"
#include "intarsia/targets/ethos_n/memory.h"

namespace intarsia::simulators::ethos_n {

// SCRATCH of a StartPleStripe, in the layout that most kernels share.
struct PleStripe {
  struct Input {
    uint64_t address = 0;
    int32_t zero_point = 0;
    uint32_t multiplier = 0, shift = 0;
  };
  uint32_t flags = 0;
  std::array<Input, 2> inputs;
  uint64_t output_address = 0;
  int32_t output_zero_point = 0;
  uint32_t width = 0, height = 0, depth = 0;  // of the output

  static PleStripe from(const std::array<uint32_t, 8>& scratch);
};

struct PleInputSize {
  uint32_t width = 0, height = 0, depth = 0;
};

class Ple {
 public:
  Ple(const Variant& variant, Sram& sram) : variant_(variant), sram_(sram) {}

  // What the kernel takes from the MCE.
  PleInputSize input_of(const Kernel& kernel, const PleStripe& stripe) const;

  // A kernel that is fed by the MCE.
  std::optional<Fault> run_fused(const Kernel& kernel, const PleStripe& stripe,
                                 const MceOutput& input);
  // One that reads its inputs from SRAM.
  std::optional<Fault> run_standalone(const Kernel& kernel, const std::array<uint32_t, 8>& scratch);

 private:
  void max_pool_3x3(const PleStripe& stripe, bool is_signed, const MceOutput& input);
  void multiply(const std::array<uint32_t, 8>& scratch, bool is_signed);
  std::optional<Fault> max_pool_1d(const Kernel& kernel, const std::array<uint32_t, 8>& scratch);
  std::optional<Fault> average_pool(const PleStripe& stripe, bool is_signed);

  const Variant& variant_;
  Sram& sram_;
  // A pooling of 3x3 reaches into the stripe below: it finishes a stripe's last row when the next
  // one is there.
  struct Unfinished {
    bool there = false;
    PleStripe stripe;
    MceOutput rows;  // the last two
  };
  Unfinished unfinished_;
};

}  // namespace intarsia::simulators::ethos_n
