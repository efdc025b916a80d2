// Why a run stopped, or why bytes cannot be read as a network.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace intarsia::simulators::ethos_n {

enum class Cause {
  Container,  // no ENCN, or a damaged one
  Stream,     // no ENCS, an unknown agent or command
  Operand,    // registers that make no operation together, or one this model has no arithmetic for
  Bus,        // an access outside of a buffer or of SRAM
  Weights,    // a broken weight stream
  Deadlock,   // every queue waits
};

struct Fault {
  Cause cause = Cause::Stream;
  std::string where;  // "command 4 of queue Mce, StartMceStripe"; may be empty
  std::string what;   // one sentence, lower case

  std::string to_string() const { return where.empty() ? what : where + ": " + what; }
};

inline Fault bad_operand(std::string what) {
  return {Cause::Operand, "", std::move(what)};
}

}  // namespace intarsia::simulators::ethos_n
