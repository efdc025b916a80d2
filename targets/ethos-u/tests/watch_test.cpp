// What a simulated device reports of its runs: traces, profiles, findings.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "editable_stream.h"
#include "intarsia/targets/ethos_u/device.h"
#include "intarsia/targets/ethos_u/marks.h"
#include "intarsia/targets/ethos_u/watch.h"

namespace intarsia::test::ethos_u {
namespace {

using namespace simulators::ethos_u;
using testing::HasSubstr;

constexpr const char* kTag = "ethos-u55-128";

// What two transfers of so many bytes from the flash take, in cycles: the first nine words of commands and their latency;
// both transfers, with start and latency; the word between them, since those at which the processor waits are read before
// the transfers' first bytes come.
constexpr double kReadAlone = 64 + 36 + 4;
double cycles_of_two(double bytes) {
  return kReadAlone + 2 * (isa::ethos_u::kAssumed.command_start + 64 + bytes);
}

// Two transfers; the second waits for the first.
EditableStream transfers(uint64_t bytes) {
  EditableStream s;
  s.put("SET_DMA0_SRC_REGION", 0).put_wide("SET_DMA0_SRC", 0).put("SET_DMA0_DST_REGION", 1);
  s.put_wide("SET_DMA0_DST", 0).put_wide("SET_DMA0_LEN", bytes).put("OP_DMA_START");
  return s.put("OP_DMA_WAIT", 0).put("OP_DMA_START").put("OP_STOP", 0xFFFF);
}

std::string key_of(const EditableStream& stream) {
  std::ostringstream text;
  text << std::hex << isa::ethos_u::stream_key(stream.bytes());
  return text.str();
}

class WatchTest : public testing::Test {
 protected:
  // Runs the streams one after the other on one device.
  void run_all(const std::vector<EditableStream>& streams, const std::string& marks = {}) {
    Recorder recorder({.trace = true, .profile = true, .marks = marks});
    const Configuration& configuration = *find_configuration(kTag);
    const auto& npu = *isa::ethos_u::find_npu_timing(kTag);
    const auto memories = *isa::ethos_u::memory_system(npu, "", "Shared_Sram");
    Device device(configuration);
    const int number = recorder.add_device();
    device.set_cycle_model([&](const Configuration& it, std::span<const uint8_t> stream) {
      return std::make_unique<Watch>(it, memories, stream, recorder, number);
    });
    device.set_fault_handler([&](const Fault& fault) { faults_ += fault.to_string() + "\n"; });
    for (const EditableStream& stream : streams) {
      streams_.push_back(stream.bytes());
      start(device, streams_.back());
    }
    trace_ = recorder.trace_text();
    profile_ = recorder.profile_text();
  }
  void start(Device& device, const std::vector<uint8_t>& stream) {
    // Bytes that begin at a multiple of 16.
    auto& room = rooms_.emplace_back(stream.size() + 16);
    uint8_t* first = room.data() + (16 - reinterpret_cast<uintptr_t>(room.data()) % 16) % 16;
    std::copy(stream.begin(), stream.end(), first);
    const auto write_pair = [&](uint32_t at, const void* pointer) {
      const auto value = reinterpret_cast<uintptr_t>(pointer);
      device.write(at, static_cast<uint32_t>(value));
      device.write(at + 4, static_cast<uint32_t>(uint64_t{value} >> 32));
    };
    write_pair(reg::QBASE_LO, first);
    device.write(reg::QSIZE, static_cast<uint32_t>(stream.size()));
    write_pair(reg::BASEP0_LO, constants_);
    write_pair(reg::BASEP1_LO, arena_);
    write_pair(reg::BASEP2_LO, more_);
    device.write(reg::CMD, bits::CMD_transition_to_running_state);
  }
  std::string trace_, profile_;
  std::string faults_;
  std::vector<std::vector<uint8_t>> streams_;
  std::deque<std::vector<uint8_t>> rooms_;
  alignas(16) uint8_t constants_[2048] = {};
  alignas(16) uint8_t arena_[2048] = {};
  alignas(16) uint8_t more_[2048] = {};
};

TEST_F(WatchTest, TraceHasARowForEachPartyInMicroseconds) {
  run_all({transfers(1024)});
  EXPECT_EQ(faults_, "");
  std::map<std::string, int> names;
  double end = 0;
  const nlohmann::json trace = nlohmann::json::parse(trace_);
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") {
      ++names[event.at("args").at("name").get<std::string>()];
      continue;
    }
    ++names[event.at("name").get<std::string>()];
    end = std::max(end, event.at("ts").get<double>() + event.at("dur").get<double>());
  }
  EXPECT_EQ(names[kTag], 1);
  EXPECT_EQ(names["DMA"], 1);
  EXPECT_EQ(names["dma"], 2);
  EXPECT_EQ(names["wait"], 1);
  EXPECT_NEAR(end, cycles_of_two(1024) / 500, 1.0 / 500);  // 500 MHz
}

TEST_F(WatchTest, ProfileIsOfTheLastRunOfEachStream) {
  run_all({transfers(1024), transfers(1024), transfers(512)});
  const nlohmann::json profile = nlohmann::json::parse(profile_);
  ASSERT_EQ(profile.size(), 3u) << "every start has a stream of its own here";
  const nlohmann::json& first = profile.at(0);
  EXPECT_EQ(first.at("device"), kTag);
  EXPECT_EQ(first.at("system"), "Ethos_U55_High_End_Embedded");
  EXPECT_NEAR(first.at("cycles").get<double>(), cycles_of_two(1024), 1);
  EXPECT_EQ(first.at("transfer_only_cycles"), first.at("cycles").get<double>() - kReadAlone);
  EXPECT_EQ(first.at("regions").at(0).at("read_bytes"), 2 * 1024);
  EXPECT_EQ(first.at("regions").at(1).at("written_bytes"), 2 * 1024);
  ASSERT_EQ(first.at("commands").size(), 2u);
  EXPECT_EQ(first.at("commands").at(1).at("work"), "dma");
  EXPECT_NEAR(first.at("commands").at(1).at("start").get<double>(),
              first.at("cycles").get<double>() / 2, 100);
  EXPECT_NEAR(profile.at(2).at("cycles").get<double>(), cycles_of_two(512), 1);
}

TEST_F(WatchTest, OperatorsHaveTheNamesOfTheMarks) {
  const EditableStream stream = transfers(1024);
  const std::string key = key_of(stream);
  std::ostringstream marks;
  marks << key << " 0 conv 1\n"
        << key << " " << stream.offset("OP_DMA_START", 1) << " conv \"2\"\n"
        << "1234 0 of another stream\n";
  run_all({stream}, marks.str());
  const nlohmann::json profile = nlohmann::json::parse(profile_);
  EXPECT_EQ(profile.at(0).at("commands").at(0).at("node"), "conv 1");
  EXPECT_EQ(profile.at(0).at("commands").at(1).at("node"), "conv \"2\"");
}

// The device's registers have no ends of regions; who made the stream knows them.
TEST_F(WatchTest, RegionsEndWhereTheMarksSay) {
  const EditableStream stream = transfers(1024);
  const auto run_with = [&](const std::string& constants, const std::string& arena) {
    std::string marks;
    for (const std::string& line : {constants, arena})
      if (!line.empty()) marks += key_of(stream) + " " + line + "\n";
    faults_.clear();
    run_all({stream}, marks);
    return faults_;
  };
  EXPECT_EQ(run_with("region 0 1024 const", "region 1 1024"), "");
  EXPECT_THAT(run_with("region 0 1008 const", "region 1 1024"), HasSubstr("outside of region 0"));
  EXPECT_THAT(run_with("region 0 1024 const", "region 1 1008"), HasSubstr("outside of region 1"));
  EXPECT_THAT(run_with("region 0 1024 const", ""), HasSubstr("outside of region 1"));
  EXPECT_THAT(run_with("region 0 1024 const", "region 1 1024 const"),
              HasSubstr("outside of region 1"));
  // What is read has a value only where the marks say so.
  EXPECT_THAT(run_with("region 0 1024", "region 1 1024"),
              HasSubstr("the stream checker found a mistake"));
  EXPECT_EQ(run_with("region 0 1024", "holds 0 0 1024\n" + key_of(stream) + " region 1 1024"), "");
}

// What a stream is to write it has written when it ends.
TEST_F(WatchTest, OutputsAreWritten) {
  const EditableStream stream = transfers(1024);  // from region 0 to region 1
  const auto run_with = [&](const std::string& yields) {
    const std::string key = key_of(stream);
    faults_.clear();
    run_all({stream},
            key + " region 0 2048 const\n" + key + " region 1 2048\n" + key + yields + "\n");
    return faults_;
  };
  EXPECT_EQ(run_with(" yields 1 0 1024"), "");
  EXPECT_EQ(run_with(" holds 1 1024 1\n" + key_of(stream) + " yields 1 0 1025"), "");
  for (const char* yields : {" yields 1 0 1025", " yields 1 1024 1", " yields 1 2047 1"})
    EXPECT_THAT(run_with(yields),
                HasSubstr("the stream checker found a mistake: unwritten-output"));
}

// What one stream leaves in a region the next one finds, and what nobody wrote stays unknown.
TEST_F(WatchTest, StreamsGoOnInWhatOthersLeft) {
  const EditableStream first = transfers(1024);  // from region 0 to region 1
  EditableStream second;
  second.put("SET_DMA0_SRC_REGION", 1).put_wide("SET_DMA0_SRC", 512).put("SET_DMA0_DST_REGION", 2);
  second.put_wide("SET_DMA0_DST", 0).put_wide("SET_DMA0_LEN", 512).put("OP_DMA_START");
  second.put("OP_STOP", 0xFFFF);
  const auto run_both = [&](const std::string& left, const std::string& found,
                            const EditableStream& last) {
    std::string marks;
    for (const EditableStream* stream : {&first, &last})
      for (const char* region : {"0 2048 const", "1 2048", "2 2048"})
        marks += key_of(*stream) + " region " + region + "\n";
    if (!left.empty()) marks += key_of(first) + left + "\n";
    if (!found.empty()) marks += key_of(last) + found + "\n";
    faults_.clear();
    run_all({first, last}, marks);
    return faults_;
  };
  const auto unwritten = HasSubstr("the stream checker found a mistake: uninitialised-read");
  EXPECT_EQ(run_both(" leaves 1", " finds 1", second), "");
  EXPECT_THAT(run_both("", "", second), unwritten);
  EXPECT_THAT(run_both(" leaves 1", "", second), unwritten);
  EXPECT_THAT(run_both("", " finds 1", second), unwritten);
  EXPECT_THAT(run_both(" leaves 1", " finds 1", second.with("SET_DMA0_SRC", 0, 1024)), unwritten);
}

TEST_F(WatchTest, AFindingMakesTheRunFail) {
  run_all({transfers(1000)});
  EXPECT_THAT(faults_, HasSubstr("the stream checker found a mistake: alignment"));
}

TEST(JsonText, IsEscaped) {
  EXPECT_EQ(json_escaped("a\"b\\c\n"), "a\\\"b\\\\c\\u000a");
}

}  // namespace
}  // namespace intarsia::test::ethos_u
