// What the firmware of a probe's board asks of the host where it waits: files, a console and an exit. The calls are
// numbered as those of Arm semihosting are, and their arguments lie in the same way (boards/common/port_semihosting.c),
// but no probe has to know them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "intarsia/result.h"

namespace intarsia::debug_probe {

// The target's memory, while it waits.
class TargetMemory {
 public:
  virtual ~TargetMemory() = default;
  virtual Result<std::vector<uint8_t>> read(uint32_t address, uint32_t bytes) = 0;
  virtual Result<void> write(uint32_t address, std::span<const uint8_t> bytes) = 0;
};

// The files that a firmware may have, by the names that it knows them by, and nothing else of the host.
struct HostFiles {
  std::string command_line;
  std::map<std::string, std::string> read;     // what it may read
  std::map<std::string, std::string> written;  // what it may write; filled by it
};

class CallServer {
 public:
  CallServer(HostFiles& files, TargetMemory& memory) : files_(files), memory_(memory) {}

  // What the call returns. A failure is one of the connection, or of a target that has lost its way.
  Result<uint32_t> serve(uint32_t operation, uint32_t arguments);
  // Once the firmware has asked for it.
  std::optional<int32_t> exit_status() const { return exit_status_; }
  const std::string& console() const { return console_; }

 private:
  struct OpenFile {
    std::string name;
    bool writes = false;
    bool is_open = false;
    size_t at = 0;
  };
  using Words = std::vector<uint32_t>;

  Result<Words> words(uint32_t address, uint32_t count);
  OpenFile* file_of(uint32_t handle);
  std::string& content_of(const OpenFile& file);
  Result<uint32_t> command_line(uint32_t arguments);
  Result<uint32_t> open(uint32_t arguments);
  Result<uint32_t> close(uint32_t arguments);
  Result<uint32_t> print(uint32_t address);
  Result<uint32_t> write(uint32_t arguments);
  Result<uint32_t> read(uint32_t arguments);
  Result<uint32_t> seek(uint32_t arguments);
  Result<uint32_t> length(uint32_t arguments);
  Result<uint32_t> exit(uint32_t arguments);

  HostFiles& files_;
  TargetMemory& memory_;
  std::vector<OpenFile> open_;  // a handle is the place in it, from 1
  std::optional<int32_t> exit_status_;
  std::string console_;
};

}  // namespace intarsia::debug_probe
