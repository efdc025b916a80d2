// Streams that Arm's compiler made for an Ethos-U85, executed bit for bit: expected are the outputs of TFLite's reference
// kernels for the model that was compiled, and of the TOSA reference model.
#include <random>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u85/checker.h"
#include "intarsia/targets/ethos_u85/payload.h"
#include "intarsia/targets/ethos_u85/run.h"
#include "recorded_run.h"
#include "u85_editing.h"

namespace intarsia::test::ethos_u {
namespace {

namespace fs = std::filesystem;
namespace sim85 = simulators::ethos_u85;

// Fills what is input and state; false when an input does not fit its place.
bool fill(Arena& memory, const VelaOperator& op, const Interface& interface,
          const RecordedSample& sample, size_t invocation) {
  for (const VelaTensor& place : op.inputs) {
    const auto found = std::find(interface.inputs.begin(), interface.inputs.end(), place.tensor);
    if (found == interface.inputs.end()) {
      // A variable; where it is not zero at first, it is a single byte's zero point.
      const int64_t zero = interface.zero_points[static_cast<size_t>(place.tensor)];
      if (invocation == 0)
        memory.write(place, std::vector<uint8_t>(place.bytes, static_cast<uint8_t>(zero)));
      continue;
    }
    // The shape of a transposed convolution is an input that nothing reads, and lies nowhere.
    if (static_cast<int64_t>(place.offset) == -1 || place.bytes == 0) continue;
    const std::vector<uint8_t>& all =
        sample.inputs.at(static_cast<size_t>(found - interface.inputs.begin()));
    if (all.size() < (invocation + 1) * place.bytes) return false;
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(invocation * place.bytes);
    if (!memory.write(place, {begin, begin + static_cast<std::ptrdiff_t>(place.bytes)}))
      return false;
  }
  return true;
}

// How many invocations the inputs hold.
size_t invocations(const VelaOperator& op, const Interface& interface,
                   const RecordedSample& sample) {
  for (const VelaTensor& place : op.inputs)
    if (!interface.inputs.empty() && place.tensor == interface.inputs[0] && place.bytes > 0)
      return std::max<size_t>(1, sample.inputs.at(0).size() / place.bytes);
  return 1;
}

std::string run_sample(const VelaOperator& op, const Interface& interface,
                       const RecordedSample& sample) {
  sim85::Payload payload;
  if (auto failure = sim85::read_payload(op.payload, payload)) return *failure;
  Arena memory(op, sim85::kTableMemoryBytes);
  for (size_t i = 0; i < invocations(op, interface, sample); ++i) {
    if (!fill(memory, op, interface, sample, i)) return "an input does not fit its place";
    sim85::Checker checker(payload.stream, payload.made_for);
    for (const uint32_t region : {1u, 2u})
      checker.forget(region, region == 1 || op.cache_is_arena ? op.arena_bytes : op.cache_bytes);
    for (const VelaTensor& place : op.inputs) checker.set(1, place.offset, place.bytes);
    for (const VelaTensor& place : op.outputs) checker.expect(1, place.offset, place.bytes);
    const sim85::Outcome outcome =
        sim85::run(payload.stream, *payload.made_for, memory.memory(), &checker);
    if (outcome.fault) return outcome.fault->to_string();
    for (const auto& finding : checker.findings().all()) return finding.to_string();
  }
  for (const VelaTensor& place : op.outputs) {
    const auto found = std::find(interface.outputs.begin(), interface.outputs.end(), place.tensor);
    if (found == interface.outputs.end()) continue;  // a variable
    const auto index = static_cast<size_t>(found - interface.outputs.begin());
    if (const std::string what = difference(memory.read(place), sample.outputs.at(index));
        !what.empty())
      return "output " + std::to_string(index) + ": " + what;
  }
  return "";
}

// Of a file whose operators the NPU runs all.
std::string run_file(const fs::path& path, const fs::path& goldens) {
  const VelaFile file = read_vela_file(path);
  const std::vector<RecordedSample> samples = recorded_samples(goldens);
  if (samples.empty()) return "no recorded outputs in " + goldens.string();
  for (const RecordedSample& sample : samples)
    if (const std::string what = run_sample(file.operators.at(0), interface_of(path), sample);
        !what.empty())
      return what;
  return "";
}

bool is_whole(const fs::path& path) {
  const VelaFile file = read_vela_file(path);
  return file.npu_alone && file.operators.size() == 1;
}

class U85Streams : public testing::TestWithParam<fs::path> {};

TEST_P(U85Streams, AreBitExact) {
  if (!is_whole(GetParam())) return;  // counted below; whole programs have a test of their own
  EXPECT_EQ(run_file(GetParam(), u85_goldens_of(GetParam())), "");
}

INSTANTIATE_TEST_SUITE_P(Recorded, U85Streams, testing::ValuesIn(vela_streams("ethos-u85")),
                         [](const auto& info) { return stream_test_name(info.param); });

// Of one network Arm's compiler gave the CPU some operators.
TEST(U85RecordedStreams, AreThere) {
  const std::vector<fs::path> all = vela_streams("ethos-u85");
  EXPECT_EQ(std::count_if(all.begin(), all.end(), is_own), 2);
  const auto left =
      std::count_if(all.begin(), all.end(), [](const fs::path& path) { return !is_whole(path); });
  EXPECT_LE(left * 20, std::ssize(all));
}

// Streams of single TOSA operators, one configuration each.
TEST(U85RecordedStreams, OfTosaOperatorsAreBitExact) {
  INTARSIA_NEEDS_SHARED("tosa");
  int exact = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(shared_folder() / "tosa", error))
    for (const auto& file : fs::directory_iterator(entry.path(), error)) {
      if (file.path().extension() != ".tflite") continue;
      const std::string what = run_file(file.path(), entry.path());
      EXPECT_EQ(what, "") << entry.path().filename();
      exact += what.empty() ? 1 : 0;
    }
  EXPECT_GE(exact, 233);
}

// Arm's compiler cuts the scales of these: the streams run, and give something else.
TEST(U85RecordedStreams, ThatAreWrongGiveOtherResults) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-u85-faulty");
  int different = 0;
  for (const fs::path& path : vela_streams("ethos-u85-faulty")) {
    const std::string what = run_file(path, u85_goldens_of(path));
    EXPECT_NE(what.find("bytes differ"), std::string::npos) << path << ": " << what;
    ++different;
  }
  EXPECT_EQ(different, 6);
}

// ---- What is wrong in a stream is seen in its results, or refused ----

// The repository's own.
VelaOperator separable() {
  return read_vela_file(
             golden_folder() /
             "npu-streams/ethos-u85/separable_s8/ethos-u85-256-Shared_Sram-Performance.tflite")
      .operators.at(0);
}

std::string run_separable(const VelaOperator& op) {
  const fs::path path =
      golden_folder() /
      "npu-streams/ethos-u85/separable_s8/ethos-u85-256-Shared_Sram-Performance.tflite";
  return run_sample(op, interface_of(path), recorded_samples(recorded_folder("separable_s8"))[0]);
}

TEST(U85ChangedStream, GivesOtherResultsOrIsRefused) {
  using sim85::Command;
  EXPECT_EQ(run_separable(separable()), "");
  const auto after = [&](Command command, const auto& change) {
    VelaOperator op = separable();
    EXPECT_GT(edit_commands(op.payload, command, change), 0u);
    return run_separable(op);
  };
  const auto mentions = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos ? testing::AssertionSuccess()
                                                : testing::AssertionFailure() << "'" << text << "'";
  };
  EXPECT_TRUE(
      mentions(after(Command::SET_KERNEL_STRIDE, [](Words& w) { w[0] ^= 4u << 16; }), "weight"))
      << "order of weights";
  EXPECT_TRUE(mentions(after(Command::SET_OFM_ZERO_POINT, [](Words& w) { w[0] ^= 1u << 16; }),
                       "bytes differ"))
      << "zero point";
  EXPECT_TRUE(mentions(after(Command::SET_SCALE_BASE, [](Words& w) { w[1] += 16; }), "OP_"))
      << "scales that are weights";
  EXPECT_TRUE(mentions(after(Command::SET_OFM_SCALE, [](Words& w) { w[0] |= 4u << 29; }),
                       "simulated alone"))
      << "rounding";
  EXPECT_TRUE(mentions(after(Command::SET_WEIGHT_REGION, [](Words& w) { w[0] |= 5u << 16; }),
                       "outside of region"))
      << "region";
  EXPECT_TRUE(mentions(after(Command::SET_ACC_FORMAT, [](Words& w) { w[0] ^= 7u << 24; }),
                       "has no micro-block"))
      << "micro-block";
  EXPECT_TRUE(mentions(after(Command::SET_BLOCKDEP, [](Words& w) { w[0] |= 7u << 16; }),
                       "block-dependency"))
      << "blocks that begin too early";
  EXPECT_TRUE(mentions(after(Command::SET_OFM_BLK_HEIGHT_M1, [](Words& w) { w[0] |= 127u << 16; }),
                       "block-configuration"))
      << "sums that do not fit";
  EXPECT_TRUE(mentions(after(Command::SET_IFM_UPSCALE, [](Words& w) { w[0] |= 1u << 16; }),
                       "upscaling of the IFM is not simulated"))
      << "upscaling";
}

// Whatever a stream says, it ends, and stays within its memory.
TEST(U85DamagedStreams, EndOrFail) {
  std::mt19937 random(85);
  size_t faults = 0, runs = 0;
  for (const fs::path& path : vela_streams("ethos-u85")) {
    if (!is_own(path)) continue;
    const VelaFile file = read_vela_file(path);
    const VelaOperator& op = file.operators.at(0);
    sim85::Payload payload;
    ASSERT_EQ(sim85::read_payload(op.payload, payload), std::nullopt);
    for (int i = 0; i < 250; ++i, ++runs) {
      std::vector<uint8_t> stream(payload.stream.begin(), payload.stream.end());
      for (uint32_t damage = 0; damage < 1 + random() % 4; ++damage)
        stream[random() % stream.size()] ^= static_cast<uint8_t>(1u << (random() % 8));
      Arena arena(op, sim85::kTableMemoryBytes);
      sim85::Checker checker(stream);
      checker.forget(1, op.arena_bytes);
      const sim85::Outcome outcome =
          sim85::run(stream, *payload.made_for, arena.memory(), &checker, 1 << 24);
      faults += outcome.fault.has_value() ? 1 : 0;
      EXPECT_TRUE(outcome.fault.has_value() || outcome.stopped);
    }
  }
  EXPECT_GT(faults, runs / 4);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
