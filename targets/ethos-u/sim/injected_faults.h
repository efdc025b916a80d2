// Faults that a simulated device has on purpose, so that a program's handling of them can be tried.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace intarsia::simulators::ethos_u {

enum class InjectedFault : uint8_t {
  Bus,      // an access to memory is refused
  Command,  // a command is not understood
  Weights,  // weights cannot be decoded
  Power,    // the device loses its registers while it works
  Stuck,    // it is started and does not begin
};

// By the number of the run of a device, from 0.
using InjectedFaults = std::map<uint32_t, InjectedFault>;

// From "power@1,bus@3"; `problem` is one sentence, or empty.
InjectedFaults parse_injected_faults(std::string_view text, std::string& problem);

}  // namespace intarsia::simulators::ethos_u
