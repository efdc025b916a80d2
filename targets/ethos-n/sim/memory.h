// What the device reaches: SRAM in banks, and DRAM through the table of buffers. An access outside
// sets `failure`, gives zero or does nothing; whoever drives the device looks at it after every
// step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/targets/ethos_n/isa.h"

namespace intarsia::simulators::ethos_n {

class Sram {
 public:
  explicit Sram(const Variant& variant)
      : bank_bytes_(variant.emc_bytes), banks_(variant.srams()), bytes_(bank_bytes_ * banks_) {}

  uint32_t banks() const { return static_cast<uint32_t>(banks_); }
  uint64_t bank_bytes() const { return bank_bytes_; }

  uint8_t read(uint64_t bank, uint64_t address) {
    return inside(bank, address) ? bytes_[bank * bank_bytes_ + address] : uint8_t{0};
  }
  void write(uint64_t bank, uint64_t address, uint8_t value) {
    if (inside(bank, address)) bytes_[bank * bank_bytes_ + address] = value;
  }

  std::optional<std::string> failure;

 private:
  bool inside(uint64_t bank, uint64_t address) {
    if (bank < banks_ && address < bank_bytes_) return true;
    if (!failure)
      failure = "address " + std::to_string(address) + " of bank " + std::to_string(bank) +
                " is outside of SRAM";
    return false;
  }

  uint64_t bank_bytes_, banks_;
  std::vector<uint8_t> bytes_;
};

// Where an element lies: channels go round the banks; in a bank are groups of 8x8 elements of one
// channel, in four patches of 4x4 of which the second is below the first.
struct SramTensor {
  uint64_t base = 0, row_stride = 0, group_stride = 0;  // bytes of one bank; strides of 8x8 groups

  static SramTensor packed(const Sram& sram, uint64_t base, uint64_t width, uint64_t channels) {
    const uint64_t group = (channels + sram.banks() - 1) / sram.banks() * kGroupBytes;
    return {base, (width + 7) / 8 * group, group};
  }
  static uint64_t in_group(uint64_t y, uint64_t x) {
    return ((x % 8 / 4) * 2 + y % 8 / 4) * kPatchBytes + y % 4 * 4 + x % 4;
  }
  uint64_t address(uint64_t y, uint64_t x) const {
    return base + y / 8 * row_stride + x / 8 * group_stride + in_group(y, x);
  }
  uint8_t read(Sram& sram, uint64_t y, uint64_t x, uint64_t c) const {
    return sram.read(c % sram.banks(), address(y, x) + c / sram.banks() * kGroupBytes);
  }
  void write(Sram& sram, uint64_t y, uint64_t x, uint64_t c, uint8_t value) const {
    sram.write(c % sram.banks(), address(y, x) + c / sram.banks() * kGroupBytes, value);
  }
};

// Numbers of buffers are dense and begin at 0; this many no network has.
inline constexpr uint32_t kMaxBuffers = 1u << 16;

// A buffer of the table.
struct DramBuffer {
  bool there = false, writable = false;
  std::vector<uint8_t>* memory = nullptr;
  uint64_t offset = 0, bytes = 0;
};

class Dram {
 public:
  std::vector<DramBuffer> buffers;  // by number
  std::optional<std::string> failure;

  // A brick group is read whole even where a buffer ends inside it (a vector that is multiplied is
  // seen as bricks); what lies there is the memory behind the buffer, and meets weights of zero.
  uint8_t read(uint32_t id, uint64_t at) {
    const DramBuffer& buffer = buffers[id];
    const uint64_t end =
        (buffer.bytes + kBrickGroupBytes - 1) / kBrickGroupBytes * kBrickGroupBytes;
    if (at >= end) return outside(id, at, "read"), uint8_t{0};
    return buffer.offset + at < buffer.memory->size() ? (*buffer.memory)[buffer.offset + at]
                                                      : uint8_t{0};
  }
  void write(uint32_t id, uint64_t at, uint8_t value) {
    const DramBuffer& buffer = buffers[id];
    if (!buffer.writable || at >= buffer.bytes) return outside(id, at, "written");
    (*buffer.memory)[buffer.offset + at] = value;
  }
  bool has(uint32_t id) const { return id < buffers.size() && buffers[id].there; }

 private:
  void outside(uint32_t id, uint64_t at, const char* verb) {
    if (!failure)
      failure =
          "byte " + std::to_string(at) + " of buffer " + std::to_string(id) + " cannot be " + verb;
  }
};

}  // namespace intarsia::simulators::ethos_n
