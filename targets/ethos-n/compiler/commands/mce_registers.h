// What an MCE agent and its stripes say in registers.
#pragma once

#include <cstdint>

#include "commands/stream_builder.h"
#include "program/program.h"
#include "stripes/stripes.h"
#include "weights/weight_layout.h"

namespace intarsia::targets::ethos_n {

// The one of this operation and type that takes the smallest blocks, one at a time where there is one.
const PleKernel& kernel_for(const Layer& layer);

AgentRecord mce_agent(const Layer& layer, const StripePlan& plan, const PleKernel& kernel,
                      uint32_t kernel_number, int64_t ifm_at);

struct MceStripe {
  int64_t index = 0;  // in rows
  int64_t rows = 0;   // that the MCE makes
  int64_t ofms = 0;
  int64_t weights_at = 0, second_og_at = 0;
};
CommandWords program_mce(const Variant& variant, const Layer& layer, const StripePlan& plan,
                         const PleKernel& kernel, uint32_t agent, const MceStripe& stripe);

// Slots of the input that the stripe reads: the one of its rows, and those of its neighbours.
std::vector<int64_t> input_slots(const Layer& layer, const StripePlan& plan, int64_t stripe);
int64_t input_stripes(const Layer& layer, const StripePlan& plan);

// SCRATCH of most kernels.
CommandWords start_ple(const Layer& layer, uint32_t agent, uint32_t flags,
                       const std::array<int64_t, 2>& inputs_at, int64_t output_at, int64_t width,
                       int64_t height, int64_t depth);

}  // namespace intarsia::targets::ethos_n
