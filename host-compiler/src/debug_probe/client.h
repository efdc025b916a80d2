// The GDB remote serial protocol from the debugger's side: requests, their answers, and what a stub may do wrong.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "debug_probe/link.h"
#include "debug_probe/packet.h"
#include "debug_probe/stub_description.h"

namespace intarsia::debug_probe {

using Milliseconds = std::chrono::milliseconds;

// How long an answer may take. Flash is slow, and so is a reset that waits for a chip to come up.
struct Limits {
  Milliseconds answer{5'000};
  Milliseconds slow_answer{60'000};
};

// r0 to r12, sp, lr and pc of the core that is debugged.
using Registers = std::array<uint32_t, 16>;
inline constexpr size_t kSp = 13, kLr = 14, kPc = 15;

// Why the target stopped.
struct Stop {
  int signal = 0;
  bool interrupted = false;  // by us: its time was over
};

class Client {
 public:
  Client(Link& link, Limits limits) : link_(link), limits_(limits) {}

  // Finds out what the stub can do. Before everything else.
  Result<void> start();
  // Finds out what the target is. It is stopped then; some probes have to be told to take hold of it first.
  Result<void> describe();
  std::string name() const { return link_.name(); }
  // Empty where the stub does not tell.
  const std::vector<StubMemory>& memories() const { return memories_; }

  // A command of the probe's own ("reset halt"); with '$' before it a packet of the protocol.
  Result<void> command(const std::string& text);

  Result<std::vector<uint8_t>> read(uint64_t address, uint64_t bytes);
  Result<void> write(uint64_t address, std::span<const uint8_t> bytes);
  Result<uint32_t> read_word(uint32_t address);
  Result<void> write_word(uint32_t address, uint32_t value);

  Result<void> erase_flash(uint64_t address, uint64_t bytes);
  Result<void> write_flash(uint64_t address, std::span<const uint8_t> bytes);
  Result<void> finish_flash();

  Result<Registers> registers();
  Result<void> set_register(size_t number, uint32_t value);
  // The program status register, of a stub that says which number it has; otherwise it stays as the reset left it.
  Result<void> set_status_register(uint32_t value);

  Result<void> add_breakpoint(uint32_t address);
  // Those that were added. A stub that is gone is no problem any more.
  void remove_breakpoints();

  // Lets the target go on until it stops; at `end`, if there is one, it is stopped.
  Result<Stop> resume(std::optional<std::chrono::steady_clock::time_point> end);
  // Ends the connection in the way of the protocol: the target goes on.
  void detach();

  // What the stub printed meanwhile.
  const std::string& console() const { return console_; }

 private:
  struct Breakpoint {
    char kind;
    uint32_t address;
  };

  Diagnostics failure(std::string what, std::string hint = {}) const;
  Diagnostics unexpected(const std::string& request, const std::string& answer) const;
  Result<void> send_packet(std::string_view payload);
  // Nothing when the time is over.
  Result<std::optional<std::string>> next_packet(std::chrono::steady_clock::time_point end);
  Result<std::optional<std::string>> take_event(const PacketReader::Event& event);
  // The answer; of a request that asks where the target stopped, a report of that.
  Result<std::string> ask(std::string_view payload, Milliseconds limit, bool for_stop = false);
  Result<std::string> ask(std::string_view payload) { return ask(payload, limits_.answer); }
  Result<void> ask_for_ok(std::string_view payload, const std::string& what, Milliseconds limit);
  Result<void> print(std::string_view hex);
  Result<std::optional<std::string>> transfer(const std::string& object, const std::string& annex);
  Result<void> take_features(const std::string& features);
  Result<void> write_all_registers(size_t number, uint32_t value);
  Result<bool> try_breakpoint(char kind, uint32_t address);
  Result<Stop> take_stop(const std::string& answer) const;

  Link& link_;
  Limits limits_;
  PacketReader reader_;
  std::string last_sent_;
  bool acknowledges_ = true;
  bool awaits_acknowledgement_ = false;
  int refusals_ = 0;  // of the packet that was sent last, or answers that were damaged
  size_t packet_bytes_ = 400;
  bool has_memory_map_ = false, has_registers_ = false;
  std::optional<bool> takes_binary_;  // whether memory is written by X
  std::vector<StubMemory> memories_;
  std::map<std::string, int, std::less<>> register_numbers_;
  std::vector<Breakpoint> breakpoints_;
  std::string console_;
};

}  // namespace intarsia::debug_probe
