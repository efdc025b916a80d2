#include "intarsia/targets/example_npu/device.h"

#include "intarsia/targets/example_npu/execute.h"

namespace intarsia::simulators::example_npu {
namespace {

enum Register : uint32_t {
#define REGISTER(name, offset, access, reset) k##name = offset,
#include "intarsia/targets/example_npu/registers.def"
#undef REGISTER
};

enum Access { ReadOnly, ReadWrite };
struct RegisterRow {
  uint32_t offset;
  Access access;
  uint32_t reset;
};
constexpr RegisterRow kRegisters[] = {
#define REGISTER(name, offset, access, reset) {offset, access, reset},
#include "intarsia/targets/example_npu/registers.def"
#undef REGISTER
};

constexpr uint32_t kStart = 1, kReset = 2;
constexpr uint32_t kBusy = 1, kDone = 2, kFault = 4;

}  // namespace

Device::Device() {
  reset();
}

Device::Device(std::vector<Window> windows) : windows_(std::move(windows)), restricted_(true) {
  reset();
}

void Device::reset() {
  for (const RegisterRow& row : kRegisters) registers_[row.offset] = row.reset;
  busy_left_ = 0;
}

uint32_t Device::read(uint32_t offset) {
  if (offset == kStatus && busy_left_ > 0) {
    --busy_left_;
    return kBusy;
  }
  const auto found = registers_.find(offset);
  return found == registers_.end() ? 0 : found->second;
}

void Device::write(uint32_t offset, uint32_t value) {
  if (offset == kControl) {
    if ((value & kReset) != 0) reset();
    if ((value & kStart) != 0) start();
    return;
  }
  for (const RegisterRow& row : kRegisters)
    if (row.offset == offset && row.access == ReadWrite) registers_[offset] = value;
}

void Device::start() {
  const auto address = [&](uint32_t low) {
    return uint64_t{registers_[low]} | uint64_t{registers_[low + 4]} << 32;
  };
  Program program{address(kCommandsLow), registers_[kCommandsBytes], {}};
  for (uint32_t i = 0; i < kRegions; ++i) program.bases[i] = address(kBase0Low + 8 * i);

  const Memory memory(restricted_ ? std::optional<std::span<const Window>>(windows_)
                                  : std::nullopt);
  const Outcome outcome = execute(memory, program);
  registers_[kStatus] = outcome.fault == Fault::None ? kDone : kFault;
  registers_[kFaultCause] = static_cast<uint32_t>(outcome.fault);
  registers_[kFaultCommand] = outcome.fault == Fault::None ? 0 : outcome.command;
  registers_[kCycles] = outcome.cycles;
  busy_left_ = busy_reads_;
}

intarsia_register_bus Device::bus() {
  return {
      [](void* context, uint32_t offset) { return static_cast<Device*>(context)->read(offset); },
      [](void* context, uint32_t offset, uint32_t value) {
        static_cast<Device*>(context)->write(offset, value);
      },
      this};
}

}  // namespace intarsia::simulators::example_npu
