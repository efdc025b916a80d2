#include "debug_probe/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "debug_probe/client.h"
#include "fake_stub.h"

namespace intarsia::debug_probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint32_t kFlash = 0x08000000, kRam = 0x20000000;
constexpr uint32_t kReset = kFlash + 0x40, kWait = kFlash + 0x100, kFault = kFlash + 0x110,
                   kBegin = kFlash + 0x120, kEnd = kFlash + 0x130, kCaller = kFlash + 0x200;
constexpr uint32_t kCyccnt = 0xE0001004;

// A program as the linker makes it, and a target that does not execute it but goes from stop to stop.
class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    request.limits = {Milliseconds(300), Milliseconds(300)};
    request.image.symbols = {
        {"intarsia_vectors", kFlash},          {"intarsia_probe_wait", kWait | 1},
        {"intarsia_fault", kFault | 1},        {"intarsia_mark_begin", kBegin | 1},
        {"intarsia_mark_end", kEnd | 1},       {"__intarsia_stack_bottom", kRam},
        {"__intarsia_stack_top", kRam + 0x400}};
    request.image.functions = {{"intarsia_fault", kFault, 16}, {"digits_run", kCaller, 0x100}};
    std::vector<uint8_t> code(0x300, 0);
    const auto put = [&](size_t at, uint32_t word) {
      for (size_t i = 0; i < 4; ++i) code[at + i] = static_cast<uint8_t>(word >> (8 * i));
    };
    put(0, kRam + 0x400);
    put(4, kReset | 1);
    request.image.segments = {{kFlash, code}};
    files.command_line = "intarsia run";
    files.read["in0"] = "input";
    files.written["out0"];
    stub.on_continue = [this](FakeStub&) -> std::optional<std::string> {
      if (next == stops.size()) return std::nullopt;
      return stops[next++]();
    };
  }

  using Stop = std::function<std::optional<std::string>()>;
  std::string stop_at(uint32_t pc) {
    stub.registers[kPc] = pc;
    stub.registers[kLr] = kCaller | 1;
    return "T05";
  }
  Stop at(uint32_t pc) {
    return [this, pc] { return stop_at(pc); };
  }
  // A call of the host, with its arguments at the beginning of the RAM.
  Stop call(uint32_t operation, std::vector<uint32_t> words) {
    return [this, operation, words] {
      for (size_t i = 0; i < words.size(); ++i) stub.set_word(kRam + i * 4, words[i]);
      stub.registers[0] = operation;
      stub.registers[1] = kRam;
      return stop_at(kWait);
    };
  }
  Stop count_to(uint32_t cycles) {
    return [this, cycles] {
      stub.set_word(kCyccnt, stub.word(kCyccnt) + cycles);
      return stop_at(kEnd);
    };
  }
  Stop exit(uint32_t status) { return call(0x20, {0x20026, status}); }

  Result<SessionResult> run() { return run_session(stub, request, files); }
  std::string trouble() {
    const Result<SessionResult> result = run();
    return result.ok() ? "" : result.error().to_string();
  }

  FakeStub stub;
  SessionRequest request;
  HostFiles files;
  std::vector<Stop> stops;
  size_t next = 0;
};

TEST_F(SessionTest, LoadsStartsServesAndCounts) {
  request.reset = {"reset halt"};
  stops = {[&]() -> std::optional<std::string> {
             EXPECT_EQ(stub.registers[kPc], kReset);
             EXPECT_EQ(stub.registers[kSp], kRam + 0x400);
             EXPECT_EQ(stub.status, 1u << 24) << "the state in which all code of these cores is";
             EXPECT_EQ(stub.word(0xE000ED08), kFlash) << "VTOR";
             EXPECT_EQ(stub.breakpoints.size(), 4u);
             EXPECT_NE(stub.word(0xE000EDFC) & 1u << 24, 0u) << "DEMCR's TRCENA";
             EXPECT_NE(stub.word(0xE0001000) & 1u, 0u);
             stub.set_word(kCyccnt, 555);
             return call(0xC, {1})();  // of a file that is not open
           },
           [&]() -> std::optional<std::string> {
             EXPECT_EQ(stub.registers[kPc], kCaller) << "the function has returned";
             EXPECT_EQ(stub.registers[0], UINT32_MAX);
             return stop_at(kBegin);
           },
           count_to(1234),
           at(kBegin),
           count_to(1235),
           exit(0)};
  const Result<SessionResult> result = run();
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result->ending, Ending::Exited);
  EXPECT_EQ(result->exit_status, 0);
  EXPECT_THAT(result->cycles, ElementsAre(1234u, 1235u));
  EXPECT_EQ(result->cycles_note, "");
  EXPECT_TRUE(stub.breakpoints.empty()) << "the board is left as it was found";
  EXPECT_EQ(std::count(stub.asked.begin(), stub.asked.end(), "qRcmd,72657365742068616c74"), 2)
      << "before the load, for flash to be written, and behind it";
}

TEST_F(SessionTest, ACoreWithoutACounter) {
  stub.set_word(0xE000ED00, 0x410CC200);  // Cortex-M0
  stops = {[&]() -> std::optional<std::string> {
    EXPECT_EQ(stub.breakpoints.size(), 2u) << "such cores have few comparators";
    return exit(3)();
  }};
  const Result<SessionResult> result = run();
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result->exit_status, 3);
  EXPECT_EQ(result->cycles_note, "this core has no counter of cycles");
}

TEST_F(SessionTest, ACounterThatWasLeftOut) {
  stub.set_word(0xE0001000, 1u << 25);
  stops = {exit(0)};
  EXPECT_THAT(run()->cycles_note, HasSubstr("without its counter"));
}

TEST_F(SessionTest, ACounterThatStandsStill) {
  stops = {at(kBegin), at(kEnd), at(kBegin), count_to(5), exit(0)};
  const Result<SessionResult> result = run();
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_TRUE(result->cycles.empty());
  EXPECT_THAT(result->cycles_note, HasSubstr("stands still"));
}

TEST_F(SessionTest, Faults) {
  stops = {[&]() -> std::optional<std::string> {
    const uint32_t frame = kRam + 0x300;
    for (uint32_t i = 0; i < 8; ++i) stub.set_word(frame + i * 4, 0x1000 + i);
    stub.set_word(frame + 20, kCaller + 0x21);  // lr
    stub.set_word(frame + 24, kCaller + 0x10);  // pc
    stub.set_word(frame + 28, 0x61000000);
    stub.set_word(frame + 40, kCaller + 0x31);  // a caller, further up
    stub.set_word(0xE000ED28, 1u << 15 | 1u << 9);
    stub.set_word(0xE000ED38, 0x40000004);
    stub.set_word(0xE000ED04, 3);
    stub.registers[4] = 44;
    stub.registers[kSp] = frame;
    stub.registers[kLr] = 0xFFFFFFF9;
    stub.registers[kPc] = kFault;
    return "T05";
  }};
  const Result<SessionResult> result = run();
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  ASSERT_EQ(result->ending, Ending::Faulted);
  const FaultState& state = *result->state;
  EXPECT_EQ(state.registers[0], 0x1000u);
  EXPECT_EQ(state.registers[4], 44u);
  EXPECT_EQ(state.registers[12], 0x1004u);
  EXPECT_EQ(state.registers[kPc], kCaller + 0x10);
  EXPECT_EQ(state.registers[kSp], kRam + 0x320);
  EXPECT_THAT(state.returns, ElementsAre(kCaller + 0x30));
  EXPECT_EQ(reason_of(state), "a load or store to which no memory answers: address 0x40000004");
  EXPECT_EQ(place_text(request.image, state.registers[kPc]), "digits_run+0x10");
  EXPECT_THAT(registers_text(state),
              HasSubstr("r12, sp, lr, pc: 00001004 20000320 08000221 08000210"));
  EXPECT_THAT(registers_text(state), HasSubstr("cfsr, hfsr, exception: 00008200 00000000 3"));
  EXPECT_TRUE(stub.breakpoints.empty());
}

TEST_F(SessionTest, FaultsForWantOfStack) {
  for (const uint32_t sp : {kRam - 0x20, kRam + 0x3F0, 0x70000000u}) {
    next = 0;
    stops = {[&]() -> std::optional<std::string> {
      stub.registers[kSp] = sp;
      stub.registers[kPc] = kFault;
      return "T05";
    }};
    const Result<SessionResult> result = run();
    ASSERT_TRUE(result.ok()) << result.error().to_string();
    EXPECT_FALSE(result->state->has_frame);
    EXPECT_EQ(reason_of(*result->state), "the stack has overflowed");
  }
}

TEST_F(SessionTest, TimeIsOver) {
  request.time_limit = Milliseconds(50);
  stub.registers[kSp] = kRam + 0x300;
  const Result<SessionResult> result = run();
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result->ending, Ending::TimedOut);
  ASSERT_TRUE(result->state);
  // The same of a program that asks the host again and again.
  stub.on_continue = [&](FakeStub&) { return call(0xC, {1})(); };
  EXPECT_EQ(run()->ending, Ending::TimedOut);
}

TEST_F(SessionTest, StopsWhereNobodyStoppedIt) {
  stops = {[&]() -> std::optional<std::string> {
    stop_at(kCaller + 4);
    return "T0b";
  }};
  const Result<SessionResult> result = run();
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result->ending, Ending::Stopped);
  EXPECT_EQ(result->signal, 11);
}

TEST_F(SessionTest, StartupCodeOfTheBoardsOwn) {
  request.image.symbols.erase("intarsia_vectors");
  request.image.symbols.erase("intarsia_fault");
  EXPECT_THAT(trouble(), HasSubstr("has no vector table to start by"));
  request.image.sections = {{".vectors", kFlash, 64}};
  stops = {[&]() -> std::optional<std::string> {
    EXPECT_EQ(stub.registers[kPc], kReset);
    EXPECT_EQ(stub.breakpoints.size(), 3u);
    return exit(0)();
  }};
  const Result<SessionResult> result = run();
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result->ending, Ending::Exited);
}

TEST_F(SessionTest, ProgramsThatAreNotForAProbe) {
  request.image.symbols.erase("intarsia_probe_wait");
  EXPECT_THAT(trouble(), HasSubstr("was not built for a board that a debug probe holds"));
}

TEST_F(SessionTest, ACommandThatTheProbeRefuses) {
  request.reset = {"reset halt", "tpwr"};
  stub.on_packet = [](const std::string& packet) -> std::optional<std::string> {
    if (packet == "qRcmd," + hex_of(std::string_view("tpwr"))) return "E01";
    return std::nullopt;
  };
  EXPECT_THAT(trouble(), HasSubstr("refuses the command 'tpwr' of the board's 'reset'"));
}

// A stub that answers now and then what it should not.
TEST_F(SessionTest, NonsenseAnywhere) {
  static const std::string kNonsense[] = {
      "",
      "OK",
      "E01",
      "E.no",
      "S05",
      "T05",
      "T",
      "S",
      "W00",
      "O",
      "O4",
      "O41",
      "zz",
      "0",
      "00",
      "m",
      "l",
      "m<memory",
      "F1,2",
      "ffffffff",
      "l<memory",
      "l}",
      "}",
      "xx",
      "c",
      "+",
      "00000000000000",
      "l<memory type=\"flash\" start=\"0\" length=\"0x10000000\"><property "
      "name=\"blocksize\">0x1000</property>",
      "PacketSize=80;QStartNoAckMode+",
      "PacketSize=1"};
  request.time_limit = Milliseconds(20);
  request.limits = {Milliseconds(20), Milliseconds(20)};
  int good = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    FakeStub own;
    const auto plan = stub.on_continue;
    stops = {call(0xC, {1}), at(kBegin), count_to(7), exit(0)};
    next = 0;
    own.on_continue = [&](FakeStub&) {
      const auto stop = plan(stub);
      std::copy(std::begin(stub.registers), std::end(stub.registers), own.registers);
      own.memory_at(kRam)->bytes = stub.memory_at(kRam)->bytes;
      return stop;
    };
    own.on_packet = [&](const std::string&) -> std::optional<std::string> {
      if (random() % 32 != 0) return std::nullopt;
      return kNonsense[random() % std::size(kNonsense)];
    };
    const Result<SessionResult> result = run_session(own, request, files);
    if (result.ok())
      ++good;
    else
      EXPECT_NE(result.error().to_string(), "") << seed;
  }
  EXPECT_GT(good, 0);
  EXPECT_LT(good, 400);
}

TEST_F(SessionTest, TheConnectionIsLostAnywhere) {
  stops = {call(0xC, {1}), at(kBegin), count_to(7), exit(0)};
  for (int packets = 0; packets < 200; ++packets) {
    FakeStub own;
    const auto plan = stub.on_continue;
    own.on_continue = [&](FakeStub&) {
      const auto stop = plan(stub);
      std::copy(std::begin(stub.registers), std::end(stub.registers), own.registers);
      own.memory_at(kRam)->bytes = stub.memory_at(kRam)->bytes;
      own.set_word(kCyccnt, stub.word(kCyccnt));
      return stop;
    };
    own.packets_until_lost = packets;
    next = 0;
    const Result<SessionResult> result = run_session(own, request, files);
    if (result.ok()) {
      EXPECT_GT(packets, 30);
      EXPECT_EQ(result->ending, Ending::Exited);
      return;
    }
    EXPECT_THAT(result.error().to_string(), HasSubstr("the connection is lost")) << packets;
  }
  ADD_FAILURE() << "it never came to its end";
}

}  // namespace
}  // namespace intarsia::debug_probe
