// A debug probe for tests: QEMU's own stub of the GDB remote serial protocol. The machine stands before its first
// instruction and has no program; what is loaded comes over the protocol.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

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

// Stands between the program and an emulated probe, and lets the counter of cycles count, which QEMU has not: every time
// it is read it has `step` more.
class CountingProxy {
 public:
  CountingProxy(int probe_port, uint32_t step);
  ~CountingProxy();
  CountingProxy(const CountingProxy&) = delete;
  CountingProxy& operator=(const CountingProxy&) = delete;

  int port() const { return port_; }

 private:
  void serve();
  void carry(int client, int probe);
  std::string without_counter(std::string request, std::string& answer);

  int probe_port_, port_ = 0, listener_ = -1;
  uint32_t step_, count_ = 0;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

// That nobody listens at.
int free_port();

}  // namespace intarsia::test
