// Compiled models in this process against the reference evaluator.
#include "intarsia/engine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "intarsia/graph/tensor_values.h"
#include "lowering_testing.h"
#include "support/parsed.h"
#include "support/random_network.h"

namespace intarsia::testing {
namespace {

using ::testing::HasSubstr;

struct Registries {
  TargetRegistry targets;
  EngineRegistry engine;
  Registries() {
    add_builtin_targets(targets);
    add_builtin_engine(engine);
  }
};
const Registries& registries() {
  static const Registries all;
  return all;
}

CompiledModel compiled(const graph::Module& module, const std::string& target,
                       const CompileOptions& options = {}) {
  const Result<TargetSpec> spec = parse_target(registries().targets.catalogue(), target);
  INTARSIA_CHECK(spec.ok(), "tests name targets that exist");
  Result<CompiledModel> model = compile_module(module, registries().targets, *spec, options);
  EXPECT_TRUE(model.ok()) << model.error().to_string();
  return std::move(model).value();
}

std::vector<std::span<const uint8_t>> spans(const Values& values) {
  return {values.begin(), values.end()};
}

void expect_same(const graph::Module& module, const std::vector<Engine::Bytes>& actual,
                 const Values& expected) {
  const graph::Function& entry = module.entry_function();
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_TRUE(same_values(entry.tensor(entry.outputs[i]).type, actual[i], expected[i]))
        << graph::print(module);
}

// Several inferences on one state, and again from the beginning.
void expect_reference(const graph::Module& module, const CompiledModel& model, Random& random) {
  Result<Engine> engine = Engine::make(model, registries().engine);
  ASSERT_TRUE(engine.ok()) << engine.error().to_string();
  for (int start = 0; start < 2; ++start) {
    engine.value().reset();
    graph::Evaluator evaluator(module);
    for (int run = 0; run < 2; ++run) {
      const Values inputs = random_inputs(random, module);
      const Result<Values> expected = evaluator.run(inputs);
      ASSERT_TRUE(expected.ok());
      const Result<std::vector<Engine::Bytes>> outputs = engine.value().run(spans(inputs));
      ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
      expect_same(module, *outputs, *expected);
    }
  }
}

class Operators : public ::testing::TestWithParam<Case> {};

TEST_P(Operators, EqualTheReference) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const graph::Module module = lowerable_operator(random, GetParam());
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const char* target : {"c", "c -mcpu=cortex-m4", "c -mcpu=cortex-m55"})
      expect_reference(module, compiled(module, target), random);
  }
}

INSTANTIATE_TEST_SUITE_P(Standard, Operators, ::testing::ValuesIn(supported_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Many, Operators, ::testing::ValuesIn(cases_of_many_results()), case_name);

class Networks : public ::testing::TestWithParam<const char*> {};

TEST_P(Networks, EqualTheReference) {
  Random random(7);
  for (int i = 0; i < 40; ++i) {
    const graph::Module module =
        random_network(random, i % 3 == 0 ? DataType::Int16 : DataType::Int8);
    expect_reference(module, compiled(module, GetParam()), random);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Networks,
                         ::testing::Values("c", "c -mcpu=cortex-m0", "c -mcpu=cortex-m4",
                                           "c -mcpu=cortex-m55", "c -mcpu=cortex-m55 + ethos-u",
                                           "c + ethos-u -product=u65 -macs=512", "c + example-npu",
                                           "first: c; second: c"));

graph::Module digits_like() {
  Random random(11);
  return random_network(random, DataType::Int8);
}

// Fewer rows at a time, so that buffers share bytes that they otherwise have for themselves.
TEST(Engine, RowTilesEqualTheReference) {
  Random random(3);
  int tiled = 0;
  for (int i = 0; i < 300 && tiled < 20; ++i) {
    const graph::Module module = random_network(random, DataType::Int8, {.most_images = 1});
    CompiledModel whole = compiled(module, "c");
    CompileOptions options;
    options.lowering.ram_budget = whole.program().plan.use[0].peak * 3 / 4;
    const Result<TargetSpec> spec = parse_target(registries().targets.catalogue(), "c");
    const Result<CompiledModel> model =
        compile_module(module, registries().targets, *spec, options);
    if (!model.ok()) continue;  // cannot be met
    tiled += model->program().ram_budget && !model->program().ram_budget->tiled.empty() ? 1 : 0;
    expect_reference(module, *model, random);
  }
  EXPECT_GE(tiled, 20);
}

// Memory is as it was planned: buffers that share bytes by mistake change results.
TEST(Engine, AWrongPlanShows) {
  Random random(5);
  const graph::Module module = digits_like();
  CompiledModel model = compiled(module, "c");
  Plan& plan = model.program().plan;
  ASSERT_GT(plan.placements.size(), 3u);
  for (Placement& place : plan.placements) place.offset = 0;
  Result<Engine> engine = Engine::make(model, registries().engine);
  ASSERT_TRUE(engine.ok());
  bool differs = false;
  for (int i = 0; i < 5; ++i) {
    const Values inputs = random_inputs(random, module);
    const Result<std::vector<Engine::Bytes>> outputs = engine.value().run(spans(inputs));
    differs |= *outputs != evaluate(module, inputs);
  }
  EXPECT_TRUE(differs);
}

// Outputs that are state: of the host or of an NPU, written after it was read or never, named twice.
TEST(Engine, StateMayBeAnOutput) {
  const Result<graph::Module> module = graph::parse(R"(intarsia.graph m
const @0 first = i8[1, 2, 3, 4, 5, 6, 7, 8]
func @main(%0) -> (%1, %3, %1, %4) {
  %0 x: i8[1,1,1,8] q(0.5:3)
  %1 sum: i8[1,1,1,8] q(0.5:3) variable
  %2 before: i8[1,1,1,8] q(0.5:3)
  %3 after: i8[1,1,1,8] q(0.5:3)
  %4 kept: i8[1,1,1,8] q(0.5:3) variable initial @0
  read_variable r(%1) -> (%2)
  add s(%2, %0) -> (%3)
  assign_variable a(%3) -> (%1)
}
entry @main
)");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  Random random(11);
  for (const char* target : {"c", "ethos-u55-128"})
    expect_reference(*module, compiled(*module, target), random);
}

// An activation does not hide that something before it went wrong.
TEST(Engine, WhatIsNotANumberPassesActivations) {
  for (const char* activation : {"relu", "relu6", "relu_n1_to_1"})
    for (const std::string& step : {std::string("relu r(%0)"), std::string("add r(%0, %0)"),
                                    std::string("max_pool2d r(%0)")}) {
      const Result<graph::Module> module = graph::parse(fmt::format(R"(intarsia.graph m
func @main(%0) -> (%1) {{
  %0 x: f32[1,1,1,4]
  %1 y: f32[1,1,1,4]
  {} -> (%1) {{activation={}}}
}}
entry @main
)",
                                                                    step, activation));
      ASSERT_TRUE(module.ok()) << module.error().to_string();
      const float values[] = {NAN, -9, 9, 0.5f};
      graph::TensorValue input(sizeof values);
      std::memcpy(input.data(), values, sizeof values);
      const Values inputs{input};
      const CompiledModel model = compiled(*module, "c");
      Result<Engine> engine = Engine::make(model, registries().engine);
      ASSERT_TRUE(engine.ok());
      const Result<std::vector<Engine::Bytes>> outputs = engine.value().run(spans(inputs));
      ASSERT_TRUE(outputs.ok());
      EXPECT_FALSE(graph::first_difference(module->entry_function().tensor({1}),
                                           evaluate(*module, inputs)[0], outputs->at(0)))
          << activation << ", " << step;
      float first = 0;
      std::memcpy(&first, outputs->at(0).data(), sizeof first);
      // A maximum is one of the numbers.
      EXPECT_EQ(std::isnan(first), !step.starts_with("max")) << activation << ", " << step;
    }
}

TEST(Engine, ShowsTheResultOfEachOperator) {
  Random random(9);
  const graph::Module module = digits_like();
  const CompiledModel model = compiled(module, "c");
  std::vector<std::string> names;
  Engine::Bytes last;
  EngineOptions options;
  options.on_result = [&](int32_t, const std::string& name, std::span<const uint8_t> bytes) {
    names.push_back(name);
    last.assign(bytes.begin(), bytes.end());
  };
  Result<Engine> engine = Engine::make(model, registries().engine, options);
  ASSERT_TRUE(engine.ok());
  const Values inputs = random_inputs(random, module);
  const Result<std::vector<Engine::Bytes>> outputs = engine.value().run(spans(inputs));
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(last, outputs->back());
}

TEST(Engine, SamplesRunSideBySide) {
  Random random(13);
  const graph::Module module = digits_like();
  const CompiledModel model = compiled(module, "c -mcpu=cortex-m55 + ethos-u");
  std::vector<Values> samples;
  Values all(module.entry_function().inputs.size()), expected;
  for (int i = 0; i < 37; ++i) {
    samples.push_back(random_inputs(random, module));
    for (size_t t = 0; t < all.size(); ++t)
      all[t].insert(all[t].end(), samples.back()[t].begin(), samples.back()[t].end());
    const Values made = evaluate(module, samples.back());
    expected.resize(made.size());
    for (size_t t = 0; t < made.size(); ++t)
      expected[t].insert(expected[t].end(), made[t].begin(), made[t].end());
  }
  for (const unsigned threads : {1u, 3u, 64u}) {
    size_t told = 0;
    SampleSet set{.samples = 37, .threads = threads};
    set.inputs = spans(all);
    set.on_progress = [&](size_t done) { return told = done, true; };
    const auto outputs = run_samples(model, registries().engine, set);
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
    EXPECT_EQ(*outputs, expected);
    EXPECT_EQ(told, 37u);
  }
}

// Code of a kind that has one function of the program, which counts how often it is called.
int native_calls = 0;
class OneFunction final : public NativeCode {
 public:
  explicit OneFunction(std::string name) : name_(std::move(name)) {}
  Function function(const std::string& name) const override {
    if (name != name_) return nullptr;
    return [](uint8_t* const*) { ++native_calls; };
  }

 private:
  std::string name_;
};

TEST(Engine, CallsWhatItsKindHasAsNativeCode) {
  Random random(17);
  const graph::Module module = digits_like();
  const CompiledModel model = compiled(module, "c");
  const Values inputs = random_inputs(random, module);
  // The first function is called once by each run.
  EngineRegistry registry = registries().engine;
  registry.add_native_code("c", [](const CompiledProgram& program) {
    return Result<std::unique_ptr<NativeCode>>(
        std::make_unique<OneFunction>(program.lowered.funcs.front().name));
  });
  native_calls = 0;
  Result<Engine> engine = Engine::make(model, registry);
  ASSERT_TRUE(engine.ok()) << engine.error().to_string();
  ASSERT_TRUE(engine.value().run(spans(inputs)).ok());
  ASSERT_TRUE(engine.value().run(spans(inputs)).ok());
  EXPECT_EQ(native_calls, 2);

  registry.add_native_code("c", [](const CompiledProgram&) {
    return Result<std::unique_ptr<NativeCode>>(std::unique_ptr<NativeCode>());
  });
  Result<Engine> without = Engine::make(model, registry);
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(*without.value().run(spans(inputs)), evaluate(module, inputs));

  registry.add_native_code("c", [](const CompiledProgram&) {
    return Result<std::unique_ptr<NativeCode>>(Diagnostics("code", "is of another release"));
  });
  const Result<Engine> refused = Engine::make(model, registry);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("is of another release"));
}

TEST(Engine, SaysWhatItCannotExecute) {
  const graph::Module module = digits_like();
  const CompiledModel model = compiled(module, "c -mcpu=cortex-m55 + ethos-u");
  const Result<Engine> engine = Engine::make(model, EngineRegistry());
  ASSERT_FALSE(engine.ok());
  EXPECT_THAT(engine.error().to_string(), HasSubstr("is not simulated in this process"));
  const Result<Engine> kernels =
      Engine::make(compiled(module, "c -mcpu=cortex-m55"), EngineRegistry());
  ASSERT_FALSE(kernels.ok());
  EXPECT_THAT(kernels.error().to_string(), HasSubstr("which only a program built from C has"));
}

}  // namespace
}  // namespace intarsia::testing
