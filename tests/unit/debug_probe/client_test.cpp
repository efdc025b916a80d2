#include "debug_probe/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "fake_stub.h"

namespace intarsia::debug_probe {
namespace {

using testing::HasSubstr;

constexpr Limits kShort{Milliseconds(200), Milliseconds(200)};

std::chrono::steady_clock::time_point in_a_moment() {
  return std::chrono::steady_clock::now() + Milliseconds(100);
}

class ClientTest : public testing::Test {
 protected:
  ClientTest() : client(stub, kShort) {}

  void start() {
    const Result<void> started = client.start();
    ASSERT_TRUE(started.ok()) << started.error().to_string();
    const Result<void> described = client.describe();
    ASSERT_TRUE(described.ok()) << described.error().to_string();
  }
  // What a start ends with.
  std::string trouble() {
    const Result<void> started = client.start();
    if (!started.ok()) return started.error().to_string();
    const Result<void> described = client.describe();
    return described.ok() ? "" : described.error().to_string();
  }

  FakeStub stub;
  Client client;
};

TEST_F(ClientTest, ReadsAndWritesInParts) {
  start();
  ASSERT_EQ(client.memories().size(), 2u);
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 3000; ++i) bytes.push_back(static_cast<uint8_t>(i * 7));
  for (const bool binary : {true, false}) {
    stub.has_x = binary;
    Client again(stub, kShort);
    ASSERT_TRUE(again.start().ok());
    ASSERT_TRUE(again.write(0x20000010, bytes).ok());
    EXPECT_EQ(*again.read(0x20000010, bytes.size()), bytes);
    EXPECT_TRUE(again.read(0x20000010, 0)->empty());
  }
  ASSERT_TRUE(client.write_word(0x20000000, 0x12345678).ok());
  EXPECT_EQ(stub.word(0x20000000), 0x12345678u);
  EXPECT_EQ(*client.read_word(0x20000000), 0x12345678u);
  // A register of a device is written by one access.
  EXPECT_TRUE(stub.was_asked("M20000000,4:78563412"));
}

TEST_F(ClientTest, MemoryThatIsNotThere) {
  start();
  const auto read = client.read(0x40000000, 4);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().to_string(),
            "the fake probe: cannot read 4 bytes at 0x40000000: it answers 'E01'\n");
  EXPECT_THAT(client.write_word(0x40000000, 1).error().to_string(),
              HasSubstr("cannot write 4 bytes at 0x40000000"));
}

TEST_F(ClientTest, Registers) {
  for (const bool one_by_one : {true, false}) {
    stub.has_p = one_by_one;
    Client again(stub, kShort);
    ASSERT_TRUE(again.start().ok());
    stub.registers[kLr] = 0x08000101;
    ASSERT_TRUE(again.set_register(kPc, 0x08000200).ok());
    const auto registers = again.registers();
    EXPECT_EQ((*registers)[kPc], 0x08000200u);
    EXPECT_EQ((*registers)[kLr], 0x08000101u);
  }
  stub.has_p = true;
  start();
  ASSERT_TRUE(client.set_status_register(1 << 24).ok());
  EXPECT_EQ(stub.status, 1u << 24) << "by the number in the description";
}

TEST_F(ClientTest, RegistersThatAreNotThere) {
  start();
  for (const char* answer : {"E01", "", "0011", "zzzzzzzz"}) {
    stub.on_packet = [&](const std::string& packet) -> std::optional<std::string> {
      if (packet == "g") return answer;
      return std::nullopt;
    };
    EXPECT_FALSE(client.registers().ok()) << answer;
  }
}

TEST_F(ClientTest, BreakpointsOfEitherKind) {
  start();
  ASSERT_TRUE(client.add_breakpoint(0x08000100).ok());
  EXPECT_TRUE(stub.breakpoints.contains("1,8000100")) << "flash takes no instruction";
  ASSERT_TRUE(client.add_breakpoint(0x20000100).ok());
  EXPECT_TRUE(stub.breakpoints.contains("0,20000100"));
  client.remove_breakpoints();
  EXPECT_TRUE(stub.breakpoints.empty());

  stub.breakpoint_kinds = "0";
  ASSERT_TRUE(client.add_breakpoint(0x08000100).ok());
  EXPECT_TRUE(stub.breakpoints.contains("0,8000100"));
  stub.breakpoint_kinds = "1";
  ASSERT_TRUE(client.add_breakpoint(0x20000100).ok());
  EXPECT_TRUE(stub.breakpoints.contains("1,20000100"));
  stub.breakpoint_kinds = "";
  EXPECT_THAT(client.add_breakpoint(0x08000100).error().to_string(),
              HasSubstr("takes neither a hardware nor a software breakpoint at 0x08000100"));
}

TEST_F(ClientTest, WithoutAcknowledgements) {
  stub.features += ";QStartNoAckMode+";
  start();
  EXPECT_FALSE(stub.acknowledges);
  EXPECT_TRUE(client.read_word(0x20000000).ok());
  stub.damaged = 1;
  EXPECT_THAT(client.read_word(0x20000000).error().to_string(),
              HasSubstr("sends packets whose checksum is wrong"));
}

TEST_F(ClientTest, SendsAgainWhatWasRefused) {
  stub.naks = 3;
  start();
  stub.damaged = 3;
  EXPECT_TRUE(client.read_word(0x20000000).ok());
  stub.naks = 100;
  EXPECT_THAT(client.read_word(0x20000000).error().to_string(), HasSubstr("refuses every packet"));
  stub.naks = 0;
  stub.damaged = 100;
  EXPECT_THAT(client.read_word(0x20000000).error().to_string(),
              HasSubstr("sends packets whose checksum is wrong"));
}

TEST_F(ClientTest, ByteByByteAndWithGarbage) {
  stub.byte_by_byte = true;
  stub.before_answers = "Open On-Chip Debugger\r\n%Stop:T05#af$lost";
  start();
  EXPECT_TRUE(client.read(0x20000000, 500).ok());
}

TEST_F(ClientTest, NoStubAtAll) {
  for (int i = 0; i < 2000; ++i) stub.endless += "login: ";
  EXPECT_THAT(trouble(), HasSubstr("the fake probe: sends what is not the GDB remote serial "
                                   "protocol; see that 'gdb' of the board's 'run'"));
}

TEST_F(ClientTest, EndlessInEveryWay) {
  for (const char* endless : {"+", "-", "$00", "$O41#b4", "$O41#b4+", "%", "$#", "$OK#9b"}) {
    FakeStub own;
    Client other(own, kShort);
    own.endless = endless;
    const Result<void> started = other.start();
    ASSERT_FALSE(started.ok()) << endless;
    EXPECT_THAT(started.error().to_string(), HasSubstr("the fake probe: ")) << endless;
  }
}

TEST_F(ClientTest, DescribesWithoutEnd) {
  stub.on_packet = [](const std::string& packet) -> std::optional<std::string> {
    if (packet.starts_with("qXfer:")) return "m";
    return std::nullopt;
  };
  EXPECT_THAT(trouble(), HasSubstr("describes its memory-map without end"));
  stub.on_packet = [](const std::string& packet) -> std::optional<std::string> {
    if (packet.starts_with("qXfer:features")) return "m" + std::string(200, ' ');
    return std::nullopt;
  };
  EXPECT_THAT(trouble(), HasSubstr("describes its features without end"));
}

TEST_F(ClientTest, ARegisterFileThatIncludesItself) {
  stub.files["features:target.xml"] =
      "<xi:include href=\"target.xml\"/><xi:include href=\"target.xml\"/>";
  start();
}

TEST_F(ClientTest, PacketsThatAreTooSmall) {
  for (const char* size : {"0", "10", "zz", ""}) {
    stub.features = fmt::format("PacketSize={}", size);
    EXPECT_THAT(trouble(), HasSubstr("which is too few")) << size;
  }
  stub.features = "PacketSize=ffffffff";
  start();
  EXPECT_TRUE(client.read(0x20000000, 2000).ok());
  stub.features = "";
  start();
}

TEST_F(ClientTest, HoldsNoTarget) {
  for (const char* answer : {"W00", "", "E01"}) {
    stub.on_packet = [&](const std::string& packet) -> std::optional<std::string> {
      if (packet == "?") return answer;
      return std::nullopt;
    };
    EXPECT_THAT(trouble(), HasSubstr("holds no target")) << answer;
  }
}

TEST_F(ClientTest, SaysNothing) {
  stub.on_continue = [](FakeStub&) { return std::nullopt; };
  start();
  stub.packets_until_lost = 0;
  EXPECT_THAT(client.read_word(0x20000000).error().to_string(),
              HasSubstr("the connection is lost"));
  FakeStub silent;
  silent.on_packet = [&](const std::string&) -> std::optional<std::string> { return "O41"; };
  Client other(silent, kShort);
  EXPECT_THAT(other.start().error().to_string(), HasSubstr("has not answered 'qSupported"));
}

// As QEMU's does when it is connected to while the target runs.
TEST_F(ClientTest, ReportsStopsThatNobodyAskedFor) {
  stub.before_answers = framed("T02thread:01;");
  start();
  EXPECT_TRUE(client.read_word(0x20000000).ok());
  EXPECT_TRUE(client.registers().ok());
}

TEST_F(ClientTest, Commands) {
  start();
  ASSERT_TRUE(client.command("reset halt").ok());
  EXPECT_TRUE(stub.was_asked("qRcmd,72657365742068616c74"));
  stub.on_packet = [](const std::string& packet) -> std::optional<std::string> {
    if (packet == "vAttach;1") return "T05";
    if (packet.starts_with("qRcmd,")) return hex_of(std::string_view("done\n"));
    return std::nullopt;
  };
  EXPECT_TRUE(client.command("$vAttach;1").ok());
  EXPECT_TRUE(client.command("reset").ok());
  EXPECT_EQ(client.console(), "done\n");
  EXPECT_THAT(client.command("$vRun;").error().to_string(),
              HasSubstr("refuses the command '$vRun;' of the board's 'reset'"));
  stub.on_packet = nullptr;
  stub.before_answers = framed("O" + hex_of(std::string_view("no such command\n")));
  EXPECT_TRUE(client.command("reset").ok());
  EXPECT_THAT(client.console(), HasSubstr("no such command"));
  stub.on_packet = [](const std::string&) { return std::optional<std::string>("E01"); };
  EXPECT_THAT(client.command("rest").error().to_string(),
              HasSubstr("it answers 'E01'\nno such command; docs/running.md"));
}

TEST_F(ClientTest, StopsForManyReasons) {
  start();
  const auto stopped = [&](const std::string& reply) {
    stub.on_continue = [=](FakeStub&) { return std::optional<std::string>(reply); };
    return client.resume({});
  };
  EXPECT_EQ(stopped("S05")->signal, 5);
  EXPECT_EQ(stopped("T0bthread:1;hwbreak:;")->signal, 11);
  EXPECT_THAT(stopped("W00").error().to_string(), HasSubstr("says that the program has ended"));
  EXPECT_THAT(stopped("X09").error().to_string(), HasSubstr("says that the program has ended"));
  EXPECT_THAT(stopped("Fopen,20000000/5,0,0").error().to_string(),
              HasSubstr("switch semihosting off"));
  EXPECT_THAT(stopped("").error().to_string(),
              HasSubstr("does not know how to let the program run"));
  EXPECT_THAT(stopped("E05").error().to_string(), HasSubstr("cannot let the program run"));
  EXPECT_THAT(stopped("S").error().to_string(), HasSubstr("cannot let the program run"));
}

TEST_F(ClientTest, IsStoppedAtItsTimeLimit) {
  start();
  stub.on_continue = [](FakeStub&) { return std::nullopt; };
  const auto stop = client.resume(in_a_moment());
  ASSERT_TRUE(stop.ok()) << stop.error().to_string();
  EXPECT_TRUE(stop->interrupted);
  stub.stops_when_told = false;
  EXPECT_THAT(client.resume(in_a_moment()).error().to_string(),
              HasSubstr("the target does not stop when it is told to"));
}

TEST_F(ClientTest, PrintsWithoutEndWhileItRuns) {
  start();
  stub.on_continue = [](FakeStub&) { return std::nullopt; };
  stub.endless = framed("O" + hex_of(std::string(100, 'x')));
  const auto stop = client.resume(in_a_moment());
  ASSERT_FALSE(stop.ok());
}

}  // namespace
}  // namespace intarsia::debug_probe
