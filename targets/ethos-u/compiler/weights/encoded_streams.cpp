#include "weights/encoded_streams.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace intarsia::targets::ethos_u {
namespace {

// Multiplication carries what differs up, rotation brings it down again. Two of these with other odd factors make 128 bits;
// nobody chooses weights so that they meet.
class Mixture {
 public:
  explicit Mixture(uint64_t factor) : factor_(factor) {}
  void add(uint64_t word) { state_ = std::rotl((state_ ^ word) * factor_, 29); }
  uint64_t value() const {
    const uint64_t mixed = (state_ ^ state_ >> 32) * factor_;
    return mixed ^ mixed >> 29;
  }

 private:
  uint64_t factor_, state_ = 0x9e3779b97f4a7c15;
};

}  // namespace

EncodedStreams::Key EncodedStreams::key_of(std::span<const int16_t> weights,
                                           const HeaderWorth& worth) {
  Mixture one(0xd6e8feb86659fd93), other(0xa0761d6478bd642f);
  constexpr size_t kAtOnce = sizeof(uint64_t) / sizeof(int16_t);
  for (size_t at = 0; at < weights.size(); at += kAtOnce) {
    uint64_t word = 0;
    std::memcpy(&word, weights.data() + at,
                std::min(kAtOnce, weights.size() - at) * sizeof(int16_t));
    one.add(word);
    other.add(word);
  }
  return {weights.size(),
          static_cast<uint64_t>(worth.slice),
          static_cast<uint64_t>(worth.palette),
          static_cast<uint64_t>(worth.entry),
          one.value(),
          other.value()};
}

std::shared_ptr<const EncodedStreams::Stream> EncodedStreams::of(std::span<const int16_t> weights,
                                                                 const HeaderWorth& worth) {
  const Key key = key_of(weights, worth);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = made_.find(key); known != made_.end()) return known->second;
  }
  Stream made;
  made.bytes = encode_weights(weights, &made.headers, worth);
  const auto stream = std::make_shared<const Stream>(std::move(made));
  const std::lock_guard lock(mutex_);
  if (made_.emplace(key, stream).second) {
    order_.push_back(key);
    bytes_ += std::ssize(stream->bytes);
  }
  while (bytes_ > kMostBytes) {
    const auto oldest = made_.find(order_.front());
    bytes_ -= std::ssize(oldest->second->bytes);
    made_.erase(oldest);
    order_.pop_front();
  }
  return stream;
}

int64_t EncodedStreams::estimated_bytes(std::span<const int16_t> weights) {
  const Key key = key_of(weights, {});
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = estimated_.find(key); known != estimated_.end()) return known->second;
  }
  const int64_t bytes = estimate_weight_bytes(weights);
  const std::lock_guard lock(mutex_);
  return estimated_.emplace(key, bytes).first->second;
}

}  // namespace intarsia::targets::ethos_u
