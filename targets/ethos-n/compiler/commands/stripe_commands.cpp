#include "commands/stripe_commands.h"

namespace intarsia::targets::ethos_n {
namespace {

// Of PLE_SCHEDULER.
enum InputMode : uint32_t { FromAllOgs = 0, FromOneOg = 1, FromSram = 2, FromSramTwice = 3 };

InputMode input_mode(const Layer& layer) {
  if (layer.mce) return layer.mce->mode == MceMode::Depthwise ? FromOneOg : FromAllOgs;
  return layer.inputs.size() == 2 ? FromSramTwice : FromSram;
}

}  // namespace

uint32_t flags_of(int64_t stripe, int64_t count) {
  return static_cast<uint32_t>(kFlagLeft | kFlagRight | (stripe == 0 ? kFlagTop : 0) |
                               (stripe == count - 1 ? kFlagBottom : 0));
}

uint32_t kernel_number(const Variant& variant, const PleKernel& kernel) {
  return static_cast<uint32_t>(variant.number * kKernelsOfVariant + kernel.number);
}

uint32_t add_kernel_loader(const Variant& variant, StreamBuilder& stream, const PleKernel& kernel) {
  return stream.add_agent(AgentRecord(AgentType::PLE_LOADER)
                              .set(agent_field::PLE_LOADER_kernel, kernel_number(variant, kernel)));
}

uint32_t add_ple_agent(const Variant& variant, StreamBuilder& stream, const Layer& layer,
                       int64_t kernel_at) {
  return stream.add_agent(
      AgentRecord(AgentType::PLE_SCHEDULER)
          .set(agent_field::PLE_SCHEDULER_input_mode, input_mode(layer))
          .set(agent_field::PLE_SCHEDULER_kernel, kernel_number(variant, kernel_for(layer)))
          .set(agent_field::PLE_SCHEDULER_kernel_address, static_cast<uint32_t>(kernel_at)));
}

CommandWords start_mce(const Variant& variant, const Layer& layer, uint32_t agent, int64_t ofms) {
  return CommandWords(CommandType::StartMceStripe)
      .set(word::StartMce_agent, agent)
      .set(word::StartMce_CE_ENABLES,
           is_vector_product(layer) ? 0 : static_cast<uint32_t>(std::min(ofms, variant.ces)));
}

void LoadedKernel::switch_to(const PleKernel& next, StreamBuilder& stream, uint32_t agent,
                             int64_t kernel_at) {
  if (kernel == &next) return;
  stream.load_kernel_into_ple(
      CommandWords(CommandType::LoadPleCodeIntoPleSram).set(word::Config_agent, agent),
      {sram_access(kernel_at, kKernelBytes, false)});
  kernel = &next;
}

}  // namespace intarsia::targets::ethos_n
