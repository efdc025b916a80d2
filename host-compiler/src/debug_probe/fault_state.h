// Where a core stands that has taken a fault or was stopped in the middle, and why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "board/board_firmware.h"
#include "debug_probe/client.h"

namespace intarsia::debug_probe {

struct FaultState {
  Registers registers{};           // of the code that was at work; what could not be found out is 0
  std::optional<uint32_t> status;  // the program status register of that code
  bool has_frame =
      true;  // false: the processor could not push it, so that sp and below are those of the handler
  uint32_t exception = 0;  // number of the one that is active; 0: none
  uint32_t cfsr = 0, hfsr = 0;
  std::optional<uint32_t> address;  // that could not be reached
  // Words above the stack pointer that are addresses of code, the innermost first: some of them are callers.
  std::vector<uint32_t> returns;
};
// Of a core that stands at the first instruction of its fault handler.
Result<FaultState> state_at_fault(Client& client, const board::ElfImage& image);
// Of a core that was stopped anywhere.
Result<FaultState> state_where_stopped(Client& client, const board::ElfImage& image);

// "the processor took a fault (a load or store at an address that nothing answers at, 0x...)".
std::string reason_of(const FaultState& state);
// Four registers a line, and the system registers of faults.
std::string registers_text(const FaultState& state);
// "conv_2d_s8+0x12", or the address where no function is.
std::string place_text(const board::ElfImage& image, uint32_t address);

}  // namespace intarsia::debug_probe
