#include "weights/encoded_streams.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace intarsia::targets::ethos_u {
namespace {

// Multiplication carries what differs up, rotation brings it down again. Two of these with other odd factors make 128 bits;
// nobody chooses weights so that they meet. Words go to several states in turn, for each would wait for its product.
class Mixture {
 public:
  static constexpr size_t kStates = 4;

  explicit Mixture(uint64_t factor) : factor_(factor) { states_.fill(kStart); }
  void add(const std::array<uint64_t, kStates>& words) {
    for (size_t i = 0; i < kStates; ++i) states_[i] = after(states_[i], words[i]);
  }
  uint64_t value() const {
    // From a number of its own on: of the first two states by themselves it would be all one which comes first.
    uint64_t all = kStart;
    for (const uint64_t state : states_) all = after(all, state);
    const uint64_t mixed = (all ^ all >> 32) * factor_;
    return mixed ^ mixed >> 29;
  }

 private:
  static constexpr uint64_t kStart = 0x9e3779b97f4a7c15;

  uint64_t after(uint64_t state, uint64_t word) const {
    return std::rotl((state ^ word) * factor_, 29);
  }

  uint64_t factor_;
  std::array<uint64_t, kStates> states_;
};

}  // namespace

EncodedStreams::Key EncodedStreams::key_of(std::span<const int16_t> weights,
                                           const HeaderWorth& worth) {
  Mixture one(0xd6e8feb86659fd93), other(0xa0761d6478bd642f);
  std::array<uint64_t, Mixture::kStates> words = {};
  constexpr size_t kAtOnce = sizeof(words) / sizeof(int16_t);
  size_t at = 0;
  for (; at + kAtOnce <= weights.size(); at += kAtOnce) {
    std::memcpy(words.data(), weights.data() + at, sizeof(words));
    one.add(words);
    other.add(words);
  }
  if (at < weights.size()) {
    words = {};
    std::memcpy(words.data(), weights.data() + at, (weights.size() - at) * sizeof(int16_t));
    one.add(words);
    other.add(words);
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
