#include "intarsia/targets/ethos_n/driver.h"

#include "intarsia/core/register_bus.h"
#include "intarsia/targets/ethos_n/network_view.h"

namespace intarsia::targets::ethos_n {
namespace {

// Some seconds; more than any network takes.
constexpr uint32_t kPollLimit = 1u << 24;
constexpr uint32_t kRun = 1;
enum Status : uint32_t { kIdle, kRunning, kDone, kFaulty };

template <rt::RegisterBus Bus>
class Npu {
 public:
  Npu(const Bus& bus, intarsia_ethos_n& state) : bus_(bus), state_(state) {}

  intarsia_status open() const {
    if (bus_.read(kIdentity) != kMailboxIdentity) return INTARSIA_ERROR_DEVICE_ABSENT;
    state_.variant = bus_.read(kVariant);
    return INTARSIA_OK;
  }

  intarsia_status run(const intarsia_stream& stream, void* const* bases,
                      uint32_t base_count) const {
    uint32_t count = 0;
    const intarsia_status table = TableMaker(state_, stream, bases, base_count).run(count);
    if (table != INTARSIA_OK) return table;
    bus_.write(kTableLow, rt::low_word(state_.buffers));
    bus_.write(kTableHigh, rt::high_word(state_.buffers));
    bus_.write(kTableCount, count);
    bus_.write(kControl, kRun);
    for (uint32_t i = 0; i < state_.poll_limit; ++i) {
      const uint32_t status = bus_.read(kStatus);
      if (status == kDone) return INTARSIA_OK;
      if (status != kRunning) {
        state_.fault_cause = bus_.read(kFaultCause);
        return INTARSIA_ERROR_DEVICE_FAULT;
      }
    }
    return INTARSIA_ERROR_DEVICE_TIMEOUT;
  }

 private:
  const Bus& bus_;
  intarsia_ethos_n& state_;
};

intarsia_status run(intarsia_device* device, const intarsia_stream* stream, void* const* bases,
                    uint32_t base_count) {
  // `device` is the first member of the driver's state.
  auto& npu = *reinterpret_cast<intarsia_ethos_n*>(device);
  if (npu.over_bus != 0)
    return Npu(rt::CallbackBus(npu.access.bus), npu).run(*stream, bases, base_count);
  return Npu(rt::MmioBus(npu.access.registers), npu).run(*stream, bases, base_count);
}

void set_defaults(intarsia_ethos_n& npu) {
  npu.device.run = run;
  npu.poll_limit = kPollLimit;
  npu.fault_cause = 0;
}

intarsia_status open(intarsia_ethos_n& npu) {
  if (npu.over_bus != 0) return Npu(rt::CallbackBus(npu.access.bus), npu).open();
  return Npu(rt::MmioBus(npu.access.registers), npu).open();
}

}  // namespace
}  // namespace intarsia::targets::ethos_n

using namespace intarsia::targets::ethos_n;

intarsia_status intarsia_ethos_n_open(intarsia_ethos_n* npu, void* registers) {
  if (npu == nullptr || registers == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  set_defaults(*npu);
  npu->over_bus = 0;
  npu->access.registers = registers;
  return open(*npu);
}

intarsia_status intarsia_ethos_n_open_bus(intarsia_ethos_n* npu, const intarsia_register_bus* bus) {
  if (npu == nullptr || bus == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  set_defaults(*npu);
  npu->over_bus = 1;
  npu->access.bus = *bus;
  return open(*npu);
}
