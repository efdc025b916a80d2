// A small package with everything in it, and memory to load packages into.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "package_writer/package_writer.h"

namespace intarsia::test {

// Exactly as many bytes as given, `shift` beyond a 16-byte aligned address, so that
// AddressSanitizer sees the first byte read behind the end.
class AlignedBytes {
 public:
  explicit AlignedBytes(const std::vector<uint8_t>& bytes, size_t shift = 0)
      : block_(static_cast<uint8_t*>(::operator new(bytes.size() + shift, kAlignment))),
        shift_(shift),
        size_(bytes.size()) {
    if (!bytes.empty()) std::memcpy(data(), bytes.data(), bytes.size());
  }
  ~AlignedBytes() { ::operator delete(block_, kAlignment); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;

  uint8_t* data() const { return block_ + shift_; }
  uint32_t size() const { return static_cast<uint32_t>(size_); }

 private:
  static constexpr std::align_val_t kAlignment{16};

  uint8_t* block_;
  size_t shift_, size_;
};

inline std::vector<CommandStream> sample_streams() {
  using Kind = StreamRegion::Kind;
  std::vector<uint8_t> commands(75), constants(33);
  for (size_t i = 0; i < commands.size(); ++i) commands[i] = static_cast<uint8_t>(7 * i);
  for (size_t i = 0; i < constants.size(); ++i) constants[i] = static_cast<uint8_t>(255 - i);
  return {
      {"main_npu_0",
       "npu",
       "example-npu -clock-mhz=100",
       commands,
       constants,
       {{Kind::Constants, 0}, {Kind::Pool, 2}, {Kind::Pool, 0}},
       {"conv_1", "add_2"}},
      {"main_npu_1",
       "npu",
       "example-npu",
       {1, 2, 3},
       {},
       {{Kind::Pool, 1}, {Kind::Pool, 1, 48}},
       {}},
      {"main_npu_2", "npu", "example-npu", {}, {}, {}, {""}},
  };
}

}  // namespace intarsia::test
