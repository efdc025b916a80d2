// The constants of a program's package: one block of bytes, in which equal ones are once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "intarsia/plugin/tir.h"

namespace intarsia::executable {

class ConstantBlock {
 public:
  // Bytes from the block's beginning.
  uint32_t place(const tir::Module& module, ConstantId id) {
    const auto [known, is_new] = placed_.try_emplace(id.index, 0);
    if (is_new) {
      const SharedBytes& bytes = module.constant(id).bytes;
      known->second = append({bytes.data(), bytes.size()});
    }
    return known->second;
  }

  template <typename T>
  uint32_t place(const std::vector<T>& numbers) {
    static_assert(std::endian::native == std::endian::little, "packages are little-endian");
    const std::vector<uint8_t> bytes(
        reinterpret_cast<const uint8_t*>(numbers.data()),
        reinterpret_cast<const uint8_t*>(numbers.data() + numbers.size()));
    const auto [known, is_new] = numbers_.try_emplace(bytes, 0);
    if (is_new) known->second = append(bytes);
    return known->second;
  }

  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  uint32_t append(std::span<const uint8_t> bytes) {
    constexpr size_t kAlignment = 16;  // of whatever a kernel reads
    bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment);
    const auto place = static_cast<uint32_t>(bytes_.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return place;
  }

  std::vector<uint8_t> bytes_;
  std::map<int32_t, uint32_t> placed_;
  std::map<std::vector<uint8_t>, uint32_t> numbers_;
};

}  // namespace intarsia::executable
