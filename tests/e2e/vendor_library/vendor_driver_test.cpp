// The driver of examples/vendor-library hands the network's name and the places of its tensors to the vendor's runtime, for
// which a function of this test stands.
#include <gtest/gtest.h>

#include <cstring>

#include "intarsia/targets/layer_sdk/driver.h"
#include "support/device_end_to_end.h"
#include "support/parsed.h"

namespace intarsia::targets::layer_sdk {
void add_kinds(TargetRegistry& registry);
}

namespace {
std::string executed;
int answer = 0;
}  // namespace

// Adds its two inputs of four numbers.
extern "C" int layer_sdk_execute(const char* network, const void* const* inputs,
                                 void* const* outputs) {
  executed = network;
  for (size_t i = 0; i < 4; ++i)
    static_cast<float*>(outputs[0])[i] =
        static_cast<const float*>(inputs[0])[i] + static_cast<const float*>(inputs[1])[i];
  return answer;
}

namespace intarsia::test {
namespace {

TEST(VendorDriver, HandsTensorsOver) {
  const TargetRegistry registry = registry_beside_c(targets::layer_sdk::add_kinds);
  CompileOptions options;
  options.memory.pools = {{"ram"}};
  const auto model = compile_module(parsed_graph(R"(intarsia.graph sum
func @main(%0, %1) -> (%2) {
  %0 a: f32[1,4]
  %1 b: f32[1,4]
  %2 c: f32[1,4]
  add total(%0, %1) -> (%2)
}
entry @main
)"),
                                    registry, parsed_target(registry, "c + layer-sdk"), options);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  intarsia_layer_sdk sdk;
  ASSERT_EQ(intarsia_layer_sdk_open(&sdk, nullptr), INTARSIA_OK);
  std::vector<graph::TensorValue> inputs(2), outputs;
  for (const float value : {1.0f, 2.0f, 3.0f, 4.0f})
    for (graph::TensorValue& input : inputs) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
      input.insert(input.end(), bytes, bytes + sizeof value);
    }
  const std::map<std::string, intarsia_device*> devices = {{"layer-sdk", &sdk.device}};
  EXPECT_EQ(try_run_compiled(*model, devices, inputs, outputs), "");
  EXPECT_EQ(executed, model->program().emitted.streams.at(0).func);
  float sums[4];
  std::memcpy(sums, outputs.at(0).data(), sizeof sums);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(sums[i], static_cast<float>(2 * (i + 1)));
  answer = 5;
  EXPECT_EQ(try_run_compiled(*model, devices, inputs, outputs),
            "status " + std::to_string(INTARSIA_ERROR_DEVICE_FAULT));
}

TEST(VendorDriver, RefusesStreamsThatAreNotItsOwn) {
  intarsia_layer_sdk sdk;
  ASSERT_EQ(intarsia_layer_sdk_open(&sdk, nullptr), INTARSIA_OK);
  alignas(16) uint8_t bytes[32] = {'L', 'S', 'D', 'K', 1, 0, 0, 0, 1};
  void* bases[] = {bytes};
  const auto run = [&](uint32_t length) {
    const intarsia_stream stream = {bytes, length, nullptr, 0, nullptr};
    return sdk.device.run(&sdk.device, &stream, bases, 1);
  };
  EXPECT_EQ(run(8), INTARSIA_ERROR_DEVICE_MISMATCH);
  EXPECT_EQ(run(28), INTARSIA_ERROR_DEVICE_MISMATCH) << "it ends before its name";
  bytes[16] = 1;
  EXPECT_EQ(run(32), INTARSIA_ERROR_DEVICE_MISMATCH) << "of a region that there is not";
  bytes[8] = 17;
  EXPECT_EQ(run(32), INTARSIA_ERROR_DEVICE_MISMATCH) << "of too many tensors";
}

}  // namespace
}  // namespace intarsia::test
