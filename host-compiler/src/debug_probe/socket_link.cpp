#include "debug_probe/socket_link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace intarsia::debug_probe {
namespace {

using std::chrono::milliseconds;

// A server that takes nothing for this long is gone.
constexpr milliseconds kSendLimit{10'000};

constexpr const char* kStartIt =
    "start the probe's GDB server (OpenOCD, pyOCD, J-Link ...), or say where it is in 'gdb' of the "
    "board's 'run'";

bool becomes_ready(int socket, short events, milliseconds wait) {
  pollfd watched{socket, events, 0};
  return poll(&watched, 1, static_cast<int>(wait.count())) > 0;
}

class SocketLink : public Link {
 public:
  SocketLink(int socket, std::string name) : socket_(socket), name_(std::move(name)) {}
  ~SocketLink() override { close(socket_); }
  SocketLink(const SocketLink&) = delete;
  SocketLink& operator=(const SocketLink&) = delete;

  std::string name() const override { return name_; }

  Result<void> send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        bytes.remove_prefix(static_cast<size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (!becomes_ready(socket_, POLLOUT, kSendLimit))
          return Diagnostics(name_, "does not take what it is sent");
      } else if (errno != EINTR) {
        return lost(strerror(errno));
      }
    }
    return {};
  }

  Result<std::string> receive(milliseconds wait) override {
    std::array<char, 16384> buffer;
    if (!becomes_ready(socket_, POLLIN, wait)) return std::string();
    const ssize_t got = recv(socket_, buffer.data(), buffer.size(), 0);
    if (got > 0) return std::string(buffer.data(), static_cast<size_t>(got));
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
      return std::string();
    return lost(got == 0 ? "it was closed at the other end" : strerror(errno));
  }

 private:
  Diagnostics lost(const std::string& why) const {
    return Diagnostics(
        name_, fmt::format("the connection is lost: {}", why),
        "see what the probe's GDB server says, and whether the board still has power");
  }

  int socket_;
  std::string name_;
};

// 0, or an errno.
int try_to_connect(int socket, const addrinfo& address, milliseconds limit) {
  if (connect(socket, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!becomes_ready(socket, POLLOUT, limit)) return ETIMEDOUT;
  int problem = 0;
  socklen_t size = sizeof problem;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &problem, &size) == 0 ? problem : errno;
}

}  // namespace

Result<std::unique_ptr<Link>> connect_to(const board::Probe& probe, milliseconds limit) {
  const std::string name = fmt::format("the debug probe at {}:{}", probe.host, probe.port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* addresses = nullptr;
  const std::string port = fmt::format("{}", probe.port);
  if (const int problem = getaddrinfo(probe.host.c_str(), port.c_str(), &hints, &addresses))
    return Diagnostics(name, fmt::format("its machine is not known: {}", gai_strerror(problem)),
                       kStartIt);
  int problem = ENOENT;
  for (const addrinfo* at = addresses; at != nullptr; at = at->ai_next) {
    const int socket =
        ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
    if (socket < 0) continue;
    problem = try_to_connect(socket, *at, limit);
    if (problem != 0) {
      close(socket);
      continue;
    }
    freeaddrinfo(addresses);
    const int on = 1;  // packets are small, and each waits for its answer
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return std::unique_ptr<Link>(std::make_unique<SocketLink>(socket, name));
  }
  freeaddrinfo(addresses);
  return Diagnostics(name, fmt::format("nobody answers there: {}", strerror(problem)), kStartIt);
}

}  // namespace intarsia::debug_probe
