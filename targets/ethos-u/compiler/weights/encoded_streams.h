// Weight streams that have been made. The same weights are encoded more than once: for an operation alone, in its function,
// and in every schedule of that which is tried; and encoding takes longer than anything else in compiling for this NPU.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "weights/weight_encoder.h"

namespace intarsia::targets::ethos_u {

// May be used by several threads at a time.
class EncodedStreams {
 public:
  struct Stream {
    std::vector<uint8_t> bytes;
    WeightHeaders headers;
  };
  // As encode_weights.
  std::shared_ptr<const Stream> of(std::span<const int16_t> weights, const HeaderWorth& worth);
  // As estimate_weight_bytes.
  int64_t estimated_bytes(std::span<const int16_t> weights);

 private:
  // What was made last is kept, up to this many bytes.
  static constexpr int64_t kMostBytes = int64_t{64} << 20;
  // Their number, what headers are worth, and 128 bits that tell contents apart.
  using Key = std::array<uint64_t, 6>;
  static Key key_of(std::span<const int16_t> weights, const HeaderWorth& worth);

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Stream>> made_;
  std::deque<Key> order_;
  int64_t bytes_ = 0;
  std::map<Key, int64_t> estimated_;
};

}  // namespace intarsia::targets::ethos_u
