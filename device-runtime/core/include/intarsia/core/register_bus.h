// RegisterBus: how a driver reads and writes the 32-bit registers of its device. Drivers are
// templates over it, so that the code that runs on silicon is the code that runs on the simulator.
#pragma once

#if __cplusplus < 201709L
#error \
    "drivers of devices are C++20: compile the .cpp files of the package with -std=c++20 (<MODEL>_CXXFLAGS in its .mk)"
#endif

#include <concepts>
#include <cstdint>

#include "intarsia/contract/register_bus.h"

namespace intarsia::rt {

// Offsets are in bytes, multiples of 4.
template <typename Bus>
concept RegisterBus = requires(const Bus& bus, uint32_t offset, uint32_t value) {
  { bus.read(offset) } -> std::same_as<uint32_t>;
  bus.write(offset, value);
};

// Registers in the address space. The fences keep the memory a device works on in step with the
// registers that start it and say that it is done.
class MmioBus {
 public:
  explicit MmioBus(void* registers) : registers_(static_cast<volatile uint32_t*>(registers)) {}

  uint32_t read(uint32_t offset) const {
    const uint32_t value = registers_[offset / 4];
    fence();
    return value;
  }
  void write(uint32_t offset, uint32_t value) const {
    fence();
    registers_[offset / 4] = value;
  }

 private:
  static void fence() {
#if defined(__arm__)
    // Not __atomic_thread_fence: a device is outside of the domain that DMB orders on some parts.
    __asm volatile("dsb" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
  }

  volatile uint32_t* registers_;
};

// A bus made of functions.
class CallbackBus {
 public:
  explicit CallbackBus(const intarsia_register_bus& bus) : bus_(bus) {}

  uint32_t read(uint32_t offset) const { return bus_.read(bus_.context, offset); }
  void write(uint32_t offset, uint32_t value) const { bus_.write(bus_.context, offset, value); }

 private:
  intarsia_register_bus bus_;
};

static_assert(RegisterBus<MmioBus> && RegisterBus<CallbackBus>);

// The two halves of an address, for devices with pairs of registers.
inline uint32_t low_word(const void* address) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address));
}
inline uint32_t high_word(const void* address) {
  return static_cast<uint32_t>(uint64_t{reinterpret_cast<uintptr_t>(address)} >> 32);
}

}  // namespace intarsia::rt
