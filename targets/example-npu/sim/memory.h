// What the device sees on its bus.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "intarsia/targets/example_npu/device.h"

namespace intarsia::simulators::example_npu {

class Memory {
 public:
  // No windows: everything answers but the null page.
  explicit Memory(std::optional<std::span<const Window>> windows) : windows_(windows) {}

  // Null: a bus error.
  const uint8_t* read(uint64_t address, uint64_t bytes) const {
    return find(address, bytes, false);
  }
  uint8_t* write(uint64_t address, uint64_t bytes) const { return find(address, bytes, true); }

 private:
  uint8_t* find(uint64_t address, uint64_t bytes, bool for_writing) const {
    if (address > UINT64_MAX - bytes || address < 4096) return nullptr;
    bool answers = !windows_.has_value();
    if (windows_)
      for (const Window& window : *windows_)
        answers |= address >= window.first && bytes <= window.bytes &&
                   address - window.first <= window.bytes - bytes &&
                   (window.writable || !for_writing);
    return answers ? reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address)) : nullptr;
  }

  std::optional<std::span<const Window>> windows_;
};

}  // namespace intarsia::simulators::example_npu
