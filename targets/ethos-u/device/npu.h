// The driver itself, over any bus. It checks what the device cannot know: that it is there, that the
// stream was made for it, and that every region is one and large enough. Everything else the device checks.
#pragma once

#include "intarsia/contract/npu_hooks.h"
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
    const intarsia_status status = reset();
    // A caller that is not secure gets no secure device: what there is it works with.
    state_.protection = bus_.read(reg::PROT) & kProtection;
    return status;
  }

  intarsia_status run(const intarsia_stream& payload, void* const* bases,
                      uint32_t base_count) const {
    StreamView stream;
    if (!find_stream(payload, stream) || !fits(stream, state_.id, state_.config) ||
        base_count > kRegions)
      return INTARSIA_ERROR_DEVICE_MISMATCH;
    if (!aligned(stream.commands)) return INTARSIA_ERROR_DEVICE_MISALIGNED;
    for (uint32_t i = 0; i < base_count; ++i) {
      const intarsia_region* region = payload.regions == nullptr ? nullptr : &payload.regions[i];
      const intarsia_status status = check(bases[i], region);
      if (status != INTARSIA_OK) {
        state_.fault_region = i;
        return status;
      }
    }
    if (intarsia_npu_lock(&state_.device) != 0) return INTARSIA_ERROR_DEVICE_BUSY;
    const intarsia_status status = run_locked(stream, payload.regions, bases, base_count);
    intarsia_npu_unlock(&state_.device);
    return status;
  }

  // In the interrupt's handler. An interrupt that was raised for an earlier run, and comes when that is over, is not counted.
  void acknowledge() const {
    if ((bus_.read(reg::STATUS) & mask::STATUS_irq_raised) == 0) return;
    bus_.write(reg::CMD, mask::CMD_clear_irq);
    state_.interrupts = state_.interrupts + 1;
    intarsia_npu_signal(&state_.device);
  }

 private:
  // At rest the NPU may give up clock and power when the system asks; its registers are written before
  // every run.
  static constexpr uint32_t kIdle = mask::CMD_clock_q_enable | mask::CMD_power_q_enable;
  static constexpr uint32_t kProtection = mask::PROT_active_CPL | mask::PROT_active_CSL;

  const ProductRow* find_product() const {
    constexpr uint32_t kSame = mask::ID_product_major | mask::ID_arch_major_rev;
    for (const ProductRow& product : kProducts)
      if (((product.id_word ^ state_.id) & kSame) == 0 &&
          field(state_.config, mask::CONFIG_product) == product.number)
        return &product;
    return nullptr;
  }

  static bool aligned(const void* base) {
    return reinterpret_cast<uintptr_t>(base) % kStreamAlignment == 0;
  }

  // A null base belongs to a region that is not used.
  static intarsia_status check(const void* base, const intarsia_region* region) {
    if (!aligned(base)) return INTARSIA_ERROR_DEVICE_MISALIGNED;
    if (region == nullptr) return INTARSIA_OK;
    if (region->needed > region->bytes) return INTARSIA_ERROR_DEVICE_REGION;
    const auto begin = reinterpret_cast<uintptr_t>(base);
    const bool reachable =
        region->needed == 0 || (base != nullptr && begin + (region->needed - 1) >= begin);
    return reachable ? INTARSIA_OK : INTARSIA_ERROR_DEVICE_MEMORY;
  }

  void write_address(uint32_t low_register, const void* address) const {
    bus_.write(low_register, rt::low_word(address));
    bus_.write(low_register + 4, rt::high_word(address));
  }

  intarsia_status reset() const {
    bus_.write(reg::RESET, state_.protection);
    for (uint32_t i = 0; (bus_.read(reg::STATUS) & mask::STATUS_reset_status) != 0; ++i)
      if (i == state_.reset_limit) return INTARSIA_ERROR_DEVICE_RESET;
    bus_.write(reg::CMD, kIdle);
    return INTARSIA_OK;
  }

  intarsia_status run_locked(const StreamView& stream, const intarsia_region* regions,
                             void* const* bases, uint32_t base_count) const {
    // Neither clock nor power may go while it works, and no interrupt is left from before.
    bus_.write(reg::CMD, mask::CMD_clear_irq);
    if (const intarsia_status status = restore(); status != INTARSIA_OK) return status;
    configure(regions, base_count);
    write_address(reg::QBASE_LO, stream.commands);
    bus_.write(reg::QSIZE, stream.bytes);
    for (uint32_t i = 0; i < base_count; ++i) write_address(reg::BASEP0_LO + 8 * i, bases[i]);
    if (state_.counting != 0) start_counters();
    const uint32_t interrupts = state_.interrupts;
    bus_.write(reg::CMD, mask::CMD_transition_to_running_state);

    const intarsia_status status = wait(stream, interrupts);
    if (state_.counting != 0) read_counters();
    if (status != INTARSIA_OK) {
      reset();
      return status;
    }
    bus_.write(reg::CMD, mask::CMD_clear_irq | kIdle);
    return INTARSIA_OK;
  }

  // Power that was off took the privilege with it.
  intarsia_status restore() const {
    if (bus_.read(reg::ID) != state_.id) return INTARSIA_ERROR_DEVICE_ABSENT;
    if (bus_.read(reg::PROT) == (state_.protection & kProtection)) return INTARSIA_OK;
    state_.power_losses = state_.power_losses + 1;
    if (const intarsia_status status = reset(); status != INTARSIA_OK) return status;
    if (bus_.read(reg::PROT) != (state_.protection & kProtection))
      return INTARSIA_ERROR_DEVICE_PRIVILEGE;
    bus_.write(reg::CMD, mask::CMD_clear_irq);
    return INTARSIA_OK;
  }

  void configure(const intarsia_region* regions, uint32_t base_count) const {
    uint32_t config = state_.region_config;
    for (uint32_t i = 0; regions != nullptr && i < base_count; ++i) {
      // As the region that always lies in such a memory.
      const uint32_t memory = regions[i].memory;
      if (memory != INTARSIA_MEMORY_CONSTANTS && memory != INTARSIA_MEMORY_FAST) continue;
      const uint32_t like = memory == INTARSIA_MEMORY_CONSTANTS ? 0 : 2;
      const uint32_t limit = state_.region_config >> (2 * like) & 3;
      config = (config & ~(3u << (2 * i))) | limit << (2 * i);
    }
    bus_.write(reg::QCONFIG, state_.queue_config);
    bus_.write(reg::REGIONCFG, config);
    for (uint32_t i = 0; i < 4; ++i) bus_.write(reg::AXI_LIMIT0 + 4 * i, state_.axi_limits[i]);
  }

  // STATUS may still say what it said before the start for a while, and `cmd_end_reached` of the run before with it. So an
  // end counts after a sign that this run has begun: its state, or its interrupt.
  intarsia_status wait(const StreamView& stream, uint32_t interrupts) const {
    bool begun = false, gave_up = false;
    for (uint32_t i = 0;; ++i) {
      const uint32_t status = bus_.read(reg::STATUS);
      const bool running = (status & mask::STATUS_state) != 0;
      const bool ended = (status & mask::STATUS_cmd_end_reached) != 0;
      begun = begun || running || (status & mask::STATUS_irq_raised) != 0 ||
              state_.interrupts != interrupts;
      if (const intarsia_status error = error_of(status); error != INTARSIA_OK)
        return failed(error, status);
      if (begun && ended && !running) return INTARSIA_OK;
      if (!running && !holds(stream)) {
        state_.power_losses = state_.power_losses + 1;
        return failed(INTARSIA_ERROR_DEVICE_POWER, status);
      }
      if (begun && !running) return failed(INTARSIA_ERROR_DEVICE_FAULT, status);
      if (!begun && (gave_up || i == state_.start_limit))
        return failed(INTARSIA_ERROR_DEVICE_START, status);
      if (gave_up || i == state_.poll_limit) return failed(INTARSIA_ERROR_DEVICE_TIMEOUT, status);
      if (state_.wait != nullptr)
        state_.wait(&state_, state_.wait_context);
      else
        gave_up = intarsia_npu_wait(&state_.device, state_.patience_ms) != 0;
    }
  }

  // What the device stopped with.
  static intarsia_status error_of(uint32_t status) {
    if ((status & mask::STATUS_bus_status) != 0) return INTARSIA_ERROR_DEVICE_BUS;
    if ((status & mask::STATUS_cmd_parse_error) != 0) return INTARSIA_ERROR_DEVICE_COMMAND;
    if ((status & mask::STATUS_wd_fault) != 0) return INTARSIA_ERROR_DEVICE_WEIGHTS;
    if ((status & mask::STATUS_ecc_fault) != 0) return INTARSIA_ERROR_DEVICE_ECC;
    return INTARSIA_OK;
  }

  intarsia_status failed(intarsia_status error, uint32_t status) const {
    state_.fault_status = status;
    state_.fault_offset = bus_.read(reg::QREAD);
    return error;
  }

  // Whether it still has what it was started with. A loss of power, and a reset by somebody else, clear it.
  bool holds(const StreamView& stream) const {
    return bus_.read(reg::QSIZE) == stream.bytes &&
           bus_.read(reg::QBASE_LO) == rt::low_word(stream.commands);
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
