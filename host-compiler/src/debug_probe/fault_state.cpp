#include "debug_probe/fault_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace intarsia::debug_probe {
namespace {

// System registers; those of the fault status read as zero on Armv6-M.
constexpr uint32_t kIcsr = 0xE000ED04, kCfsr = 0xE000ED28, kHfsr = 0xE000ED2C, kMmfar = 0xE000ED34,
                   kBfar = 0xE000ED38;
constexpr uint32_t kMmfarValid = 1u << 7, kBfarValid = 1u << 15, kStackOverflow = 1u << 20;
constexpr uint32_t kFrameBytes = 32;
constexpr uint32_t kMostStackBytes = 2048;    // that is searched for callers
constexpr uint32_t kStandardFrame = 1u << 4;  // of EXC_RETURN: without the FPU's registers
constexpr uint32_t kFloatBytes = 72;

struct Reason {
  int bit;
  const char* words;
};
constexpr Reason kReasons[] = {
#define REASON(bit, words) {bit, words},
#include "debug_probe/fault_reasons.def"
#undef REASON
};

uint32_t symbol(const board::ElfImage& image, std::string_view name) {
  const auto found = image.symbols.find(name);
  return found == image.symbols.end() ? 0 : found->second;
}

// What cannot be read any more is left out: the target is in trouble already.
uint32_t word_or_zero(Client& client, uint32_t address) {
  const Result<uint32_t> word = client.read_word(address);
  return word.ok() ? *word : 0;
}

void read_reasons(Client& client, FaultState& state) {
  state.exception = word_or_zero(client, kIcsr) & 0x1FF;
  state.cfsr = word_or_zero(client, kCfsr);
  state.hfsr = word_or_zero(client, kHfsr);
  if ((state.cfsr & kBfarValid) != 0)
    state.address = word_or_zero(client, kBfar);
  else if ((state.cfsr & kMmfarValid) != 0)
    state.address = word_or_zero(client, kMmfar);
}

const board::ElfFunction* function_at(const board::ElfImage& image, uint32_t address) {
  for (const board::ElfFunction& function : image.functions)
    if (address >= function.address && address - function.address < function.size) return &function;
  return nullptr;
}

void find_returns(Client& client, const board::ElfImage& image, FaultState& state) {
  const uint32_t sp = state.registers[kSp] & ~3u;
  const uint32_t top = symbol(image, "__intarsia_stack_top");
  if (sp < symbol(image, "__intarsia_stack_bottom") || sp >= top) return;
  const Result<std::vector<uint8_t>> bytes = client.read(sp, std::min(top - sp, kMostStackBytes));
  if (!bytes.ok()) return;
  for (size_t i = 0; i + 4 <= bytes->size(); i += 4) {
    uint32_t word = 0;
    for (size_t b = 4; b-- > 0;) word = word << 8 | (*bytes)[i + b];
    // Return addresses have bit 0, for the state of the core.
    if ((word & 1) != 0 && function_at(image, word & ~1u) != nullptr)
      state.returns.push_back(word & ~1u);
  }
}

}  // namespace

Result<FaultState> state_where_stopped(Client& client, const board::ElfImage& image) {
  FaultState state;
  INTARSIA_TRY(state.registers, client.registers());
  read_reasons(client, state);
  find_returns(client, image, state);
  return state;
}

Result<FaultState> state_at_fault(Client& client, const board::ElfImage& image) {
  FaultState state;
  INTARSIA_TRY(state.registers, client.registers());
  read_reasons(client, state);
  const uint32_t frame = state.registers[kSp], exc_return = state.registers[kLr];
  const Result<std::vector<uint8_t>> pushed = client.read(frame, kFrameBytes);
  state.has_frame = pushed.ok() && (state.cfsr & kStackOverflow) == 0 &&
                    frame >= symbol(image, "__intarsia_stack_bottom") &&
                    frame + kFrameBytes <= symbol(image, "__intarsia_stack_top");
  if (!state.has_frame) return state;
  // In the order of the frame.
  constexpr size_t kPushed[] = {0, 1, 2, 3, 12, kLr, kPc};
  const auto word = [&](size_t index) {
    uint32_t value = 0;
    for (size_t b = 4; b-- > 0;) value = value << 8 | (*pushed)[index * 4 + b];
    return value;
  };
  for (size_t i = 0; i < std::size(kPushed); ++i) state.registers[kPushed[i]] = word(i);
  state.status = word(7);
  const uint32_t padding = *state.status >> 9 & 1;  // to a multiple of 8
  state.registers[kSp] =
      frame + kFrameBytes + padding * 4 + ((exc_return & kStandardFrame) != 0 ? 0 : kFloatBytes);
  find_returns(client, image, state);
  return state;
}

std::string reason_of(const FaultState& state) {
  std::string words;
  for (const Reason& reason : kReasons)
    if ((state.cfsr >> reason.bit & 1) != 0)
      words += fmt::format("{}{}", words.empty() ? "" : ", ", reason.words);
  if (words.empty() && !state.has_frame) words = "the stack has overflowed";
  if (state.address)
    words += fmt::format("{}address {:#010x}", words.empty() ? "" : ": ", *state.address);
  return words;
}

std::string registers_text(const FaultState& state) {
  static constexpr const char* kNames[] = {"r0 to r3", "r4 to r7", "r8 to r11", "r12, sp, lr, pc"};
  std::string text;
  for (size_t i = 0; i < state.registers.size(); i += 4)
    text += fmt::format("  {}: {:08x} {:08x} {:08x} {:08x}\n", kNames[i / 4], state.registers[i],
                        state.registers[i + 1], state.registers[i + 2], state.registers[i + 3]);
  if (state.status) text += fmt::format("  psr: {:08x}\n", *state.status);
  return text + fmt::format("  cfsr, hfsr, exception: {:08x} {:08x} {}\n", state.cfsr, state.hfsr,
                            state.exception);
}

std::string place_text(const board::ElfImage& image, uint32_t address) {
  const board::ElfFunction* function = function_at(image, address);
  if (function == nullptr) return fmt::format("{:#010x}, where the program has no code", address);
  return fmt::format("{}+{:#x}", function->name, address - function->address);
}

}  // namespace intarsia::debug_probe
