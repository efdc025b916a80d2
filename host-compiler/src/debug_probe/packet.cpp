#include "debug_probe/packet.h"

#include <fmt/format.h>

namespace intarsia::debug_probe {
namespace {

constexpr size_t kLongestPacket = 1 << 20;
constexpr char kEscape = '}';
constexpr char kFlip = 0x20;  // what an escaped byte is combined with
constexpr char kRepeat = '*';
constexpr int kRepeatBase = 29;  // the character of a repetition is its count and this

uint8_t sum_of(std::string_view payload) {
  unsigned sum = 0;
  for (const char c : payload) sum += static_cast<uint8_t>(c);
  return static_cast<uint8_t>(sum);
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// "0* " is "0000". Nothing where a repetition has nothing to repeat or no count.
std::optional<std::string> written_out(std::string_view payload) {
  std::string text;
  for (size_t i = 0; i < payload.size(); ++i) {
    if (payload[i] != kRepeat) {
      text += payload[i];
      // What follows an escape stands for itself.
      if (payload[i] == kEscape && i + 1 < payload.size()) text += payload[++i];
      continue;
    }
    const int count = i + 1 < payload.size() ? payload[i + 1] - kRepeatBase : 0;
    if (text.empty() || count <= 0 || text.size() > kLongestPacket) return std::nullopt;
    text.append(static_cast<size_t>(count), text.back());
    ++i;
  }
  return text;
}

}  // namespace

std::string framed(std::string_view payload) {
  return fmt::format("${}#{:02x}", payload, sum_of(payload));
}

std::string escaped(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    const char c = static_cast<char>(byte);
    if (c == '$' || c == '#' || c == kEscape || c == kRepeat) {
      text += kEscape;
      text += static_cast<char>(c ^ kFlip);
    } else {
      text += c;
    }
  }
  return text;
}

std::string unescaped(std::string_view data) {
  std::string text;
  for (size_t i = 0; i < data.size(); ++i) {
    const bool flips = data[i] == kEscape && i + 1 < data.size();
    text += flips ? static_cast<char>(data[++i] ^ kFlip) : data[i];
  }
  return text;
}

std::string hex_of(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string hex_of(std::string_view text) {
  return hex_of(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

std::optional<std::vector<uint8_t>> bytes_of_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::vector<uint8_t> bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit_of(hex[i]), low = digit_of(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return bytes;
}

std::optional<uint64_t> number_of_hex(std::string_view hex) {
  if (hex.empty() || hex.size() > 16) return std::nullopt;
  uint64_t value = 0;
  for (const char c : hex) {
    const int digit = digit_of(c);
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<uint64_t>(digit);
  }
  return value;
}

// Up to a character that begins something.
void PacketReader::drop_until_start() {
  const size_t start = bytes_.find_first_of("+-$%");
  const size_t dropped = start == std::string::npos ? bytes_.size() : start;
  dropped_ += dropped;
  bytes_.erase(0, dropped);
}

std::optional<PacketReader::Event> PacketReader::next() {
  for (;;) {
    drop_until_start();
    if (bytes_.empty()) return std::nullopt;
    const char first = bytes_[0];
    if (first == '+' || first == '-') {
      bytes_.erase(0, 1);
      return Event{first == '+' ? Kind::Ack : Kind::Nak, {}};
    }
    // A '$' is escaped within a packet: the end of the one before it is lost.
    const size_t end = bytes_.find_first_of("#$", 1);
    if (end == std::string::npos) {
      if (bytes_.size() < kLongestPacket) return std::nullopt;
      bytes_.clear();
      return Event{Kind::TooLong, {}};
    }
    if (bytes_[end] == '$') {
      dropped_ += end;
      bytes_.erase(0, end);
      continue;
    }
    if (bytes_.size() < end + 3) return std::nullopt;
    const std::string payload = bytes_.substr(1, end - 1);
    const std::optional<uint64_t> sum = number_of_hex(std::string_view(bytes_).substr(end + 1, 2));
    bytes_.erase(0, end + 3);
    if (first == '%') continue;  // a notification: nobody waits for one
    dropped_ = 0;
    std::optional<std::string> text = written_out(payload);
    if (sum != sum_of(payload) || !text) return Event{Kind::Damaged, {}};
    return Event{Kind::Packet, *std::move(text)};
  }
}

}  // namespace intarsia::debug_probe
