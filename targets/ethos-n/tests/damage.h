// Damage that a compiled network may take when it is stored or sent.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace intarsia::test::ethos_n {

// One to four of its words changed, half of them to a small value.
inline std::vector<uint8_t> damaged(std::vector<uint8_t> bytes, std::mt19937& random) {
  for (uint32_t n = random() % 4 + 1; n > 0; --n) {
    const size_t at = random() % (bytes.size() / 4) * 4;
    const auto value = static_cast<uint32_t>(random() % 2 != 0 ? random() : random() % 64);
    std::memcpy(bytes.data() + at, &value, 4);
  }
  return bytes;
}

}  // namespace intarsia::test::ethos_n
