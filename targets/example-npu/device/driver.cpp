#include "intarsia/targets/example_npu/driver.h"

#include "intarsia/targets/example_npu/npu.h"

namespace intarsia::targets::example_npu {
namespace {

// Some seconds on a microcontroller; more than any stream takes.
constexpr uint32_t kPollLimit = 1u << 24;

rt::MmioBus bus_of(const intarsia_example_npu& npu, rt::MmioBus*) {
  return rt::MmioBus(npu.access.registers);
}
rt::CallbackBus bus_of(const intarsia_example_npu& npu, rt::CallbackBus*) {
  return rt::CallbackBus(npu.access.bus);
}

template <typename Bus>
intarsia_status run(intarsia_device* device, const intarsia_stream* stream, void* const* bases,
                    uint32_t base_count) {
  // `device` is the first member of the driver's state.
  auto& npu = *reinterpret_cast<intarsia_example_npu*>(device);
  const Bus bus = bus_of(npu, static_cast<Bus*>(nullptr));
  return Npu(bus, npu).run(*stream, bases, base_count);
}

template <typename Bus>
intarsia_status open(intarsia_example_npu& npu) {
  npu.device.run = run<Bus>;
  npu.poll_limit = kPollLimit;
  npu.fault_cause = 0;
  npu.fault_command = 0;
  const Bus bus = bus_of(npu, static_cast<Bus*>(nullptr));
  return Npu(bus, npu).open();
}

}  // namespace
}  // namespace intarsia::targets::example_npu

using namespace intarsia;
using targets::example_npu::open;

intarsia_status intarsia_example_npu_open(intarsia_example_npu* npu, void* registers) {
  if (npu == nullptr || registers == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  npu->access.registers = registers;
  return open<rt::MmioBus>(*npu);
}

intarsia_status intarsia_example_npu_open_bus(intarsia_example_npu* npu,
                                              const intarsia_register_bus* bus) {
  if (npu == nullptr || bus == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  npu->access.bus = *bus;
  return open<rt::CallbackBus>(*npu);
}
