#include "intarsia/targets/ethos_u/driver.h"

#include "intarsia/targets/ethos_u/npu.h"

namespace intarsia::targets::ethos_u {
namespace {

// Minutes on a microcontroller; more than any stream takes.
constexpr uint32_t kPollLimit = 1u << 30;
// A start and a reset take some cycles of the device's clock; a look at a register takes some of the bus.
constexpr uint32_t kStartLimit = 1u << 12, kResetLimit = 1u << 12;
constexpr uint32_t kPatienceMs = 1000;
// AXI limits by number: 0 and 1 belong to port AXI0, 2 and 3 to AXI1.
constexpr uint32_t kQueueConfig = 2;
// Region 0 holds the constants and region 2 the fast memory. All others are the arena, or are counted from
// other memories of its kind.
constexpr uint32_t region_config(uint32_t arena_limit) {
  return field_of(mask::REGIONCFG_region0, 3) | field_of(mask::REGIONCFG_region1, arena_limit) |
         field_of(mask::REGIONCFG_region2, 1) | field_of(mask::REGIONCFG_region3, arena_limit) |
         field_of(mask::REGIONCFG_region4, arena_limit) |
         field_of(mask::REGIONCFG_region5, arena_limit) |
         field_of(mask::REGIONCFG_region6, arena_limit) |
         field_of(mask::REGIONCFG_region7, arena_limit);
}
constexpr uint32_t kSharedSram = region_config(0), kDedicatedSram = region_config(2);

rt::MmioBus bus_of(const intarsia_ethos_u& npu, rt::MmioBus*) {
  return rt::MmioBus(npu.access.registers);
}
rt::CallbackBus bus_of(const intarsia_ethos_u& npu, rt::CallbackBus*) {
  return rt::CallbackBus(npu.access.bus);
}

template <typename Bus>
intarsia_status run(intarsia_device* device, const intarsia_stream* stream, void* const* bases,
                    uint32_t base_count) {
  // `device` is the first member of the driver's state.
  auto& npu = *reinterpret_cast<intarsia_ethos_u*>(device);
  const Bus bus = bus_of(npu, static_cast<Bus*>(nullptr));
  return Npu(bus, npu).run(*stream, bases, base_count);
}

template <typename Bus>
intarsia_status open(intarsia_ethos_u& npu) {
  npu.device.run = run<Bus>;
  npu.poll_limit = kPollLimit;
  npu.start_limit = kStartLimit;
  npu.reset_limit = kResetLimit;
  npu.patience_ms = kPatienceMs;
  npu.wait = nullptr;
  npu.wait_context = nullptr;
  npu.queue_config = kQueueConfig;
  npu.protection = mask::RESET_pending_CPL;
  npu.counting = 0;
  npu.cycles = 0;
  for (uint32_t i = 0; i < INTARSIA_ETHOS_U_EVENT_COUNTERS; ++i) {
    npu.events[i] = 0;
    npu.event_counts[i] = 0;
  }
  npu.fault_status = 0;
  npu.fault_offset = 0;
  npu.fault_region = 0;
  npu.power_losses = 0;
  npu.interrupts = 0;
  const Bus bus = bus_of(npu, static_cast<Bus*>(nullptr));
  const intarsia_status status = Npu(bus, npu).open();
  const bool is_u65 = field(npu.config, mask::CONFIG_product) != 0;
  npu.region_config = is_u65 ? kDedicatedSram : kSharedSram;
  return status;
}

intarsia_status with_regions(intarsia_ethos_u* npu, uint32_t config, intarsia_status status) {
  if (status == INTARSIA_OK) npu->region_config = config;
  return status;
}

template <typename Bus>
void acknowledge(intarsia_ethos_u& npu) {
  const Bus bus = bus_of(npu, static_cast<Bus*>(nullptr));
  Npu(bus, npu).acknowledge();
}

}  // namespace
}  // namespace intarsia::targets::ethos_u

using namespace intarsia;
using targets::ethos_u::acknowledge;
using targets::ethos_u::open;
using targets::ethos_u::with_regions;

intarsia_status intarsia_ethos_u_open(intarsia_ethos_u* npu, void* registers) {
  if (npu == nullptr || registers == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  npu->over_bus = 0;
  npu->access.registers = registers;
  return open<rt::MmioBus>(*npu);
}

intarsia_status intarsia_ethos_u_open_bus(intarsia_ethos_u* npu, const intarsia_register_bus* bus) {
  if (npu == nullptr || bus == nullptr || bus->read == nullptr || bus->write == nullptr)
    return INTARSIA_ERROR_NULL_ARGUMENT;
  npu->over_bus = 1;
  npu->access.bus = *bus;
  return open<rt::CallbackBus>(*npu);
}

intarsia_status intarsia_ethos_u_open_shared(intarsia_ethos_u* npu, void* registers) {
  return with_regions(npu, targets::ethos_u::kSharedSram, intarsia_ethos_u_open(npu, registers));
}

intarsia_status intarsia_ethos_u_open_bus_shared(intarsia_ethos_u* npu,
                                                 const intarsia_register_bus* bus) {
  return with_regions(npu, targets::ethos_u::kSharedSram, intarsia_ethos_u_open_bus(npu, bus));
}

intarsia_status intarsia_ethos_u_open_dedicated(intarsia_ethos_u* npu, void* registers) {
  return with_regions(npu, targets::ethos_u::kDedicatedSram, intarsia_ethos_u_open(npu, registers));
}

intarsia_status intarsia_ethos_u_open_bus_dedicated(intarsia_ethos_u* npu,
                                                    const intarsia_register_bus* bus) {
  return with_regions(npu, targets::ethos_u::kDedicatedSram, intarsia_ethos_u_open_bus(npu, bus));
}

void intarsia_ethos_u_interrupt(intarsia_ethos_u* npu) {
  if (npu == nullptr) return;
  if (npu->over_bus != 0)
    acknowledge<rt::CallbackBus>(*npu);
  else
    acknowledge<rt::MmioBus>(*npu);
}
