#include "debug_probe/socket_link.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace intarsia::debug_probe {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// Listens on a port of this machine.
class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    EXPECT_EQ(listen(socket_, 1), 0);
    probe.host = "127.0.0.1";
    probe.port = ntohs(address.sin_port);
  }
  ~Listener() { close(socket_); }
  int accepted() const { return accept(socket_, nullptr, nullptr); }

  board::Probe probe;

 private:
  int socket_;
};

TEST(SocketLink, CarriesBytesBothWays) {
  const Listener listener;
  const auto link = connect_to(listener.probe, milliseconds(1000));
  ASSERT_TRUE(link.ok()) << link.error().to_string();
  const int other = listener.accepted();
  ASSERT_TRUE((*link)->send("$g#67").ok());
  char bytes[8] = {};
  EXPECT_EQ(recv(other, bytes, sizeof bytes, 0), 5);
  EXPECT_STREQ(bytes, "$g#67");
  EXPECT_EQ(*(*link)->receive(milliseconds(10)), "") << "nothing has arrived";
  EXPECT_EQ(send(other, "+", 1, 0), 1);
  EXPECT_EQ(*(*link)->receive(milliseconds(1000)), "+");
  close(other);
  const auto lost = (*link)->receive(milliseconds(1000));
  ASSERT_FALSE(lost.ok());
  EXPECT_THAT(lost.error().to_string(),
              HasSubstr("the connection is lost: it was closed at the other end"));
}

TEST(SocketLink, NobodyIsThere) {
  board::Probe probe;
  {
    const Listener listener;
    probe = listener.probe;
  }
  const auto link = connect_to(probe, milliseconds(1000));
  ASSERT_FALSE(link.ok());
  EXPECT_THAT(link.error().to_string(),
              HasSubstr("nobody answers there: Connection refused; start"));
  probe.host = "no-such-machine.invalid";
  const auto unknown = connect_to(probe, milliseconds(1000));
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().to_string(), HasSubstr("its machine is not known"));
}

}  // namespace
}  // namespace intarsia::debug_probe
