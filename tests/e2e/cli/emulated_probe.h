// A debug probe for tests: QEMU's own stub of the GDB remote serial protocol. The machine stands before its first
// instruction and has no program; what is loaded comes over the protocol.
#pragma once

#include <sys/types.h>

#include <string>

namespace intarsia::test {

class EmulatedProbe {
 public:
  explicit EmulatedProbe(const std::string& machine);
  ~EmulatedProbe() { end(); }
  EmulatedProbe(const EmulatedProbe&) = delete;
  EmulatedProbe& operator=(const EmulatedProbe&) = delete;

  bool listens() const { return listens_; }
  int port() const { return port_; }
  // As when its power is lost.
  void end();

 private:
  int port_;
  pid_t process_ = -1;
  bool listens_ = false;
};

// That nobody listens at.
int free_port();

}  // namespace intarsia::test
