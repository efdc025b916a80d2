// The driver itself, over any bus. It checks what the device cannot know: that it is there, that the
// stream was made for it, and that every base is one. Everything else the device checks.
#pragma once

#include "intarsia/core/register_bus.h"
#include "intarsia/targets/ethos_u/driver.h"
#include "intarsia/targets/ethos_u/registers.h"
#include "intarsia/targets/ethos_u/stream_payload.h"

namespace intarsia::targets::ethos_u {

template <rt::RegisterBus Bus>
class Npu {
 public:
  Npu(const Bus& bus, intarsia_ethos_u& state) : bus_(bus), state_(state) {}

  intarsia_status open() const {
    state_.id = bus_.read(reg::ID);
    state_.config = bus_.read(reg::CONFIG);
    const ProductRow* product = find_product();
    if (product == nullptr) return INTARSIA_ERROR_DEVICE_ABSENT;
    const uint32_t limit =
        field_of(mask::AXI_LIMIT0_max_outstanding_read_m1, product->outstanding_reads - 1) |
        field_of(mask::AXI_LIMIT0_max_outstanding_write_m1, product->outstanding_writes - 1);
    for (uint32_t& axi : state_.axi_limits) axi = limit;
    return reset();
  }

  intarsia_status run(const intarsia_stream& payload, void* const* bases,
                      uint32_t base_count) const {
    StreamView stream;
    if (!find_stream(payload, stream) || !fits(stream, state_.id, state_.config) ||
        base_count > kRegions)
      return INTARSIA_ERROR_DEVICE_MISMATCH;
    if (!reachable(stream.commands)) return INTARSIA_ERROR_DEVICE_MEMORY;
    for (uint32_t i = 0; i < base_count; ++i)
      if (!reachable(bases[i])) return INTARSIA_ERROR_DEVICE_MEMORY;

    bus_.write(reg::CMD, 0);  // neither clock nor power may go while it works
    // Power that was off took the privilege with it.
    if (bus_.read(reg::PROT) != (state_.protection & kProtection)) {
      if (const intarsia_status status = reset(); status != INTARSIA_OK) return status;
      bus_.write(reg::CMD, 0);
    }
    configure();
    write_address(reg::QBASE_LO, stream.commands);
    bus_.write(reg::QSIZE, stream.bytes);
    for (uint32_t i = 0; i < base_count; ++i) write_address(reg::BASEP0_LO + 8 * i, bases[i]);
    if (state_.counting != 0) start_counters();
    bus_.write(reg::CMD, mask::CMD_transition_to_running_state);

    const intarsia_status status = wait();
    if (state_.counting != 0) read_counters();
    if (status != INTARSIA_OK) {
      reset();
      return status;
    }
    bus_.write(reg::CMD, mask::CMD_clear_irq | kIdle);
    return INTARSIA_OK;
  }

  void acknowledge() const {
    bus_.write(reg::CMD, mask::CMD_clear_irq);
    state_.interrupts = state_.interrupts + 1;
  }

 private:
  // At rest the NPU may give up clock and power when the system asks; its registers are written before
  // every run.
  static constexpr uint32_t kIdle = mask::CMD_clock_q_enable | mask::CMD_power_q_enable;
  static constexpr uint32_t kProtection = mask::PROT_active_CPL | mask::PROT_active_CSL;
  static constexpr uint32_t kErrors = mask::STATUS_bus_status | mask::STATUS_cmd_parse_error |
                                      mask::STATUS_wd_fault | mask::STATUS_ecc_fault;

  const ProductRow* find_product() const {
    constexpr uint32_t kSame = mask::ID_product_major | mask::ID_arch_major_rev;
    for (const ProductRow& product : kProducts)
      if (((product.id_word ^ state_.id) & kSame) == 0 &&
          field(state_.config, mask::CONFIG_product) == product.number)
        return &product;
    return nullptr;
  }

  // Nothing else is reachable by the hardware; a null base belongs to a region that is not used.
  static bool reachable(const void* base) {
    return reinterpret_cast<uintptr_t>(base) % kStreamAlignment == 0;
  }

  void write_address(uint32_t low_register, const void* address) const {
    bus_.write(low_register, rt::low_word(address));
    bus_.write(low_register + 4, rt::high_word(address));
  }

  intarsia_status reset() const {
    bus_.write(reg::RESET, state_.protection);
    for (uint32_t i = 0; (bus_.read(reg::STATUS) & mask::STATUS_reset_status) != 0; ++i)
      if (i == state_.poll_limit) return INTARSIA_ERROR_DEVICE_ABSENT;
    bus_.write(reg::CMD, kIdle);
    return INTARSIA_OK;
  }

  void configure() const {
    bus_.write(reg::QCONFIG, state_.queue_config);
    bus_.write(reg::REGIONCFG, state_.region_config);
    for (uint32_t i = 0; i < 4; ++i) bus_.write(reg::AXI_LIMIT0 + 4 * i, state_.axi_limits[i]);
  }

  intarsia_status wait() const {
    for (uint32_t i = 0;; ++i) {
      const uint32_t status = bus_.read(reg::STATUS);
      const bool ended = (status & mask::STATUS_cmd_end_reached) != 0;
      if ((status & kErrors) != 0 || ((status & mask::STATUS_state) == 0 && !ended)) {
        state_.fault_status = status;
        state_.fault_offset = bus_.read(reg::QREAD);
        return INTARSIA_ERROR_DEVICE_FAULT;
      }
      if (ended && (status & mask::STATUS_state) == 0) return INTARSIA_OK;
      if (i == state_.poll_limit) return INTARSIA_ERROR_DEVICE_TIMEOUT;
      if (state_.wait != nullptr) state_.wait(&state_, state_.wait_context);
    }
  }

  void start_counters() const {
    bus_.write(reg::PMCR, mask::PMCR_cnt_en | mask::PMCR_event_cnt_rst | mask::PMCR_cycle_cnt_rst);
    uint32_t enable = mask::PMCNTENSET_cycle_cnt;
    for (uint32_t i = 0; i < INTARSIA_ETHOS_U_EVENT_COUNTERS; ++i) {
      bus_.write(reg::PMEVTYPER0 + 4 * i, state_.events[i]);
      enable |= mask::PMCNTENSET_event_cnt_0 << i;
    }
    bus_.write(reg::PMCNTENSET, enable);
  }

  void read_counters() const {
    state_.cycles = bus_.read(reg::PMCCNTR_LO) | static_cast<uint64_t>(bus_.read(reg::PMCCNTR_HI))
                                                     << 32;
    for (uint32_t i = 0; i < INTARSIA_ETHOS_U_EVENT_COUNTERS; ++i)
      state_.event_counts[i] = bus_.read(reg::PMEVCNTR0 + 4 * i);
    bus_.write(reg::PMCR, 0);
  }

  const Bus& bus_;
  intarsia_ethos_u& state_;
};

}  // namespace intarsia::targets::ethos_u
