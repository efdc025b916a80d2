// A number that tells contents apart that were made at different times (FNV-1a); no protection against intent.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace intarsia {

class Fingerprint {
 public:
  // Each addition counts with its length: "ab" and "c" are not "a" and "bc".
  void add(std::span<const uint8_t> bytes) {
    for (uint64_t size = bytes.size(), i = 0; i < 8; ++i)
      mix(static_cast<uint8_t>(size >> (8 * i)));
    for (const uint8_t byte : bytes) mix(byte);
  }
  void add(std::string_view text) {
    add(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  }

  // Never zero, which is memory that nobody has written.
  uint32_t word() const {
    const auto folded = static_cast<uint32_t>(hash_ ^ hash_ >> 32);
    return folded == 0 ? 1 : folded;
  }

 private:
  void mix(uint8_t byte) { hash_ = (hash_ ^ byte) * 1099511628211u; }

  uint64_t hash_ = 14695981039346656037u;
};

}  // namespace intarsia
