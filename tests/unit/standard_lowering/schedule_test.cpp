// What shares memory, what is copied, and how functions are named.
#include <algorithm>

#include <gmock/gmock.h>

#include "lowering_testing.h"

namespace intarsia::testing {

namespace {

// relu nodes and reshapes on 2x3 tensors, by hand: text -> function.
class ModuleMaker {
 public:
  ModuleMaker() {
    module_.name = "m";
    module_.entry = "main";
    function_.name = "main";
  }
  graph::TensorId tensor(Shape shape) {
    function_.tensors.push_back({"t", DataType::Int8, std::move(shape), {{0.5f}, {0}, 0}, {}});
    return {static_cast<int32_t>(function_.tensors.size()) - 1};
  }
  graph::TensorId input(Shape shape) {
    function_.inputs.push_back(tensor(std::move(shape)));
    return function_.inputs.back();
  }
  graph::TensorId constant(Shape shape) {
    const graph::TensorId id = tensor(shape);
    module_.constants.push_back(
        {"c", std::vector<uint8_t>(static_cast<size_t>(element_count(shape)), uint8_t{7})});
    function_.tensors[id.at()].constant = {static_cast<int32_t>(module_.constants.size()) - 1};
    return id;
  }
  graph::TensorId relu(graph::TensorId x, const std::string& name = "relu") {
    return node(graph::OpKind::Relu, graph::ReluAttrs{}, x, function_.tensor(x).shape, name);
  }
  graph::TensorId reshape(graph::TensorId x, Shape shape) {
    return node(graph::OpKind::Reshape, graph::ReshapeAttrs{shape}, x, shape, "reshape");
  }
  graph::Module finish(std::vector<graph::TensorId> outputs) {
    function_.outputs = std::move(outputs);
    module_.functions.push_back(function_);
    const Result<void> verified = graph::verify(module_);
    EXPECT_TRUE(verified.ok()) << (verified.ok() ? "" : verified.error().to_string());
    return module_;
  }

 private:
  graph::TensorId node(graph::OpKind kind, graph::Attributes attributes, graph::TensorId x,
                       Shape shape, const std::string& name) {
    const graph::TensorId result = tensor(std::move(shape));
    function_.nodes.push_back({kind, unique(name), std::move(attributes), {x}, {result}, {}});
    return result;
  }
  std::string unique(std::string name) {
    while (std::any_of(function_.nodes.begin(), function_.nodes.end(),
                       [&](const graph::Node& n) { return n.name == name; })) {
      name += "'";
    }
    return name;
  }
  graph::Module module_;
  graph::Function function_;
};

tir::LoweredFunction lowered(const graph::Module& module) {
  Result<tir::LoweredFunction> result = standard_graph_to_tir(module, module.entry_function());
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
  return result.ok() ? *result : tir::LoweredFunction{};
}

std::vector<std::string> names(const tir::LoweredFunction& lowered) {
  std::vector<std::string> result;
  for (const tir::Func& func : lowered.module.funcs) result.push_back(func.name);
  return result;
}

size_t local_count(const tir::LoweredFunction& lowered) {
  const tir::Func& entry = *lowered.module.find(lowered.entry);
  return static_cast<size_t>(
      std::count_if(entry.buffers.begin(), entry.buffers.end(),
                    [](const tir::Buffer& b) { return b.scope == tir::Scope::Local; }));
}

void expect_right(const graph::Module& module) {
  const tir::LoweredFunction function = lowered(module);
  tir::Module whole = function.module;
  whole.entry = function.entry;
  const Result<void> verified = tir::verify(whole);
  EXPECT_TRUE(verified.ok()) << (verified.ok() ? "" : verified.error().to_string());
  Random random(5);
  const Values inputs = random_inputs(random, module);
  EXPECT_EQ(interpret(function, inputs), evaluate(module, inputs));
}

TEST(Schedule, AReshapeBetweenOperatorsCostsNothing) {
  ModuleMaker m;
  const graph::Module module =
      m.finish({m.relu(m.reshape(m.relu(m.input({2, 3}), "first"), {6}), "second")});
  const tir::LoweredFunction function = lowered(module);
  EXPECT_THAT(names(function), ::testing::ElementsAre("first", "second", "main"));
  EXPECT_EQ(local_count(function), 1u);
  expect_right(module);
}

TEST(Schedule, AReshapedResultIsWrittenToTheOutputAtOnce) {
  ModuleMaker m;
  const graph::Module module = m.finish({m.reshape(m.relu(m.input({2, 3})), {3, 2})});
  EXPECT_THAT(names(lowered(module)), ::testing::ElementsAre("relu", "main"));
  EXPECT_EQ(local_count(lowered(module)), 0u);
  expect_right(module);
}

TEST(Schedule, AReshapedInputIsReadAsItIs) {
  ModuleMaker m;
  const graph::Module module = m.finish({m.relu(m.reshape(m.input({2, 3}), {3, 2}))});
  EXPECT_THAT(names(lowered(module)), ::testing::ElementsAre("relu", "main"));
  expect_right(module);
}

TEST(Schedule, AnOutputThatIsAnInputIsCopied) {
  ModuleMaker m;
  const graph::TensorId x = m.input({2, 3});
  const graph::Module module = m.finish({m.reshape(x, {6}), m.relu(x)});
  EXPECT_THAT(names(lowered(module)), ::testing::ElementsAre("relu", "main_copy_output0", "main"));
  expect_right(module);
}

TEST(Schedule, ASecondOutputOfTheSameBytesIsCopied) {
  ModuleMaker m;
  const graph::TensorId y = m.relu(m.input({2, 3}));
  const graph::Module module = m.finish({m.reshape(y, {6}), y});
  EXPECT_THAT(names(lowered(module)), ::testing::ElementsAre("relu", "main_copy_output1", "main"));
  expect_right(module);
}

TEST(Schedule, AResultThatIsBothOutputAndOperandStaysInTheOutput) {
  ModuleMaker m;
  const graph::TensorId y = m.relu(m.input({2, 3}));
  const graph::Module module = m.finish({y, m.relu(m.reshape(y, {6}))});
  EXPECT_EQ(local_count(lowered(module)), 0u);
  expect_right(module);
}

TEST(Schedule, AReshapedConstantIsMovedOnce) {
  ModuleMaker m;
  m.input({2, 3});
  const graph::Module module = m.finish({m.relu(m.reshape(m.constant({2, 3}), {6}))});
  EXPECT_THAT(names(lowered(module)), ::testing::ElementsAre("reshape", "relu", "main"));
  expect_right(module);
}

TEST(Schedule, NamesBecomeIdentifiersAndStayApart) {
  ModuleMaker m;
  graph::TensorId x = m.input({2, 3});
  x = m.relu(x, "block/relu:0");
  x = m.relu(x, "block_relu_0");
  x = m.relu(x, "1st");
  x = m.relu(x, "main");
  EXPECT_THAT(names(lowered(m.finish({x}))),
              ::testing::ElementsAre("block_relu_0", "block_relu_0_2", "_1st", "main_2", "main"));
}

TEST(Schedule, ElementwiseFunctionsMayTakeTheirInputsPlace) {
  ModuleMaker m;
  const tir::LoweredFunction function = lowered(m.finish({m.relu(m.input({2, 3}))}));
  EXPECT_EQ(function.module.funcs[0].in_place, std::vector{(tir::InPlace{0, 1})});
}

}  // namespace

}  // namespace intarsia::testing
