// The networks of which there are streams of Arm's compiler, through our own: the reference is an integer
// model of the documented arithmetic, and is met exactly on every variant.
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encn_files.h"
#include "end_to_end.h"
#include "intarsia/import.h"
#include "intarsia/targets/ethos_n/container.h"
#include "intarsia/targets/ethos_n/run.h"
#include "intarsia/targets/ethos_n/stream.h"
#include "shared_data.h"

namespace intarsia::test::ethos_n {
namespace {

namespace sim = simulators::ethos_n;

// What stayed on the host, with the reason of the NPU.
std::string left_on_host(const CompiledModel& model) {
  std::string text;
  for (const auto& row : model.partitioned.explanation.operators)
    if (row.device != "ethosn") {
      text += row.name + " (" + row.kind + ")";
      for (const Offer& offer : row.offers)
        text += " [" + offer.device + ": " + offer.reason.value_or("") + "]";
      text += "; ";
    }
  return text;
}

// Empty when every byte is the expected one.
std::string difference(const std::vector<uint8_t>& got, const std::vector<uint8_t>& expected) {
  if (got.size() != expected.size()) return "sizes differ";
  size_t different = 0, first = 0;
  int most = 0;
  for (size_t i = got.size(); i-- > 0;) {
    if (got[i] == expected[i]) continue;
    ++different, first = i;
    most = std::max(most, std::abs(static_cast<int8_t>(got[i]) - static_cast<int8_t>(expected[i])));
  }
  if (different == 0) return "";
  return std::to_string(different) + " of " + std::to_string(got.size()) +
         " bytes differ by up to " + std::to_string(most) + ", the first at " +
         std::to_string(first);
}

TEST(OurNetworks, MeetTheReferenceOfArms) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-n");
  std::set<std::string> done;
  for (const EncnFile& file : encn_files()) {
    const std::string tag(file.variant->tag), name = file.path.parent_path().filename().string();
    if (!done.insert(name + tag).second) continue;  // forced strategies of the same network
    SCOPED_TRACE(name + " on " + tag);
    const Result<graph::Module> module =
        import_model(read_bytes(file.path.parent_path() / "model.tflite"), {"model.tflite"});
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const Result<CompiledModel> compiled = compile_for(*module, tag);
    ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
    EXPECT_EQ(left_on_host(*compiled), "");
    for (size_t k = 0; k < file.samples; ++k) {
      std::vector<graph::TensorValue> outputs;
      // The model's order of inputs and outputs, which the container's list states.
      std::vector<graph::TensorValue> inputs(file.inputs.size());
      const std::vector<graph::TensorValue> of_container = file.inputs_of(k);
      for (size_t i = 0; i < inputs.size(); ++i) inputs[file.inputs[i]] = of_container[i];
      const std::string problem = run_on(tag, *compiled, inputs, outputs);
      ASSERT_EQ(problem, "");
      ASSERT_EQ(outputs.size(), file.outputs.size());
      for (size_t i = 0; i < outputs.size(); ++i)
        EXPECT_EQ(difference(outputs[file.outputs[i]], file.expected(k, i)), "")
            << "sample " << k << ", output " << i;
    }
  }
  EXPECT_GE(done.size(), 60u);
}

// The containers as the simulator reads them, which shares the tables with the encoder and nothing else.
void expect_clean(const std::vector<uint8_t>& bytes) {
  sim::Network network;
  const auto fault = sim::read_network(bytes, network);
  ASSERT_FALSE(fault) << fault->to_string();
  sim::Stream stream;
  const auto broken = sim::read_stream(network.command_stream(), stream);
  ASSERT_FALSE(broken) << broken->to_string();
  std::set<uint32_t> numbers;
  for (const auto* buffers : {&network.inputs, &network.outputs, &network.in_control_constants,
                              &network.in_dma_constants, &network.intermediates})
    for (const sim::Buffer& buffer : *buffers) {
      EXPECT_TRUE(numbers.insert(buffer.id).second) << "buffer " << buffer.id << " is there twice";
      EXPECT_EQ(buffer.offset % 64, 0u) << "buffer " << buffer.id;
      EXPECT_GT(buffer.bytes, 0u) << "buffer " << buffer.id;
    }
  // Numbers are dense, and the stream is buffer 0.
  EXPECT_EQ(*numbers.rbegin() + 1, numbers.size());
  // What no field names is zero.
  for (const sim::AgentRecord& agent : stream.agents)
    if (agent.type == sim::Agent::WGT_STREAMER || agent.type == sim::Agent::PLE_LOADER) {
      for (size_t i = 6; i < agent.bytes.size(); ++i) EXPECT_EQ(agent.bytes[i], 0u);
    }
}

struct Moved {
  uint64_t bytes = 0;
  size_t stream = 0, weights = 0, commands = 0;
};

Moved moved(const sim::Variant& variant, const std::vector<uint8_t>& bytes,
            const std::vector<std::vector<uint8_t>>& inputs) {
  Moved result;
  std::vector<std::vector<uint8_t>> outputs;
  const sim::Outcome outcome = sim::run_network(variant, bytes, inputs, outputs);
  EXPECT_FALSE(outcome.fault) << outcome.fault->to_string();
  sim::Network network;
  sim::Stream stream;
  sim::read_network(bytes, network);
  sim::read_stream(network.command_stream(), stream);
  result.bytes = outcome.dma_read_bytes + outcome.dma_written_bytes;
  result.stream = network.command_stream().size();
  result.weights = network.dma_constants.size();
  for (const auto& queue : stream.queues) result.commands += queue.size();
  return result;
}

// Traffic and sizes beside Arm's.
TEST(OurNetworks, AreCleanAndNotMuchLargerThanArms) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-n");
  Moved arms, ours;
  std::set<std::string> done;
  for (const EncnFile& file : encn_files()) {
    const std::string tag(file.variant->tag), name = file.path.parent_path().filename().string();
    if (!done.insert(name + tag).second) continue;
    SCOPED_TRACE(name + " on " + tag);
    const Result<graph::Module> module =
        import_model(read_bytes(file.path.parent_path() / "model.tflite"), {"model.tflite"});
    const Result<CompiledModel> compiled = compile_for(*module, tag);
    ASSERT_TRUE(compiled.ok());
    const std::vector<uint8_t> network = network_of(*compiled);
    expect_clean(network);
    const std::vector<graph::TensorValue> of_container = file.inputs_of(0);
    std::vector<graph::TensorValue> inputs(of_container.size());
    for (size_t i = 0; i < inputs.size(); ++i) inputs[file.inputs[i]] = of_container[i];
    const Moved a = moved(*file.variant, file.bytes(), of_container),
                b = moved(*file.variant, network, inputs);
    if (tag == "ethos-n78-4tops-4ple")
      std::printf("| %s | %zu | %zu | %zu | %zu | %llu | %llu |\n", name.c_str(), a.stream,
                  b.stream, a.weights, b.weights, static_cast<unsigned long long>(a.bytes),
                  static_cast<unsigned long long>(b.bytes));
    arms.bytes += a.bytes, ours.bytes += b.bytes;
    arms.weights += a.weights, ours.weights += b.weights;
    arms.stream += a.stream, ours.stream += b.stream;
  }
  std::printf("all variants: stream %zu %zu, weights %zu %zu, moved %llu %llu\n", arms.stream,
              ours.stream, arms.weights, ours.weights, static_cast<unsigned long long>(arms.bytes),
              static_cast<unsigned long long>(ours.bytes));
  EXPECT_LT(ours.bytes, 2 * arms.bytes);
  EXPECT_LT(ours.weights, 2 * arms.weights);
  EXPECT_LT(ours.stream, 2 * arms.stream);
}

}  // namespace
}  // namespace intarsia::test::ethos_n
