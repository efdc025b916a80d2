#include "debug_probe/client.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/watched.h"

namespace intarsia::debug_probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Milliseconds kLook{50};  // how long one look at the link waits
constexpr int kMostRefusals = 5;
constexpr size_t kMostDropped = 1 << 16, kMostConsole = 1 << 20, kMostDescription = 1 << 20;
constexpr size_t kLeastPacket = 128, kMostPacket = 16'384;
constexpr size_t kMostFiles = 32;  // of one description

const char* kStubFault = "this is a fault of the probe's GDB server: a newer one may be without it";

bool is_error(const std::string& answer) {
  return answer.starts_with("E.") || (answer.size() == 3 && answer[0] == 'E');
}

bool is_console(const std::string& packet) {
  return packet.size() % 2 == 1 && packet[0] == 'O';
}

bool is_stop(const std::string& packet) {
  return (packet[0] == 'T' || packet[0] == 'S') && packet.size() >= 3 &&
         number_of_hex(std::string_view(packet).substr(1, 2));
}

uint32_t word_of(std::span<const uint8_t> bytes) {
  return bytes[0] | static_cast<uint32_t>(bytes[1]) << 8 | static_cast<uint32_t>(bytes[2]) << 16 |
         static_cast<uint32_t>(bytes[3]) << 24;
}
std::array<uint8_t, 4> bytes_of(uint32_t word) {
  return {static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8),
          static_cast<uint8_t>(word >> 16), static_cast<uint8_t>(word >> 24)};
}

// What a message shows of a packet.
std::string shown(std::string_view payload) {
  std::string text;
  for (const char c : payload.substr(0, 40)) text += c >= ' ' && c <= '~' ? c : '.';
  return payload.size() > 40 ? text + "..." : text;
}

}  // namespace

Diagnostics Client::failure(std::string what, std::string hint) const {
  return Diagnostics(link_.name(), std::move(what), std::move(hint));
}

Diagnostics Client::unexpected(const std::string& request, const std::string& answer) const {
  if (answer.empty()) return failure(fmt::format("does not know how to {}", request), kStubFault);
  return failure(fmt::format("cannot {}: it answers '{}'", request, shown(answer)));
}

// --- packets ---

Result<void> Client::send_packet(std::string_view payload) {
  while (reader_.next()) {
    // What nobody asked for is not the answer to this.
  }
  last_sent_ = framed(payload);
  refusals_ = 0;
  awaits_acknowledgement_ = acknowledges_;
  return link_.send(last_sent_);
}

Result<std::optional<std::string>> Client::take_event(const PacketReader::Event& event) {
  using Kind = PacketReader::Kind;
  switch (event.kind) {
    case Kind::Ack:
      awaits_acknowledgement_ = false;
      return std::optional<std::string>();
    case Kind::Packet:
      awaits_acknowledgement_ = false;
      if (acknowledges_) INTARSIA_TRY_VOID(link_.send("+"));
      return std::optional<std::string>(event.payload);
    case Kind::TooLong:
      return failure("sends a packet that does not end", kStubFault);
    case Kind::Nak:
      if (!awaits_acknowledgement_) return std::optional<std::string>();
      if (++refusals_ > kMostRefusals)
        return failure("refuses every packet as damaged", kStubFault);
      INTARSIA_TRY_VOID(link_.send(last_sent_));
      return std::optional<std::string>();
    case Kind::Damaged:
      if (!acknowledges_ || ++refusals_ > kMostRefusals)
        return failure("sends packets whose checksum is wrong", kStubFault);
      INTARSIA_TRY_VOID(link_.send("-"));
      return std::optional<std::string>();
  }
  return std::optional<std::string>();
}

Result<std::optional<std::string>> Client::next_packet(Clock::time_point end) {
  for (;;) {
    // The clock is looked at for every part, not only when there is none: a stub may never fall silent.
    INTARSIA_TRY_VOID(watched::goes_on());
    const Clock::time_point now = Clock::now();
    if (now >= end) return std::optional<std::string>();
    if (const std::optional<PacketReader::Event> event = reader_.next()) {
      INTARSIA_TRY(std::optional<std::string> packet, take_event(*event));
      if (packet && is_console(*packet)) {
        INTARSIA_TRY_VOID(print(std::string_view(*packet).substr(1)));
      } else if (packet) {
        return packet;
      }
      continue;
    }
    if (reader_.dropped() > kMostDropped)
      return failure("sends what is not the GDB remote serial protocol",
                     "see that 'gdb' of the board's 'run' is the port for GDB, not one for a "
                     "terminal or for traces");
    const auto left = std::chrono::duration_cast<Milliseconds>(end - now) + Milliseconds(1);
    INTARSIA_TRY(const std::string bytes, link_.receive(std::min(kLook, left)));
    reader_.feed(bytes);
  }
}

Result<void> Client::print(std::string_view hex) {
  const std::optional<std::vector<uint8_t>> bytes = bytes_of_hex(hex);
  if (bytes) console_.append(bytes->begin(), bytes->end());
  if (console_.size() > kMostConsole) return failure("prints without end", kStubFault);
  return {};
}

Result<std::string> Client::ask(std::string_view payload, Milliseconds limit, bool for_stop) {
  INTARSIA_TRY_VOID(send_packet(payload));
  const Clock::time_point end = Clock::now() + limit;
  std::optional<std::string> answer;
  do {
    // A target that runs is stopped by our coming, and some stubs report that though nobody has asked.
    INTARSIA_TRY(answer, next_packet(end));
  } while (answer && !for_stop && is_stop(*answer));
  if (answer) return *std::move(answer);
  return failure(fmt::format("has not answered '{}' for {} s", shown(payload),
                             std::chrono::duration<double>(limit).count()),
                 "see what the probe's GDB server says, and whether the board still has power");
}

Result<void> Client::ask_for_ok(std::string_view payload, const std::string& what,
                                Milliseconds limit) {
  INTARSIA_TRY(const std::string answer, ask(payload, limit));
  if (answer == "OK") return {};
  return unexpected(what, answer);
}

// --- what the stub is ---

Result<void> Client::take_features(const std::string& features) {
  std::string_view rest = features;
  bool can_leave_acknowledging = false;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view feature = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (feature.starts_with("PacketSize=")) {
      const std::optional<uint64_t> size = number_of_hex(feature.substr(11));
      if (!size || *size < kLeastPacket)
        return failure(
            fmt::format("takes packets of '{}' bytes, which is too few", feature.substr(11)),
            kStubFault);
      packet_bytes_ = static_cast<size_t>(std::min<uint64_t>(*size, kMostPacket));
    }
    has_memory_map_ = has_memory_map_ || feature == "qXfer:memory-map:read+";
    has_registers_ = has_registers_ || feature == "qXfer:features:read+";
    can_leave_acknowledging = can_leave_acknowledging || feature == "QStartNoAckMode+";
  }
  if (!can_leave_acknowledging) return {};
  INTARSIA_TRY(const std::string answer, ask("QStartNoAckMode"));
  acknowledges_ = answer != "OK";
  return {};
}

Result<void> Client::start() {
  // Takes the place of an acknowledgement that an earlier debugger may have left out.
  INTARSIA_TRY_VOID(link_.send("+"));
  INTARSIA_TRY(const std::string features, ask("qSupported:xmlRegisters=arm;swbreak+;hwbreak+"));
  if (is_error(features)) return unexpected("say what it supports", features);
  return take_features(features);
}

Result<std::optional<std::string>> Client::transfer(const std::string& object,
                                                    const std::string& annex) {
  std::string text;
  for (;;) {
    INTARSIA_TRY(const std::string answer,
                 ask(fmt::format("qXfer:{}:read:{}:{:x},{:x}", object, annex, text.size(),
                                 packet_bytes_ - 16)));
    const bool is_last = answer.starts_with("l");
    if (!is_last && !answer.starts_with("m")) return std::optional<std::string>();
    text += unescaped(std::string_view(answer).substr(1));
    if (is_last) return std::optional<std::string>(std::move(text));
    if (answer.size() == 1 || text.size() > kMostDescription)
      return failure(fmt::format("describes its {} without end", object), kStubFault);
  }
}

Result<void> Client::describe() {
  INTARSIA_TRY(const std::string state, ask("?", limits_.answer, true));
  if (!state.starts_with('S') && !state.starts_with('T'))
    return failure(fmt::format("holds no target: it answers '{}'", shown(state)),
                   "some probes have to be told to, by 'reset' of the board's 'run'; "
                   "docs/running.md has their "
                   "commands");
  if (has_memory_map_) {
    INTARSIA_TRY(const std::optional<std::string> xml, transfer("memory-map", ""));
    if (xml) {
      INTARSIA_TRY(memories_, parse_memory_map(*xml, link_.name()));
    }
  }
  if (!has_registers_) return {};
  std::vector<std::string> files = {"target.xml"};
  int next = 0;
  for (size_t i = 0; i < files.size() && i < kMostFiles; ++i) {
    INTARSIA_TRY(const std::optional<std::string> xml, transfer("features", files[i]));
    if (!xml) continue;
    RegisterNumbers registers = parse_registers(*xml, next);
    register_numbers_.merge(registers.numbers);
    files.insert(files.end(), registers.included.begin(), registers.included.end());
  }
  return {};
}

Result<void> Client::command(const std::string& text) {
  const bool is_packet = text.starts_with("$");
  const std::string payload =
      is_packet ? text.substr(1) : fmt::format("qRcmd,{}", hex_of(std::string_view(text)));
  const size_t printed = console_.size();
  INTARSIA_TRY(const std::string answer, ask(payload, limits_.slow_answer, is_packet));
  if (answer.empty() || is_error(answer)) {
    std::string said = console_.substr(printed);
    while (!said.empty() && said.back() == '\n') said.pop_back();
    return failure(
        fmt::format("refuses the command '{}' of the board's 'reset'{}{}{}", text,
                    answer.empty() ? "" : fmt::format(": it answers '{}'", shown(answer)),
                    said.empty() ? "" : "\n", said),
        "docs/running.md has the commands of some probes");
  }
  // Some servers print by the answer itself.
  if (const auto bytes = bytes_of_hex(answer); !is_packet && bytes)
    console_.append(bytes->begin(), bytes->end());
  return {};
}

// --- memory ---

Result<std::vector<uint8_t>> Client::read(uint64_t address, uint64_t bytes) {
  std::vector<uint8_t> all;
  while (all.size() < bytes) {
    const uint64_t at = address + all.size();
    const uint64_t count = std::min<uint64_t>(bytes - all.size(), (packet_bytes_ - 8) / 2);
    INTARSIA_TRY(const std::string answer, ask(fmt::format("m{:x},{:x}", at, count)));
    const std::optional<std::vector<uint8_t>> part = bytes_of_hex(answer);
    if (is_error(answer) || !part || part->empty() || part->size() > count)
      return unexpected(fmt::format("read {} bytes at {:#010x}", count, at), answer);
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

Result<void> Client::write(uint64_t address, std::span<const uint8_t> bytes) {
  if (!takes_binary_ && bytes.size() > 4) {
    INTARSIA_TRY(const std::string answer, ask(fmt::format("X{:x},0:", address)));
    takes_binary_ = answer == "OK";
  }
  // A register is one access of 32 bits, whichever way the probe has of writing many bytes.
  const bool binary = takes_binary_.value_or(false) && bytes.size() > 4;
  // Every byte may need an escape.
  const size_t most = (packet_bytes_ - 32) / 2;
  while (!bytes.empty()) {
    const std::span<const uint8_t> part = bytes.first(std::min(most, bytes.size()));
    const std::string head = fmt::format("{}{:x},{:x}:", binary ? 'X' : 'M', address, part.size());
    INTARSIA_TRY_VOID(ask_for_ok(head + (binary ? escaped(part) : hex_of(part)),
                                 fmt::format("write {} bytes at {:#010x}", part.size(), address),
                                 limits_.answer));
    address += part.size();
    bytes = bytes.subspan(part.size());
  }
  return {};
}

Result<uint32_t> Client::read_word(uint32_t address) {
  INTARSIA_TRY(const std::vector<uint8_t> bytes, read(address, 4));
  return word_of(bytes);
}

Result<void> Client::write_word(uint32_t address, uint32_t value) {
  return write(address, bytes_of(value));
}

Result<void> Client::erase_flash(uint64_t address, uint64_t bytes) {
  return ask_for_ok(fmt::format("vFlashErase:{:x},{:x}", address, bytes),
                    fmt::format("erase {} bytes of flash at {:#010x}", bytes, address),
                    limits_.slow_answer);
}

Result<void> Client::write_flash(uint64_t address, std::span<const uint8_t> bytes) {
  const size_t most = (packet_bytes_ - 32) / 2;
  while (!bytes.empty()) {
    const std::span<const uint8_t> part = bytes.first(std::min(most, bytes.size()));
    INTARSIA_TRY_VOID(
        ask_for_ok(fmt::format("vFlashWrite:{:x}:", address) + escaped(part),
                   fmt::format("write {} bytes of flash at {:#010x}", part.size(), address),
                   limits_.slow_answer));
    address += part.size();
    bytes = bytes.subspan(part.size());
  }
  return {};
}

Result<void> Client::finish_flash() {
  return ask_for_ok("vFlashDone", "write its flash", limits_.slow_answer);
}

// --- registers ---

Result<Registers> Client::registers() {
  INTARSIA_TRY(const std::string answer, ask("g"));
  Registers registers{};
  const std::optional<std::vector<uint8_t>> bytes =
      bytes_of_hex(std::string_view(answer).substr(0, registers.size() * 8));
  if (is_error(answer) || !bytes || bytes->size() < registers.size() * 4)
    return unexpected("read the core's registers", answer);
  for (size_t i = 0; i < registers.size(); ++i)
    registers[i] = word_of(std::span(*bytes).subspan(i * 4, 4));
  return registers;
}

Result<void> Client::write_all_registers(size_t number, uint32_t value) {
  INTARSIA_TRY(std::string all, ask("g"));
  if (is_error(all) || all.size() < (number + 1) * 8)
    return unexpected("read the core's registers", all);
  all.replace(number * 8, 8, hex_of(bytes_of(value)));
  return ask_for_ok("G" + all, "write the core's registers", limits_.answer);
}

Result<void> Client::set_register(size_t number, uint32_t value) {
  INTARSIA_TRY(const std::string answer,
               ask(fmt::format("P{:x}={}", number, hex_of(bytes_of(value)))));
  if (answer == "OK") return {};
  if (answer.empty() && number < Registers().size()) return write_all_registers(number, value);
  return unexpected(fmt::format("write register {}", number), answer);
}

Result<void> Client::set_status_register(uint32_t value) {
  const auto found = register_numbers_.find("xpsr");
  if (found == register_numbers_.end()) return {};
  return set_register(static_cast<size_t>(found->second), value);
}

// --- the target ---

Result<bool> Client::try_breakpoint(char kind, uint32_t address) {
  INTARSIA_TRY(const std::string answer, ask(fmt::format("Z{},{:x},2", kind, address)));
  if (answer != "OK") return false;
  breakpoints_.push_back({kind, address});
  return true;
}

Result<void> Client::add_breakpoint(uint32_t address) {
  // A comparator of the core, which flash needs; where a core has none for RAM, an instruction that stops it.
  const bool in_ram =
      std::any_of(memories_.begin(), memories_.end(),
                  [&](const StubMemory& memory) { return memory.is_ram && memory.holds(address); });
  for (const char kind : {in_ram ? '0' : '1', in_ram ? '1' : '0'}) {
    INTARSIA_TRY(const bool is_set, try_breakpoint(kind, address));
    if (is_set) return {};
  }
  return failure(
      fmt::format("takes neither a hardware nor a software breakpoint at {:#010x}", address),
      "end other debuggers of the board: a core has few comparators");
}

void Client::remove_breakpoints() {
  for (const Breakpoint& breakpoint : breakpoints_) {
    const Result<std::string> answer =
        ask(fmt::format("z{},{:x},2", breakpoint.kind, breakpoint.address));
    if (!answer.ok()) break;
  }
  breakpoints_.clear();
}

Result<Stop> Client::take_stop(const std::string& answer) const {
  Stop stop;
  switch (answer.empty() ? '\0' : answer[0]) {
    case 'S':
    case 'T':
      if (const auto signal = number_of_hex(std::string_view(answer).substr(1, 2))) {
        stop.signal = static_cast<int>(*signal);
        return stop;
      }
      break;
    case 'W':
    case 'X':
      return failure("says that the program has ended",
                     "the program never does: see what the probe's GDB server says");
    case 'F':
      return failure("asks for files of the debugger",
                     "switch semihosting off in the probe's GDB server: this board needs none");
    default:
      break;
  }
  return unexpected("let the program run", answer);
}

Result<Stop> Client::resume(std::optional<Clock::time_point> end) {
  INTARSIA_TRY_VOID(send_packet("c"));
  for (;;) {
    const Clock::time_point soon = Clock::now() + Milliseconds(1000);
    INTARSIA_TRY(const std::optional<std::string> answer,
                 next_packet(end ? std::min(*end, soon) : soon));
    if (answer) return take_stop(*answer);
    if (end && Clock::now() >= *end) break;
  }
  INTARSIA_TRY_VOID(link_.send("\x03"));
  INTARSIA_TRY(const std::optional<std::string> answer, next_packet(Clock::now() + limits_.answer));
  if (!answer)
    return failure("the time limit is over, and the target does not stop when it is told to",
                   "the core may be locked up or asleep: reset the board");
  INTARSIA_TRY(Stop stop, take_stop(*answer));
  stop.interrupted = true;
  return stop;
}

void Client::detach() {
  const Result<std::string> ignored = ask("D");
  (void)ignored;
}

}  // namespace intarsia::debug_probe
