// Every operator that the NPU takes of whole models, on the tensors that the reference evaluator has
// there: within 1 of TFLite's arithmetic, and for a step of the models' own size.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "end_to_end.h"
#include "intarsia/graph.h"
#include "intarsia/import.h"
#include "integer_model.h"
#include "made_operators.h"
#include "recorded_data.h"
#include "trunk.h"

namespace intarsia::test::ethos_n {
namespace {

// The node alone, with the values its operands have.
struct Single {
  graph::Module module;
  std::vector<graph::TensorId> inputs;  // of the model
};

Single single(const graph::Module& model, const graph::Node& node) {
  Single result;
  const graph::Function& main = model.entry_function();
  result.module = model;
  graph::Function& only = result.module.functions.at(0);
  only = main;
  only.nodes = {node};
  only.inputs.clear();
  for (const graph::TensorId id : node.inputs)
    if (id.valid() && !main.tensor(id).constant.valid() &&
        std::find(only.inputs.begin(), only.inputs.end(), id) == only.inputs.end())
      only.inputs.push_back(id);
  only.outputs = node.outputs;
  result.inputs = only.inputs;
  return result;
}

struct Seen {
  const graph::Function* main;
  std::map<int32_t, graph::TensorValue> values;
};

void expect_operators_within_one(const std::string& name, const std::string& target,
                                 size_t least_taken) {
  const auto folder = recorded_folder(name);
  const Result<graph::Module> model =
      import_model(read_bytes(folder / "model.tflite"), {"model.tflite"});
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const graph::Function& main = model->entry_function();
  Seen seen{&main, {}};
  seen.values[main.inputs.at(0).index] = read_bytes(folder / "in0_0.bin");
  graph::Evaluator evaluator(*model);
  ASSERT_TRUE(evaluator
                  .run(
                      {seen.values[main.inputs[0].index]},
                      [](void* context, const graph::Node& node, size_t output,
                         const graph::TensorValue& value) {
                        static_cast<Seen*>(context)->values[node.outputs.at(output).index] = value;
                      },
                      &seen)
                  .ok());
  size_t taken = 0;
  for (const graph::Node& node : main.nodes) {
    const Single one = single(*model, node);
    const Result<CompiledModel> compiled = compile_for(one.module, target);
    ASSERT_TRUE(compiled.ok()) << node.name << ": " << compiled.error().to_string();
    if (compiled->partitioned.explanation.operators.at(0).device != "ethosn") continue;
    ++taken;
    std::vector<graph::TensorValue> inputs, outputs;
    for (const graph::TensorId id : one.inputs) inputs.push_back(seen.values.at(id.index));
    ASSERT_EQ(run_on(target, *compiled, inputs, outputs), "") << node.name;
    const graph::TensorValue& expected = seen.values.at(node.outputs[0].index);
    ASSERT_EQ(outputs.at(0).size(), expected.size());
    int most = 0;
    for (size_t i = 0; i < expected.size(); ++i)
      most = std::max(
          most, std::abs(static_cast<int8_t>(outputs[0][i]) - static_cast<int8_t>(expected[i])));
    EXPECT_LE(most, 1) << name << ": " << node.name << " on " << target;
  }
  std::printf("%s on %s: %zu of %zu operators\n", name.c_str(), target.c_str(), taken,
              main.nodes.size());
  EXPECT_GE(taken, least_taken) << name << " on " << target;
}

// Operators that the NPU takes at least, as they are and where it may rewrite them.
struct Case {
  const char* model;
  size_t least, least_rewriting;
};

class Models : public ::testing::TestWithParam<Case> {};

TEST_P(Models, OperatorsAreWithinOne) {
  const auto& [model, least, least_rewriting] = GetParam();
  for (const char* tag : kTags) {
    expect_operators_within_one(model, tag, least);
    expect_operators_within_one(model, std::string(tag) + kRewriting, least_rewriting);
  }
}

std::vector<Case> cases() {
  std::vector<Case> cases = {
      {"separable_s8", 10, 11}, {"residual_s8", 11, 12}, {"autoencoder_s8", 6, 6}};
  for (const Case& beside : {Case{"kws_ref_model", 10, 12}, Case{"pretrainedResnet_quant", 15, 15},
                             Case{"vww_96_int8", 29, 30}})
    if (!recorded_folder(beside.model).empty()) cases.push_back(beside);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Models, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.model); });

// Layer behind layer the NPU rounds as it does: not TFLite's bytes, but those of the documented arithmetic.
TEST(Networks, AreExactlyTheDocumentedArithmetic) {
  for (const char* name : {"separable_s8", "residual_s8"}) {
    const auto folder = golden_folder() / "models" / name;
    const Result<graph::Module> model =
        import_model(read_bytes(folder / "model.tflite"), {"model.tflite"});
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    const graph::Module trunk = trunk_of(*model);
    EXPECT_EQ(trunk.functions.at(0).nodes.size(), 9u) << name;
    for (const char* tag : kTags) {
      const Result<CompiledModel> compiled = compile_for(trunk, tag);
      ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
      for (const RecordedSample& sample : recorded_samples(folder)) {
        std::vector<graph::TensorValue> outputs;
        ASSERT_EQ(run_on(tag, *compiled, sample.inputs, outputs), "") << name << " on " << tag;
        EXPECT_EQ(outputs, integer_model(trunk, sample.inputs)) << name << " on " << tag;
      }
    }
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_n
