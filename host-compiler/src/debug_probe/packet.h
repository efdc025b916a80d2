// Packets of the GDB remote serial protocol: "$payload#cc", where cc is the sum of the payload's bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace intarsia::debug_probe {

// What is sent: `payload` holds no '$', '#' or '}' but in escaped bytes.
std::string framed(std::string_view payload);
// Bytes as binary data in a payload: four values have an escape.
std::string escaped(std::span<const uint8_t> bytes);
std::string unescaped(std::string_view data);

std::string hex_of(std::span<const uint8_t> bytes);
std::string hex_of(std::string_view text);
// Nothing where it is not pairs of hexadecimal digits.
std::optional<std::vector<uint8_t>> bytes_of_hex(std::string_view hex);
// Of at most 64 bits; nothing where it is not a number.
std::optional<uint64_t> number_of_hex(std::string_view hex);

// What a stub sends, cut into its parts. Bytes outside of packets are dropped and counted.
class PacketReader {
 public:
  enum class Kind : uint8_t {
    Ack,
    Nak,
    Packet,
    Damaged,  // its sum is not what it says
    TooLong,  // of no end in sight
  };
  struct Event {
    Kind kind;
    std::string payload;  // of a Packet, repetitions written out
  };

  void feed(std::string_view bytes) { bytes_ += bytes; }
  // The next part that is whole.
  std::optional<Event> next();
  // Bytes since the last packet that belong to none.
  size_t dropped() const { return dropped_; }

 private:
  void drop_until_start();

  std::string bytes_;  // not yet part of an event
  size_t dropped_ = 0;
};

}  // namespace intarsia::debug_probe
