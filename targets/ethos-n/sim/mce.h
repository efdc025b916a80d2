// The multiply-accumulate side of all compute engines: one stripe from its registers, its input and
// its weights taken from SRAM.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/targets/ethos_n/fault.h"
#include "intarsia/targets/ethos_n/memory.h"
#include "intarsia/targets/ethos_n/stream.h"
#include "intarsia/targets/ethos_n/weights.h"

namespace intarsia::simulators::ethos_n {

// What the MCE sends to the PLE for one stripe: bytes of the OFM's type, [channel][row][column].
struct MceOutput {
  uint32_t width = 0, height = 0, channels = 0;
  std::vector<uint8_t> values;

  uint8_t at(uint32_t y, uint32_t x, uint32_t c) const {
    return values[(size_t{c} * height + y) * width + x];
  }
};

class Mce {
 public:
  Mce(const Variant& variant, Sram& sram, uint64_t max_macs)
      : variant_(variant), sram_(sram), macs_left_(max_macs), decoders_(variant.all_ogs()) {}

  // `program` is a ProgramMceStripe. `output` is filled unless the stripe only accumulates.
  std::optional<Fault> run(const AgentRecord& agent, const CommandRecord& program,
                           MceOutput& output);

 private:
  struct Stripe;
  struct Planes;

  std::optional<Fault> read_registers(const AgentRecord& agent, const CommandRecord& program,
                                      Stripe& stripe) const;
  std::optional<Fault> read_weights(const Stripe& stripe);
  std::optional<Fault> convolve(const Stripe& stripe);
  std::optional<Fault> multiply_vector(const Stripe& stripe);
  void gather(const Stripe& stripe, uint32_t filter, uint32_t piece_y, uint32_t piece_x,
              Planes& planes);
  void requantise(const Stripe& stripe, MceOutput& output) const;
  std::optional<Fault> take_macs(uint64_t count);

  const Variant& variant_;
  Sram& sram_;
  uint64_t macs_left_;
  std::vector<DecoderState> decoders_;  // by OG: CE + CEs * OG in the CE
  std::vector<OfmWeights> ofms_;        // of the stripe
  std::vector<uint32_t> accumulators_;  // [ofm][row][column], modulo 2^32
};

}  // namespace intarsia::simulators::ethos_n
