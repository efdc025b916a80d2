// Layers that run together, stripe by stripe: every byte is that of an integer model and of the same network layer
// by layer, and DRAM sees no more bytes than then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encode/generate.h"
#include "end_to_end.h"
#include "intarsia/targets/ethos_n/container.h"
#include "intarsia/targets/ethos_n/run.h"
#include "intarsia/targets/ethos_n/stream.h"
#include "integer_model.h"
#include "legalise/legalise.h"
#include "made_chains.h"

#ifndef INTARSIA_CHAINS
#define INTARSIA_CHAINS 100
#endif

namespace intarsia::test::ethos_n {
namespace {

namespace sim = simulators::ethos_n;
namespace ours = targets::ethos_n;
using intarsia::testing::Random;

// A variant with that many KiB in a bank; 0: as many as it has.
struct Device {
  ours::Variant compiled;
  sim::Variant simulated;
};
Device device(const std::string& tag, int64_t kib = 0) {
  Device made{{}, *sim::find_variant(tag)};
  for (const ours::Variant& variant : ours::variants())
    if (variant.tag == tag) made.compiled = variant;
  if (kib != 0) {
    made.compiled.emc_bytes = kib * 1024;
    made.simulated.emc_bytes = static_cast<uint32_t>(kib * 1024);
  }
  return made;
}

struct Ran {
  std::string problem;
  bool is_refused = false;
  ours::GeneratedNetwork network;
  std::vector<std::vector<uint8_t>> outputs;
  int64_t moved = 0;
  size_t stream_bytes = 0;
};

Ran run(const Device& device, const graph::Module& module,
        const std::vector<graph::TensorValue>& inputs, bool allows_cascades) {
  Ran ran;
  const graph::Function& main = module.entry_function();
  ours::Legaliser legaliser(device.compiled, module, main, main.inputs, main.outputs);
  for (const graph::Node& node : main.nodes)
    if (const ours::Reason reason = legaliser.add(node)) {
      ran.is_refused = true;
      ran.problem = node.name + ": " + *reason;
      return ran;
    }
  ran.network = ours::generate(device.compiled, legaliser.finish(), {allows_cascades});
  const sim::Outcome outcome = sim::run_network(device.simulated, ran.network.bytes, inputs,
                                                ran.outputs, {.max_macs = uint64_t{1} << 36});
  if (outcome.fault) ran.problem = outcome.fault->to_string();
  sim::Network network;
  if (sim::read_network(ran.network.bytes, network)) ran.problem = "the container cannot be read";
  sim::Stream stream;
  if (sim::read_stream(network.command_stream(), stream)) ran.problem = "the stream cannot be read";
  ran.stream_bytes = network.command_stream().size();
  ran.moved = static_cast<int64_t>(outcome.dma_read_bytes + outcome.dma_written_bytes);
  for (const sim::CommandRecord& command : stream.queues[static_cast<size_t>(sim::Queue::DmaRd)])
    if (command.command == sim::Command::LoadPleCodeIntoSram) ran.moved += sim::kKernelBytes;
  return ran;
}

size_t first_difference(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] != b[i]) return i;
  return a.size() == b.size() ? SIZE_MAX : std::min(a.size(), b.size());
}

struct Both {
  Ran together, apart;
};
// Checked: same bytes, no more of them moved, and as many as were planned.
Both run_both(const Device& device, const graph::Module& module,
              const std::vector<graph::TensorValue>& inputs,
              const std::vector<graph::TensorValue>& expected) {
  Both both{run(device, module, inputs, true), run(device, module, inputs, false)};
  EXPECT_EQ(both.together.is_refused, both.apart.is_refused);
  if (both.together.is_refused) return both;
  for (const Ran* ran : {&both.together, &both.apart}) {
    const char* how = ran == &both.together ? "together" : "apart";
    EXPECT_EQ(ran->problem, "") << how;
    EXPECT_EQ(ran->moved, ran->network.traffic.bytes) << how;
    EXPECT_EQ(ran->outputs.size(), expected.size()) << how;
    for (size_t i = 0; i < std::min(expected.size(), ran->outputs.size()); ++i)
      EXPECT_EQ(first_difference(ran->outputs[i], expected[i]), SIZE_MAX)
          << how << ", output " << i;
  }
  EXPECT_LE(both.together.moved, both.apart.moved);
  EXPECT_TRUE(both.apart.network.cascades.empty());
  return both;
}

// SRAM of a tenth, so that small maps are large beside it.
TEST(RandomChains, AreTheSameTogetherAndApart) {
  Random random(77);
  int taken = 0, cascaded = 0;
  int64_t together = 0, apart = 0;
  for (int i = 0; i < INTARSIA_CHAINS; ++i) {
    const graph::Module module = random_chain(random);
    ASSERT_TRUE(graph::verify(module).ok()) << graph::verify(module).error().to_string();
    const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
    const std::vector<graph::TensorValue> expected = integer_model(module, inputs);
    const int64_t kib = random.pick<int64_t>({13, 14, 16, 20});
    for (const char* tag : kTags) {
      SCOPED_TRACE("chain " + std::to_string(i) + " on " + tag + " with " + std::to_string(kib) +
                   " KiB a bank");
      const Both both = run_both(device(tag, kib), module, inputs, expected);
      if (::testing::Test::HasFailure()) FAIL() << graph::print(module);
      taken += both.together.is_refused ? 0 : 1;
      cascaded += both.together.network.cascades.empty() ? 0 : 1;
      together += both.together.moved, apart += both.apart.moved;
    }
  }
  std::printf("%d of %d taken, %d cascaded; %lld bytes moved together, %lld apart\n", taken,
              4 * INTARSIA_CHAINS, cascaded, static_cast<long long>(together),
              static_cast<long long>(apart));
  EXPECT_GT(taken, 3 * INTARSIA_CHAINS);
  EXPECT_GT(cascaded, 2 * INTARSIA_CHAINS);
}

// All rows of the result from one stripe of the input and the few rows of the next.
TEST(OneLayer, OfAFilterWithoutPadding) {
  Random random(12);
  const graph::Module module = Chain(random, 46, 29, 33).depthwise(7, 1, false).finish();
  const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
  const std::vector<graph::TensorValue> expected = integer_model(module, inputs);
  for (const char* tag : kTags)
    for (const int64_t kib : {13, 14, 16, 18, 20, 22, 24, 28}) {
      SCOPED_TRACE(std::string(tag) + " with " + std::to_string(kib));
      run_both(device(tag, kib), module, inputs, expected);
    }
}

// Stripes, each by itself, without an MCE.
TEST(OneLayer, OfThePleAlone) {
  Random random(13);
  Chain chain(random, 70, 30, 33);
  const graph::TensorId input = chain.last();
  const graph::Module module = chain.leaky_relu().add(input).finish();
  const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
  for (const char* tag : kTags)
    run_both(device(tag, 13), module, inputs, integer_model(module, inputs));
}

// ---- maps larger than SRAM, as it is ----

// Some of the variants, and all where there is time.
std::vector<std::string> devices() {
  if (INTARSIA_CHAINS > 100) return {std::begin(kTags), std::end(kTags)};
  return {kTags[0], kTags[2]};
}

// `most_percent`: of the bytes that are moved layer by layer.
void expect_streamed(const std::string& what, const graph::Module& module, int64_t most_percent) {
  ASSERT_TRUE(graph::verify(module).ok())
      << what << ": " << graph::verify(module).error().to_string();
  Random random(9);
  const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
  const std::vector<graph::TensorValue> expected = integer_model(module, inputs);
  for (const std::string& tag : devices()) {
    SCOPED_TRACE(what + " on " + tag);
    const Both both = run_both(device(tag), module, inputs, expected);
    ASSERT_FALSE(both.together.is_refused) << both.together.problem;
    EXPECT_LE(both.together.moved * 100, both.apart.moved * most_percent)
        << both.together.moved << " of " << both.apart.moved;
    EXPECT_FALSE(both.together.network.cascades.empty());
  }
}

TEST(LargeChains, OfConvolutions) {
  Random random(1);
  expect_streamed("two 3x3, 224x224", Chain(random, 224, 224, 4).conv(48, 3).conv(4, 3).finish(),
                  25);
  expect_streamed("five, odd sizes, valid",
                  Chain(random, 321, 157, 3)
                      .conv(32, 1)
                      .conv(8, 3, 1, false)
                      .conv(16, 3)
                      .conv(32, 1)
                      .conv(4, 1)
                      .finish(),
                  25);
}

TEST(LargeChains, OfDepthwiseAndStrides) {
  Random random(2);
  expect_streamed("the beginning of a mobilenet, 320x240",
                  Chain(random, 320, 240, 3)
                      .conv(32, 3, 2)
                      .depthwise(3)
                      .conv(48, 1)
                      .depthwise(3, 2)
                      .conv(64, 1)
                      .finish(),
                  45);
  expect_streamed("pools and wide windows",
                  Chain(random, 226, 230, 4)
                      .conv(48, 1)
                      .depthwise(7, 1, false)
                      .max_pool()
                      .depthwise(5)
                      .max_pool()
                      .finish(),
                  55);
}

TEST(LargeChains, WithResiduals) {
  Random random(3);
  Chain chain(random, 224, 224, 4);
  chain.conv(48, 1);
  const graph::TensorId around = chain.last();
  chain.conv(16, 1).depthwise(3).conv(48, 1).add(around);
  const graph::TensorId again = chain.relu().last();
  expect_streamed("two additions", chain.depthwise(3).add(again).conv(4, 1).finish(), 60);
  // The second operand comes from DRAM: it is read before and behind.
  Chain outer(random, 224, 224, 48);
  const graph::TensorId input = outer.last();
  expect_streamed("an addition of the input",
                  outer.depthwise(3).leaky_relu().add(input).conv(16, 1).finish(), 80);
}

TEST(LargeChains, WhoseWeightsAreLargerThanSram) {
  Random random(5);
  expect_streamed("weights come in parts and maps stay",
                  Chain(random, 7, 7, 1024).conv(2048, 1).conv(64, 1).finish(), 95);
}

TEST(LargeChains, OfVeryManyLayers) {
  Random random(6);
  Chain chain(random, 320, 224, 16);
  for (int i = 0; i < (INTARSIA_CHAINS > 100 ? 30 : 8); ++i) chain.depthwise(3).conv(16, 1);
  expect_streamed("many layers", chain.finish(), 50);
}

TEST(LargeChains, WhoseMapsAlsoLeave) {
  Random random(4);
  expect_streamed("a map in the middle is an output",
                  Chain(random, 224, 224, 4).conv(48, 1).output().depthwise(3).conv(16, 1).finish(),
                  60);
}

// The same scales everywhere: those of a chain's results grow.
graph::Module levelled(graph::Module module) {
  graph::Function& main = module.functions[0];
  for (graph::Tensor& tensor : main.tensors)
    std::fill(tensor.quantization.scale.begin(), tensor.quantization.scale.end(), 1.0f);
  const auto set = [&](graph::TensorId id) {
    std::vector<float>& scale = main.tensors[static_cast<size_t>(id.index)].quantization.scale;
    std::fill(scale.begin(), scale.end(), 1.0f / 512);
  };
  for (const graph::Node& node : main.nodes)
    for (size_t i = 1; node.kind == graph::OpKind::Conv2d && i < node.inputs.size(); ++i)
      set(node.inputs[i]);
  return module;
}

// With more constants than the driver's table has buffers these share one, and other maps another.
TEST(LongNetworks, OfMoreLayersThanBuffersAreExact) {
  Random random(9);
  Chain chain(random, 8, 8, 16);
  for (int i = 0; i < 270; ++i) {
    const graph::TensorId before = chain.last();
    chain.conv(16, i % 3 == 0 ? 3 : 1);
    if (i % 5 == 0) chain.add(before);
  }
  const graph::Module module = levelled(chain.finish());
  const std::string tag = "ethos-n78-4tops-4ple";
  const Result<CompiledModel> compiled = compile_for(module, tag);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
  std::vector<graph::TensorValue> outputs;
  ASSERT_EQ(run_on(tag, *compiled, inputs, outputs), "");
  EXPECT_EQ(outputs, integer_model(module, inputs));
}

TEST(LongNetworks, WithMoreOutputsThanBuffersAreRefused) {
  Random random(9);
  Chain chain(random, 8, 8, 16);
  for (int i = 0; i < 260; ++i) chain.conv(16, 1).output();
  const Result<CompiledModel> compiled =
      compile_for(levelled(chain.finish()), "ethos-n78-4tops-4ple");
  ASSERT_FALSE(compiled.ok());
  EXPECT_THAT(
      compiled.error().to_string(),
      ::testing::HasSubstr("it has 1 inputs and 260 outputs, and the driver takes 256 buffers"));
}

}  // namespace
}  // namespace intarsia::test::ethos_n
