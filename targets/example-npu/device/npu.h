// The driver itself, over any bus. It checks what the device cannot know: that it is there, that
// the stream was made for it, and that every base is one. Everything else the device checks.
#pragma once

#include "intarsia/core/register_bus.h"
#include "intarsia/targets/example_npu/driver.h"

namespace intarsia::targets::example_npu {

enum Register : uint32_t {
#define REGISTER(name, offset, access, reset) k##name = offset,
#include "intarsia/targets/example_npu/registers.def"
#undef REGISTER
};

#define REGISTER(name, offset, access, reset) inline constexpr uint32_t k##name##AfterReset = reset;
#include "intarsia/targets/example_npu/registers.def"
#undef REGISTER

#define CONSTANT(name, value) inline constexpr uint32_t k##name = value;
#include "intarsia/targets/example_npu/constants.def"
#undef CONSTANT

struct FieldPlace {
  uint8_t word, low_bit, bits;
};
namespace opcode {
#define COMMAND(name, value) inline constexpr uint32_t name = value;
#define FIELD(command, name, word, low_bit, bits, sign)
#include "intarsia/targets/example_npu/commands.def"
#undef COMMAND
#undef FIELD
}  // namespace opcode
namespace field {
#define COMMAND(name, value)
#define FIELD(command, name, word, low_bit, bits, sign) \
  inline constexpr FieldPlace command##_##name = {word, low_bit, bits};
#include "intarsia/targets/example_npu/commands.def"
#undef COMMAND
#undef FIELD
}  // namespace field

template <rt::RegisterBus Bus>
class Npu {
 public:
  Npu(const Bus& bus, intarsia_example_npu& state) : bus_(bus), state_(state) {}

  intarsia_status open() const {
    // A device of the same major revision understands our streams.
    if (bus_.read(kIdentity) != kIdentityAfterReset ||
        bus_.read(kRevision) >> 16 != kRevisionAfterReset >> 16)
      return INTARSIA_ERROR_DEVICE_ABSENT;
    bus_.write(kControl, kResetBit);
    return INTARSIA_OK;
  }

  intarsia_status run(const intarsia_stream& stream, void* const* bases,
                      uint32_t base_count) const {
    if (!fits(stream, base_count)) return INTARSIA_ERROR_DEVICE_MISMATCH;
    for (uint32_t i = 0; i < base_count; ++i)
      if (!reachable(bases[i])) return INTARSIA_ERROR_DEVICE_MEMORY;

    bus_.write(kControl, kResetBit);
    write_address(kCommandsLow, stream.commands);
    bus_.write(kCommandsBytes, stream.command_bytes);
    for (uint32_t i = 0; i < base_count; ++i) write_address(kBase0Low + 8 * i, bases[i]);
    bus_.write(kControl, kStartBit);
    return wait();
  }

 private:
  static constexpr uint32_t kStartBit = 1, kResetBit = 2;
  static constexpr uint32_t kBusyBit = 1, kDoneBit = 2;

  static uint32_t read_field(const uint8_t* command, FieldPlace place) {
    const uint8_t* word = command + 4 * place.word;
    const uint32_t value = word[0] | static_cast<uint32_t>(word[1]) << 8 |
                           static_cast<uint32_t>(word[2]) << 16 |
                           static_cast<uint32_t>(word[3]) << 24;
    return value >> place.low_bit & (place.bits == 32 ? ~0u : (1u << place.bits) - 1);
  }

  static bool fits(const intarsia_stream& stream, uint32_t base_count) {
    const uint8_t* begin = stream.commands;
    return begin != nullptr && stream.command_bytes >= 2 * kCommandBytes &&
           begin[0] == opcode::begin &&
           read_field(begin, field::begin_stream_version) == kStreamVersion &&
           read_field(begin, field::begin_lanes) == kLanes &&
           read_field(begin, field::begin_region_count) == base_count && base_count <= kRegions;
  }

  static bool reachable(const void* base) {
    return base != nullptr && reinterpret_cast<uintptr_t>(base) % kLanes == 0;
  }

  void write_address(uint32_t low_register, const void* address) const {
    bus_.write(low_register, rt::low_word(address));
    bus_.write(low_register + 4, rt::high_word(address));
  }

  intarsia_status wait() const {
    uint32_t status = bus_.read(kStatus);
    for (uint32_t i = 0; (status & kBusyBit) != 0; ++i) {
      if (i == state_.poll_limit) {
        bus_.write(kControl, kResetBit);
        return INTARSIA_ERROR_DEVICE_TIMEOUT;
      }
      status = bus_.read(kStatus);
    }
    if (status == kDoneBit) return INTARSIA_OK;
    state_.fault_cause = bus_.read(kFaultCause);
    state_.fault_command = bus_.read(kFaultCommand);
    bus_.write(kControl, kResetBit);
    return INTARSIA_ERROR_DEVICE_FAULT;
  }

  const Bus& bus_;
  intarsia_example_npu& state_;
};

}  // namespace intarsia::targets::example_npu
