// Streams that Arm's compiler made, executed bit for bit: expected are the outputs of TFLite's
// reference kernels for the model that was compiled.
#include <algorithm>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/payload.h"
#include "intarsia/targets/ethos_u/run.h"
#include "recorded_data.h"
#include "recorded_run.h"
#include "vela_faults.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;

std::string run_sample(const VelaOperator& op, const Interface& interface,
                       const RecordedSample& sample) {
  sim::Payload payload;
  if (auto failure = sim::read_payload(op.payload, payload)) return *failure;
  Arena arena(op, static_cast<size_t>(payload.made_for->shram_bytes()));
  for (const VelaTensor& place : op.inputs) {
    const auto found = std::find(interface.inputs.begin(), interface.inputs.end(), place.tensor);
    if (found == interface.inputs.end()) {
      // A variable; where it is not zero at first, it is a single byte's zero point.
      const int64_t zero = interface.zero_points[static_cast<size_t>(place.tensor)];
      arena.write(place, std::vector<uint8_t>(place.bytes, static_cast<uint8_t>(zero)));
      continue;
    }
    const auto index = static_cast<size_t>(found - interface.inputs.begin());
    if (!arena.write(place, sample.inputs[index])) return "an input does not fit its place";
  }
  const sim::Outcome outcome = sim::run(payload.stream, *payload.made_for, arena.memory());
  if (outcome.fault) return outcome.fault->to_string();
  for (const VelaTensor& place : op.outputs) {
    const auto found = std::find(interface.outputs.begin(), interface.outputs.end(), place.tensor);
    if (found == interface.outputs.end()) continue;  // a variable
    const auto index = static_cast<size_t>(found - interface.outputs.begin());
    if (const std::string what = difference(arena.read(place), sample.outputs[index]);
        !what.empty())
      return "output " + std::to_string(index) + ": " + what;
  }
  return "";
}

class Streams : public testing::TestWithParam<std::filesystem::path> {};

// Of models that the NPU runs whole; vela_models_test.cpp has the others too.
TEST_P(Streams, AreBitExact) {
  const VelaFile file = read_vela_file(GetParam());
  const Interface interface = interface_of(GetParam());
  const std::vector<RecordedSample> samples = recorded_samples(recorded_folder(file.model));
  ASSERT_FALSE(samples.empty());
  for (size_t k = 0; k < samples.size(); ++k) {
    ASSERT_EQ(samples[k].inputs.size(), interface.inputs.size());
    ASSERT_EQ(samples[k].outputs.size(), interface.outputs.size());
    const std::string difference = run_sample(file.operators[0], interface, samples[k]);
    EXPECT_TRUE(difference.empty() || vela_fault(file.model) != nullptr)
        << "sample " << k << ": " << difference;
  }
}

std::vector<std::filesystem::path> whole_streams() {
  std::vector<std::filesystem::path> files = vela_streams();
  std::erase_if(files, [](const std::filesystem::path& path) {
    const VelaFile file = read_vela_file(path);
    return !file.npu_alone || file.operators.size() != 1;
  });
  return files;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Streams, testing::ValuesIn(whole_streams()),
                         [](const auto& info) { return stream_test_name(info.param); });

// npu-streams/make_streams.py makes these. Of a few models Arm's compiler gave the CPU some operators.
TEST(RecordedStreams, AreThere) {
  const std::vector<std::filesystem::path> all = vela_streams(), whole = whole_streams();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), is_own), 24);
  EXPECT_EQ(std::count_if(whole.begin(), whole.end(), is_own), 23);
  EXPECT_LE((all.size() - whole.size()) * 20, all.size());
}

}  // namespace
}  // namespace intarsia::test::ethos_u
