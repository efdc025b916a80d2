// Bytes that many values hold and none changes: the weights of a network pass through every stage,
// and each stage returns new modules. A copy of a SharedBytes is a reference to the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace intarsia {

// A value like a vector of bytes that cannot be changed; copies cost nothing.
class SharedBytes {
 public:
  SharedBytes() = default;  // no bytes
  SharedBytes(std::vector<uint8_t> bytes)
      : bytes_(bytes.empty() ? nullptr
                             : std::make_shared<const std::vector<uint8_t>>(std::move(bytes))) {}
  SharedBytes(std::initializer_list<uint8_t> bytes) : SharedBytes(std::vector<uint8_t>(bytes)) {}

  // The bytes themselves; they live as long as any holder of them.
  const std::vector<uint8_t>& vector() const { return bytes_ == nullptr ? none() : *bytes_; }
  operator const std::vector<uint8_t>&() const { return vector(); }

  // As those of a vector.
  size_t size() const { return vector().size(); }
  bool empty() const { return bytes_ == nullptr; }
  const uint8_t* data() const { return vector().data(); }
  const uint8_t* begin() const { return data(); }
  const uint8_t* end() const { return data() + size(); }
  const uint8_t& operator[](size_t i) const { return vector()[i]; }

  // Whether both hold the very same bytes in memory, which is more than being equal.
  bool shares_with(const SharedBytes& other) const { return bytes_ == other.bytes_; }

  friend bool operator==(const SharedBytes& a, const SharedBytes& b) {
    return a.shares_with(b) || a.vector() == b.vector();
  }
  friend bool operator==(const SharedBytes& a, const std::vector<uint8_t>& b) {
    return a.vector() == b;
  }

 private:
  static const std::vector<uint8_t>& none() {
    static const std::vector<uint8_t> empty;
    return empty;
  }

  std::shared_ptr<const std::vector<uint8_t>> bytes_;  // null: no bytes
};

}  // namespace intarsia
