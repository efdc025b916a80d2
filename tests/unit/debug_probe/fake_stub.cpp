#include "fake_stub.h"

#include <fmt/format.h>

#include <cstdlib>
#include <thread>

#include "debug_probe/packet.h"

namespace intarsia::debug_probe {
namespace {

uint64_t hex_number(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 16);
}

// "ADDRESS,LENGTH"
std::pair<uint64_t, uint64_t> two_numbers(const std::string& text) {
  return {hex_number(text), hex_number(text.substr(text.find(',') + 1))};
}

std::string as_text(const std::vector<uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

std::string word_hex(uint32_t value) {
  const uint8_t bytes[] = {static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8),
                           static_cast<uint8_t>(value >> 16), static_cast<uint8_t>(value >> 24)};
  return hex_of(bytes);
}

uint32_t hex_word(const std::string& hex) {
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;)
    value = value << 8 | static_cast<uint32_t>(hex_number(hex.substr(i * 2, 2)));
  return value;
}

}  // namespace

FakeStub::FakeStub() {
  memories.push_back({0x08000000, std::vector<uint8_t>(0x4000, 0xFF), 0x400});
  memories.push_back({0x20000000, std::vector<uint8_t>(0x2000, 0)});
  memories.push_back({0xE0000000, std::vector<uint8_t>(0x10000, 0)});  // system registers
  set_word(0xE000ED00, 0x410FC241);                                    // Cortex-M4
  files["memory-map:"] =
      "<?xml version=\"1.0\"?><memory-map>\n"
      "<memory type=\"flash\" start=\"0x08000000\" length=\"0x4000\">"
      "<property name=\"blocksize\">0x400</property></memory>\n"
      "<memory type=\"ram\" start=\"0x20000000\" length=\"0x2000\"/></memory-map>";
  files["features:target.xml"] =
      "<target><architecture>arm</architecture><xi:include href=\"core.xml\"/></target>";
  files["features:core.xml"] =
      "<feature name=\"org.gnu.gdb.arm.m-profile\"><reg name=\"r0\" bitsize=\"32\"/>"
      "<reg name=\"xPSR\" bitsize=\"32\" regnum=\"25\"/></feature>";
}

Result<void> FakeStub::send(std::string_view bytes) {
  if (lost_) return Diagnostics(name(), "the connection is lost: the test says so");
  in_ += bytes;
  while (!in_.empty()) {
    if (in_[0] == '+') {
      in_.erase(0, 1);
    } else if (in_[0] == '-') {
      in_.erase(0, 1);
      answer(last_);
    } else if (in_[0] == '\x03') {
      in_.erase(0, 1);
      if (runs_ && stops_when_told) answer("T02");
    } else {
      const size_t end = in_.find('#');
      if (in_[0] != '$' || end == std::string::npos || in_.size() < end + 3) break;
      const std::string payload = in_.substr(1, end - 1);
      in_.erase(0, end + 3);
      take_packet(payload);
    }
  }
  return {};
}

void FakeStub::take_packet(const std::string& payload) {
  if (packets_until_lost >= 0 && packets_until_lost-- == 0) {
    lost_ = true;
    return;
  }
  if (naks > 0) {
    --naks;
    out_ += "-";
    return;
  }
  if (acknowledges) out_ += "+";
  asked.push_back(payload);
  runs_ = false;
  if (on_packet)
    if (const std::optional<std::string> own = on_packet(payload)) return answer(*own);
  if (payload == "c") {
    const std::optional<std::string> stop =
        on_continue ? on_continue(*this) : std::optional<std::string>("T05");
    if (stop) return answer(*stop);
    runs_ = true;
    return;
  }
  answer(answer_of(payload));
}

void FakeStub::answer(const std::string& payload) {
  last_ = payload;
  std::string packet = framed(payload);
  if (damaged > 0) {
    --damaged;
    packet.back() = packet.back() == '0' ? '1' : '0';
  }
  out_ += before_answers + packet;
}

Result<std::string> FakeStub::receive(std::chrono::milliseconds wait) {
  if (lost_ && out_.empty()) return Diagnostics(name(), "the connection is lost: the test says so");
  if (!endless.empty()) return endless;
  if (out_.empty()) std::this_thread::sleep_for(std::min(wait, std::chrono::milliseconds(1)));
  std::string bytes = out_.substr(0, byte_by_byte ? 1 : out_.size());
  out_.erase(0, bytes.size());
  return bytes;
}

std::string FakeStub::answer_of(const std::string& payload) {
  const std::string rest = payload.substr(1);
  if (payload.starts_with("qSupported")) return features;
  if (payload == "QStartNoAckMode") {
    acknowledges = false;
    return "OK";
  }
  if (payload == "?") return "S05";
  if (payload == "D") return "OK";
  if (payload == "g") {
    std::string all;
    for (const uint32_t value : registers) all += word_hex(value);
    return all + "xxxxxxxx";
  }
  if (payload[0] == 'G') {
    for (size_t i = 0; i < 16; ++i) registers[i] = hex_word(rest.substr(i * 8, 8));
    return "OK";
  }
  if (payload[0] == 'P' && has_p) {
    const uint64_t number = hex_number(rest);
    const uint32_t value = hex_word(rest.substr(rest.find('=') + 1));
    if (number == 25) status = value;
    if (number < 16) registers[number] = value;
    return number < 16 || number == 25 ? "OK" : "E01";
  }
  if (payload[0] == 'm') return read_memory(rest);
  const size_t colon = payload.find(':');
  if (payload[0] == 'M')
    return write_memory(hex_number(rest), as_text(*bytes_of_hex(payload.substr(colon + 1))), false);
  if (payload[0] == 'X' && has_x)
    return write_memory(hex_number(rest), unescaped(payload.substr(colon + 1)), false);
  if (payload.starts_with("qXfer:")) return transfer(payload.substr(6));
  if (payload.starts_with("vFlash")) return flash_packet(payload);
  if (payload[0] == 'Z' || payload[0] == 'z') {
    if (breakpoint_kinds.find(payload[1]) == std::string::npos) return "";
    const std::string key = rest.substr(0, rest.rfind(','));
    if (payload[0] == 'Z')
      breakpoints.insert(key);
    else
      breakpoints.erase(key);
    return "OK";
  }
  if (payload.starts_with("qRcmd,")) return "OK";
  return "";
}

FakeStub::Memory* FakeStub::memory_at(uint64_t address) {
  for (Memory& memory : memories)
    if (address >= memory.base && address - memory.base < memory.bytes.size()) return &memory;
  return nullptr;
}

std::string FakeStub::read_memory(const std::string& arguments) {
  const auto [address, length] = two_numbers(arguments);
  const Memory* memory = memory_at(address);
  if (memory == nullptr || address - memory->base + length > memory->bytes.size()) return "E01";
  const auto begin = memory->bytes.begin() + static_cast<std::ptrdiff_t>(address - memory->base);
  return hex_of(std::vector<uint8_t>(begin, begin + static_cast<std::ptrdiff_t>(length)));
}

std::string FakeStub::write_memory(uint64_t address, const std::string& bytes, bool as_flash) {
  if (bytes.empty()) return "OK";
  Memory* memory = memory_at(address);
  if (memory == nullptr || address - memory->base + bytes.size() > memory->bytes.size())
    return "E01";
  if (memory->is_fixed || (memory->block != 0 && !as_flash)) return "OK";  // and is lost
  for (size_t i = 0; i < bytes.size(); ++i) {
    uint8_t& byte = memory->bytes[address - memory->base + i];
    // Flash only loses bits until it is erased.
    byte = static_cast<uint8_t>(as_flash ? byte & static_cast<uint8_t>(bytes[i]) : bytes[i]);
  }
  return "OK";
}

std::string FakeStub::flash_packet(const std::string& payload) {
  const size_t colon = payload.find(':');
  const std::string arguments = colon == std::string::npos ? "" : payload.substr(colon + 1);
  if (payload.starts_with("vFlashErase:")) {
    const auto [address, length] = two_numbers(arguments);
    Memory* memory = memory_at(address);
    if (memory == nullptr || memory->block == 0 || address % memory->block != 0 ||
        length % memory->block != 0 || address - memory->base + length > memory->bytes.size())
      return "E02";
    for (uint64_t i = 0; i < length; ++i) memory->bytes[address - memory->base + i] = 0xFF;
    return "OK";
  }
  if (payload.starts_with("vFlashWrite:")) {
    flash_writes_[hex_number(arguments)] = unescaped(arguments.substr(arguments.find(':') + 1));
    return "OK";
  }
  if (payload != "vFlashDone") return "";
  for (const auto& [address, bytes] : flash_writes_)
    if (write_memory(address, bytes, true) != "OK") return "E.memtype";
  flash_writes_.clear();
  return "OK";
}

std::string FakeStub::transfer(const std::string& arguments) const {
  // OBJECT:read:ANNEX:OFFSET,LENGTH
  const size_t object_end = arguments.find(':'), annex = arguments.find(':', object_end + 1) + 1,
               annex_end = arguments.find(':', annex);
  const auto found = files.find(arguments.substr(0, object_end) + ":" +
                                arguments.substr(annex, annex_end - annex));
  if (found == files.end()) return "E00";
  const auto [offset, length] = two_numbers(arguments.substr(annex_end + 1));
  if (offset >= found->second.size()) return "l";
  const std::string part = found->second.substr(offset, length);
  const bool is_last = offset + part.size() == found->second.size();
  return (is_last ? "l" : "m") +
         escaped(std::span(reinterpret_cast<const uint8_t*>(part.data()), part.size()));
}

uint32_t FakeStub::word(uint64_t address) {
  return hex_word(read_memory(fmt::format("{:x},4", address)));
}

void FakeStub::set_word(uint64_t address, uint32_t value) {
  Memory* memory = memory_at(address);
  for (size_t i = 0; i < 4; ++i)
    memory->bytes[address - memory->base + i] = static_cast<uint8_t>(value >> (8 * i));
}

bool FakeStub::was_asked(const std::string& prefix) const {
  for (const std::string& packet : asked)
    if (packet.starts_with(prefix)) return true;
  return false;
}

}  // namespace intarsia::debug_probe
