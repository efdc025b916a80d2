#include "debug_probe/cycle_counter.h"

#include <fmt/format.h>

namespace intarsia::debug_probe {
namespace {

constexpr uint32_t kCpuid = 0xE000ED00, kDemcr = 0xE000EDFC, kDwtCtrl = 0xE0001000,
                   kCyccnt = 0xE0001004;
constexpr uint32_t kTraceEnable = 1u << 24;                        // of DEMCR: the DWT works at all
constexpr uint32_t kCountEnable = 1u << 0, kNoCounter = 1u << 25;  // of DWT_CTRL
constexpr uint32_t kBaselineArchitecture = 0xC;  // of CPUID: Armv6-M, Armv8-M Baseline
// Without a clock the fastest microcontroller there is decides.
constexpr int64_t kFastestMhz = 1200;

}  // namespace

void CycleCounter::give_up(std::string why) {
  note_ = std::move(why);
  cycles_.clear();
}

Result<void> CycleCounter::prepare(Client& client) {
  INTARSIA_TRY(const uint32_t cpuid, client.read_word(kCpuid));
  if ((cpuid >> 16 & 15) == kBaselineArchitecture) {
    give_up("this core has no counter of cycles");
    return {};
  }
  INTARSIA_TRY(const uint32_t demcr, client.read_word(kDemcr));
  INTARSIA_TRY_VOID(client.write_word(kDemcr, demcr | kTraceEnable));
  const Result<uint32_t> control = client.read_word(kDwtCtrl);
  if (!control.ok() || (*control & kNoCounter) != 0) {
    give_up("this core was made without its counter of cycles");
    return {};
  }
  return client.write_word(kDwtCtrl, *control | kCountEnable);
}

Result<void> CycleCounter::begin(Client& client) {
  INTARSIA_TRY_VOID(client.write_word(kCyccnt, 0));
  began_ = std::chrono::steady_clock::now();
  return {};
}

Result<void> CycleCounter::end(Client& client) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
  INTARSIA_TRY(const uint32_t count, client.read_word(kCyccnt));
  const double mhz = static_cast<double>(clock_mhz_ > 0 ? clock_mhz_ : kFastestMhz);
  if (!is_usable()) return {};
  if (count == 0)
    give_up("the core's counter of cycles stands still, as it does in an emulator");
  else if (passed.count() * mhz * 1e6 > static_cast<double>(UINT32_MAX))
    give_up(fmt::format(
        "a run took {:.1f} s, in which the counter of cycles may have begun anew{}", passed.count(),
        clock_mhz_ > 0 ? "" : "; 'clocks_mhz' of the board says how long it lasts"));
  else
    cycles_.push_back(count);
  return {};
}

}  // namespace intarsia::debug_probe
