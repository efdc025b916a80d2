// A stub of the GDB remote serial protocol within the test: it has memories, registers and breakpoints, may misbehave in
// many ways, and notes what it was asked.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "debug_probe/link.h"

namespace intarsia::debug_probe {

class FakeStub : public Link {
 public:
  struct Memory {
    uint64_t base = 0;
    std::vector<uint8_t> bytes;
    uint64_t block = 0;     // of flash; 0: RAM
    bool is_fixed = false;  // what is written is lost
  };

  FakeStub();

  std::string name() const override { return "the fake probe"; }
  Result<void> send(std::string_view bytes) override;
  Result<std::string> receive(std::chrono::milliseconds wait) override;

  // What it can do.
  std::string features = "PacketSize=200;qXfer:memory-map:read+;qXfer:features:read+";
  bool has_x = true, has_p = true;
  std::string breakpoint_kinds = "01";
  std::vector<Memory> memories;
  std::map<std::string, std::string> files;  // of qXfer, by "object:annex"
  // What the target does when it goes on: the stop reply, or nothing for one that does not stop.
  std::function<std::optional<std::string>(FakeStub&)> on_continue;
  // Answers of the test's own, before all others.
  std::function<std::optional<std::string>(const std::string&)> on_packet;

  // What it does wrong.
  int naks = 0;     // so many packets are refused
  int damaged = 0;  // so many answers have a wrong sum
  int packets_until_lost = -1;
  bool byte_by_byte = false;
  std::string before_answers;  // sent before each
  std::string endless;         // sent again and again
  bool stops_when_told = true;

  // What became of it.
  std::vector<std::string> asked;
  uint32_t registers[16] = {};
  std::optional<uint32_t> status;
  std::set<std::string> breakpoints;  // "1,8000100"
  bool acknowledges = true;

  Memory* memory_at(uint64_t address);
  uint32_t word(uint64_t address);
  void set_word(uint64_t address, uint32_t value);
  bool was_asked(const std::string& prefix) const;

 private:
  void take_packet(const std::string& payload);
  std::string answer_of(const std::string& payload);
  std::string read_memory(const std::string& arguments);
  std::string write_memory(uint64_t address, const std::string& bytes, bool as_flash);
  std::string transfer(const std::string& arguments) const;
  std::string flash_packet(const std::string& payload);
  void answer(const std::string& payload);

  std::string in_, out_, last_;
  bool lost_ = false, runs_ = false;
  std::map<uint64_t, std::string> flash_writes_;
};

}  // namespace intarsia::debug_probe
