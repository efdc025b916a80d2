#include "emulated_probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
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

constexpr int kLookMs = 20;  // how long one look at a socket waits

// Looked up rather than tried: a connection would be taken for the debugger's.
bool is_listened_at(int port) {
  const std::string place = fmt::format(":{:04X} 00000000:0000 0A", port);
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);)
    if (line.find(place) != std::string::npos) return true;
  return false;
}

sockaddr_in on_this_machine(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

bool is_readable(int socket) {
  pollfd watched{socket, POLLIN, 0};
  return poll(&watched, 1, kLookMs) > 0;
}

}  // namespace

int free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = on_this_machine(0);
  socklen_t size = sizeof address;
  if (bind(probe, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    address.sin_port = 0;
  close(probe);
  return ntohs(address.sin_port);
}

CountingProxy::CountingProxy(int probe_port, uint32_t step)
    : probe_port_(probe_port),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      step_(step) {
  sockaddr_in address = on_this_machine(0);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
      listen(listener_, 1) == 0)
    port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

CountingProxy::~CountingProxy() {
  ends_ = true;
  thread_.join();
  close(listener_);
}

void CountingProxy::serve() {
  while (!ends_) {
    if (!is_readable(listener_)) continue;
    const int client = accept(listener_, nullptr, nullptr);
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = on_this_machine(probe_port_);
    const int on = 1;
    for (const int end : {client, probe}) setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      carry(client, probe);
    close(probe);
    close(client);
  }
}

void CountingProxy::carry(int client, int probe) {
  char bytes[8192];
  while (!ends_) {
    pollfd watched[] = {{client, POLLIN, 0}, {probe, POLLIN, 0}};
    poll(watched, 2, kLookMs);
    if (watched[0].revents != 0) {
      const ssize_t got = recv(client, bytes, sizeof bytes, 0);
      if (got <= 0) return;
      std::string answer;
      const std::string rest =
          without_counter(std::string(bytes, static_cast<size_t>(got)), answer);
      send(probe, rest.data(), rest.size(), MSG_NOSIGNAL);
      send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
    if (watched[1].revents != 0) {
      const ssize_t got = recv(probe, bytes, sizeof bytes, 0);
      if (got <= 0) return;
      send(client, bytes, static_cast<size_t>(got), MSG_NOSIGNAL);
    }
  }
}

// The program sends a request at a time, and each in one piece.
std::string CountingProxy::without_counter(std::string request, std::string& answer) {
  const std::string asks = "$me0001004,4#";
  const size_t at = request.find(asks);
  if (at == std::string::npos) return request;
  request.erase(at, asks.size() + 2);
  count_ += step_;
  std::string hex;
  for (int byte = 0; byte < 4; ++byte) hex += fmt::format("{:02x}", count_ >> (8 * byte) & 255);
  unsigned sum = 0;
  for (const char c : hex) sum += static_cast<unsigned char>(c);
  answer = fmt::format("+${}#{:02x}", hex, sum & 255);
  return request;
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
