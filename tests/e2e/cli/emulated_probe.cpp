#include "emulated_probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

namespace intarsia::test {
namespace {

// Looked up rather than tried: a connection would be taken for the debugger's.
bool is_listened_at(int port) {
  const std::string place = fmt::format(":{:04X} 00000000:0000 0A", port);
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);)
    if (line.find(place) != std::string::npos) return true;
  return false;
}

}  // namespace

int free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(probe, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    address.sin_port = 0;
  close(probe);
  return ntohs(address.sin_port);
}

EmulatedProbe::EmulatedProbe(const std::string& machine) : port_(free_port()) {
  const std::string place = fmt::format("tcp:127.0.0.1:{}", port_);
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = open("/dev/null", O_RDWR);
    for (const int standard : {0, 1, 2}) dup2(nothing, standard);
    execlp("qemu-system-arm", "qemu-system-arm", "-M", machine.c_str(), "-nographic", "-monitor",
           "none", "-serial", "null", "-S", "-gdb", place.c_str(), nullptr);
    _exit(127);
  }
  for (int i = 0; i < 3000 && !listens_; ++i) {
    listens_ = is_listened_at(port_);
    if (!listens_) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void EmulatedProbe::end() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

}  // namespace intarsia::test
