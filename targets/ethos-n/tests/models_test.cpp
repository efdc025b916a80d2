// Every operator that the NPU takes of whole models, on the tensors that the reference evaluator has
// there: within 1 of TFLite's arithmetic, and for a step of the models' own size.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "intarsia/graph.h"
#include "intarsia/import.h"
#include "road.h"
#include "shared_data.h"

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
  const auto folder = shared_folder() / "models" / name;
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
    if (compiled->partitioned.explanation.operators.at(0).member != "ethosn") continue;
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

TEST(Models, OperatorsAreWithinOne) {
  INTARSIA_NEEDS_SHARED("models");
  for (const char* tag : {"ethos-n78-1tops-4ple", "ethos-n78-4tops-2ple", "ethos-n78-4tops-4ple",
                          "ethos-n78-8tops-2ple"}) {
    expect_operators_within_one("kws_ref_model", tag, 10);
    expect_operators_within_one("pretrainedResnet_quant", tag, 15);
    expect_operators_within_one("vww_96_int8", tag, 29);
    expect_operators_within_one("kws_ref_model", std::string(tag) + kRewriting, 12);
    expect_operators_within_one("vww_96_int8", std::string(tag) + kRewriting, 30);
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_n
