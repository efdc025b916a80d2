// Arm's compiled networks as models: through import, partition, plan, package, driver and simulator;
// and what is refused, with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encn_files.h"
#include "end_to_end.h"
#include "network_files.h"
#include "shared_data.h"

namespace intarsia::test::ethos_n {
namespace {

using testing::HasSubstr;

TEST(CompiledNetwork, GivesTheReference) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-n");
  size_t runs = 0;
  for (const EncnFile& file : encn_files()) {
    if (file.tolerance != 0) continue;
    const Result<graph::Module> model = imported(file.bytes());
    ASSERT_TRUE(model.ok()) << file.name << ": " << model.error().to_string();
    const std::string tag(file.variant->tag);
    const Result<CompiledModel> compiled = compile_for(*model, tag);
    ASSERT_TRUE(compiled.ok()) << file.name << ": " << compiled.error().to_string();
    EXPECT_EQ(network_of(*compiled), file.bytes()) << file.name;
    std::vector<graph::TensorValue> outputs;
    ASSERT_EQ(run_on(tag, *compiled, file.inputs_of(0), outputs), "") << file.name;
    ASSERT_EQ(outputs.size(), file.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_EQ(outputs[i], file.expected(0, i)) << file.name;
    ++runs;
  }
  EXPECT_GE(runs, 84u);
}

TEST(CompiledNetwork, IsForOneVariant) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-n");
  const EncnFile file = encn_files().front();
  const std::string other =
      file.variant->tag == "ethos-n78-8tops-2ple" ? "ethos-n78-1tops-4ple" : "ethos-n78-8tops-2ple";
  const Result<CompiledModel> compiled = compile_for(*imported(file.bytes()), other);
  ASSERT_FALSE(compiled.ok());
  EXPECT_THAT(compiled.error().to_string(),
              HasSubstr("it was compiled for " + std::string(file.variant->tag) +
                        ", the device is " + other));
}

// Two images of sixteen channels behind one another: transfers and no kernel.
graph::Module concatenation() {
  graph::Module module;
  module.name = module.entry = "main";
  graph::Function& main = module.functions.emplace_back();
  main.name = "main";
  for (const auto& [name, channels] :
       {std::pair("a", 16), std::pair("b", 16), std::pair("both", 32)})
    main.tensors.push_back({.name = name,
                            .type = DataType::Int8,
                            .shape = {1, 9, 5, channels},
                            .quantization = {{0.5f}, {3}}});
  const graph::TensorId a{0}, b{1}, both{2};
  main.nodes = {{graph::OpKind::Concat, "concat", {}, {a, b}, {both}, ""}};
  main.nodes[0].attributes = graph::AxisAttrs{3};
  main.inputs = {a, b};
  main.outputs = {both};
  return module;
}

// Only kernels tell for which variant a network was made; the target that is asked for is believed.
TEST(CompiledNetwork, OfTransfersAloneNamesNoVariant) {
  std::vector<graph::TensorValue> inputs(2, graph::TensorValue(9 * 5 * 16));
  for (size_t i = 0; i < 2; ++i)
    for (size_t k = 0; k < inputs[i].size(); ++k)
      inputs[i][k] = static_cast<uint8_t>(7 * k + 100 * i);
  for (const char* tag : {"ethos-n78-1tops-4ple", "ethos-n78-8tops-2ple"}) {
    const Result<CompiledModel> made = compile_for(concatenation(), tag);
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    const std::vector<uint8_t> network = network_of(*made);
    TargetRegistry registry;
    targets::ethos_n::add_kinds(registry);
    EXPECT_THAT(**registry.kind("ethosn").disassemble(network),
                HasSubstr("for a variant that no PLE kernel names"));
    const Result<CompiledModel> compiled = compile_for(*imported(network), tag);
    ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
    std::vector<graph::TensorValue> outputs;
    ASSERT_EQ(run_on(tag, *compiled, inputs, outputs), "");
    ASSERT_EQ(outputs.at(0).size(), 9u * 5 * 32);
    for (size_t k = 0; k < outputs[0].size(); ++k)
      ASSERT_EQ(outputs[0][k], inputs[k % 32 / 16][k / 32 * 16 + k % 16]) << k;
  }
}

TEST(CompiledNetwork, ThatIsDamagedIsNoModel) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-n");
  expect_damaged_is_no_model(encn_files().front().bytes());
}

TEST(CompiledNetwork, IsReadable) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-n");
  for (const EncnFile& file : encn_files()) {
    SCOPED_TRACE(file.name);
    expect_readable(file.bytes(), std::string(file.variant->tag));
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_n
