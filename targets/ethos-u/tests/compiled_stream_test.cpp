// Vela's files as models: through import, partition, plan, package, driver and simulator to TFLite's
// results; and what is refused, with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ethos_u/driver.h"
#include "ethos_u/simulator.h"
#include "shared_data.h"
#include "whole_program.h"

namespace intarsia::test::ethos_u {
namespace {

using ::testing::HasSubstr;

constexpr const char* kStreams = "npu-streams/ethos-u";

std::vector<uint8_t> stream_file(const std::string& model, const std::string& variant) {
  return read_bytes(shared_folder() / kStreams / model / (variant + ".tflite"));
}

std::vector<graph::TensorValue> numbered(const std::filesystem::path& folder, const char* what,
                                         int sample) {
  std::vector<graph::TensorValue> values;
  for (int i = 0;; ++i) {
    const auto path = folder / (what + std::to_string(sample) + "_" + std::to_string(i) + ".bin");
    if (!std::filesystem::exists(path)) return values;
    values.push_back(read_bytes(path));
  }
}

void expect_golden(const std::string& model, const std::string& tag, const std::string& variant) {
  SCOPED_TRACE(model + " " + tag + variant);
  const std::vector<uint8_t> bytes = stream_file(model, tag + variant);
  const Result<graph::Module> imported = import_model(bytes, {"vela.tflite"});
  ASSERT_TRUE(imported.ok()) << imported.error().to_string();
  const Result<CompiledModel> compiled = compile_for(*imported, tag);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  const intarsia_register_bus bus = intarsia_ethos_u_simulator(tag.c_str());
  intarsia_ethos_u npu;
  ASSERT_EQ(intarsia_ethos_u_open_bus(&npu, &bus), INTARSIA_OK);
  const auto folder = shared_folder() / "models" / model;
  for (int sample = 0; sample < 2; ++sample) {
    std::vector<graph::TensorValue> outputs;
    ASSERT_EQ(run_on(*compiled, &npu.device, numbered(folder, "in", sample), outputs), INTARSIA_OK);
    EXPECT_EQ(outputs, numbered(folder, "out", sample)) << "sample " << sample;
  }
}

TEST(CompiledStream, GivesTheGoldens) {
  INTARSIA_NEEDS_SHARED(kStreams);
  expect_golden("kws_ref_model", "ethos-u55-128", "-Shared_Sram-Performance");
  expect_golden("kws_ref_model", "ethos-u55-32", "-Sram_Only-Performance");
  expect_golden("kws_ref_model", "ethos-u65-256", "-Dedicated_Sram-Performance");
  expect_golden("kws_ref_model", "ethos-u65-512", "-Dedicated_Sram-Performance");
  expect_golden("ad01_int8", "ethos-u55-128", "-Shared_Sram-Size");
}

TEST(CompiledStream, TheArenaIsVelas) {
  INTARSIA_NEEDS_SHARED(kStreams);
  const Result<graph::Module> imported = import_model(
      stream_file("kws_ref_model", "ethos-u55-128-Shared_Sram-Performance"), {"vela.tflite"});
  ASSERT_TRUE(imported.ok()) << imported.error().to_string();
  const Result<CompiledModel> compiled = compile_for(*imported, "ethos-u55-128");
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  EXPECT_EQ(compiled->plan.use.at(0).peak, 22080);  // inputs and outputs are inside of it
  EXPECT_EQ(compiled->plan.find(tir::BufferId{0})->offset, 8000);
  EXPECT_EQ(compiled->emitted.streams.at(0).regions.size(), 2u);
}

// The reason why the device does not take the file's operator, after `change` to its payload.
template <typename Change>
std::string refusal(const std::string& target, const Change& change) {
  Result<graph::Module> imported = import_model(
      stream_file("kws_ref_model", "ethos-u55-128-Shared_Sram-Performance"), {"vela.tflite"});
  if (!imported.ok()) return imported.error().to_string();
  graph::Module module = *imported;
  for (const graph::Node& node : module.functions[0].nodes)
    if (node.kind == graph::OpKind::Compiled) {
      const auto bytes_of = [&](size_t operand) -> SharedBytes& {
        const graph::Tensor& tensor = module.functions[0].tensor(node.inputs[operand]);
        return module.constants.at(tensor.constant.at()).bytes;
      };
      std::vector<uint8_t> payload = bytes_of(0), constants = bytes_of(1);
      change(payload, constants);
      bytes_of(0) = std::move(payload);
      bytes_of(1) = std::move(constants);
    }
  const Result<CompiledModel> compiled = compile_for(module, target);
  return compiled.ok() ? "taken" : compiled.error().to_string();
}

TEST(CompiledStream, IsRefusedWithTheReason) {
  INTARSIA_NEEDS_SHARED(kStreams);
  using Bytes = std::vector<uint8_t>;
  const auto same = [](Bytes&, Bytes&) {};
  EXPECT_EQ(refusal("ethos-u55-128", same), "taken");
  EXPECT_THAT(refusal("ethos-u55-256", same),
              HasSubstr("it was compiled for ethos-u55-128, the device is ethos-u55-256"));
  EXPECT_THAT(refusal("c", same), HasSubstr("was compiled for ethos-u, and only that can run it"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[15] = 0x20; }),
              HasSubstr("it was compiled for architecture 2.0.6"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[11] = 0x20; }),
              HasSubstr("it was compiled for ethos-u85-128, an architecture that is neither "
                        "simulated nor driven"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[28 + 3] = 0x7F; }),
              HasSubstr("its payload is cut short"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[0] = 0; }),
              HasSubstr("does not begin with the driver's magic number"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[32 + 2] = 5; }),
              HasSubstr("names region 5, for which there is no memory"));
  EXPECT_THAT(refusal("ethos-u55-128", [](Bytes& payload, Bytes&) { payload[32 + 4 + 6] = 1; }),
              HasSubstr("OP_DMA_START at byte 0x20 of its stream has its source in 0x11ba0"));
  // The last convolution has its weights in the constants, at 0x8c50.
  const auto far_weights = [](Bytes& payload, Bytes&) {
    const Bytes base = {0x20, 0x40, 0, 0, 0x50, 0x8C, 0, 0};
    const auto at = std::search(payload.begin(), payload.end(), base.begin(), base.end());
    ASSERT_NE(at, payload.end());
    at[7] = 9;
  };
  EXPECT_THAT(refusal("ethos-u55-128", far_weights),
              HasSubstr("OP_CONV at byte 0x65c of its stream has its weights in "
                        "0x9008c50..0x9008fe0 of region 0, "
                        "which has 0x8fe0 bytes"));
}

}  // namespace
}  // namespace intarsia::test::ethos_u
