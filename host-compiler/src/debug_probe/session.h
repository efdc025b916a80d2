// A program's run on a board that a debug probe holds: from its load to its exit.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "board/board_firmware.h"
#include "debug_probe/call_server.h"
#include "debug_probe/fault_state.h"

namespace intarsia::debug_probe {

struct SessionRequest {
  std::vector<std::string> reset;  // board::Probe's
  board::ElfImage image;
  int64_t clock_mhz = 0;                    // of the core; 0: not known
  std::chrono::milliseconds time_limit{0};  // of the run, without the load; 0: none
  Limits limits;
  std::function<void(const char*)> on_progress = {};
};

enum class Ending : uint8_t {
  Exited,
  Faulted,
  TimedOut,
  Stopped,  // nobody knows why
};

struct SessionResult {
  Ending ending = Ending::Exited;
  int32_t exit_status = 0;          // of a program that has exited
  std::optional<FaultState> state;  // of one that has not
  int signal = 0;                   // of Stopped
  std::string console;
  std::vector<uint64_t> cycles;  // of each run of the model; empty: not counted
  std::string cycles_note;       // why not
};

// `files` gets what the program writes.
Result<SessionResult> run_session(Link& link, const SessionRequest& request, HostFiles& files);

}  // namespace intarsia::debug_probe
