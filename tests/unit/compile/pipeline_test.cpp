// The pipeline may stop behind any stage and go on from there: what comes out is what a single call gives.
#include <gtest/gtest.h>

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "intarsia/watch.h"

namespace intarsia {
namespace {

constexpr const char* kTwoLayers = R"(intarsia.graph two
const @0 bias = i32[7, 9, -3]
const @1 weights = x"0102030405060708090a0b0c"
func @main(%0) -> (%4) {
  %0 x: i8[1,4] q(0.5:0)
  %1 weights: i8[3,4] q(0.25) = @1
  %2 bias: i32[3] q(0.125) = @0
  %3 y: i8[1,3] q(0.5:1)
  %4 z: i8[1,3] q(0.5:-128)
  fully_connected first(%0, %1, %2) -> (%3)
  relu second(%3) -> (%4)
}
entry @main
)";

constexpr Stage kStages[] = {Stage::Import, Stage::Eliminate, Stage::Partition, Stage::Lower,
                             Stage::Plan,   Stage::Emit,      Stage::Package};

std::map<std::string, std::string> files_of(const CompiledModel& model) {
  std::map<std::string, std::string> files;
  for (const SourceFile& file : model.package.files) files[file.path] = file.whole_text();
  return files;
}

TargetSpec target_named(TargetRegistry& registry, const char* text) {
  add_builtin_targets(registry);
  Result<TargetSpec> target = parse_target(registry.catalogue(), text);
  INTARSIA_CHECK(target.ok(), target.error().to_string());
  return std::move(target).value();
}

// For one CPU, and for two of which each runs a layer.
class Pipeline : public testing::TestWithParam<const char*> {
 protected:
  Pipeline() : target_(target_named(registry_, GetParam())) {
    options_.memory.pools = {{"ram", 0}};
    options_.package.resource_root = INTARSIA_SOURCE_DIR;
    if (target_.devices().size() == 2) options_.partition.pins = {{"first", "a"}, {"second", "b"}};
  }

  CompiledModel run(CompiledModel model, Stage last) const {
    Result<CompiledModel> result =
        run_pipeline(std::move(model), registry_, target_, options_, last);
    EXPECT_TRUE(result.ok()) << result.error().to_string();
    return std::move(result).value();
  }
  static CompiledModel imported() { return imported_model(*graph::parse(kTwoLayers)); }

  TargetRegistry registry_;
  TargetSpec target_;
  CompileOptions options_;
};

TEST_P(Pipeline, StopsBehindEachStageAndGoesOnFromThere) {
  const CompiledModel whole = run(imported(), Stage::Package);
  ASSERT_EQ(whole.programs.size(), target_.devices().size());
  for (const Stage stage : kStages) {
    const CompiledModel stopped = run(imported(), stage);
    EXPECT_EQ(stopped.reached, stage);
    EXPECT_EQ(stopped.programs.empty(), stage < Stage::Partition);
    EXPECT_EQ(stopped.package.files.empty(), stage < Stage::Package);
    for (const CompiledProgram& program : stopped.programs) {
      EXPECT_EQ(program.lowered.funcs.empty(), stage < Stage::Lower);
      EXPECT_EQ(program.plan.memory.pools.empty(), stage < Stage::Plan);
      EXPECT_EQ(program.emitted.sources.empty(), stage < Stage::Emit);
    }
    const CompiledModel gone_on = run(stopped, Stage::Package);
    EXPECT_EQ(gone_on.reached, Stage::Package);
    EXPECT_EQ(files_of(gone_on), files_of(whole));
  }
}

// As a search for smaller code does, which partitions once.
TEST_P(Pipeline, StagesToComeMayHaveOtherOptions) {
  const CompiledModel partitioned = run(imported(), Stage::Partition);
  const CompiledModel balanced = run(partitioned, Stage::Package);
  options_.lowering.ram_budget = 4096;
  const CompiledModel within = run(partitioned, Stage::Package);
  EXPECT_EQ(files_of(within), files_of(run(imported(), Stage::Package)));
  for (const CompiledProgram& program : within.programs)
    EXPECT_TRUE(program.ram_budget.has_value());
  for (const CompiledProgram& program : balanced.programs)
    EXPECT_FALSE(program.ram_budget.has_value());
}

// A stage that a model has reached is not made again.
TEST_P(Pipeline, GoesNoFurtherBack) {
  CompiledModel emitted = run(imported(), Stage::Emit);
  emitted.programs[0].emitted.sources[0].path = "mine.c";
  EXPECT_EQ(run(emitted, Stage::Lower).reached, Stage::Emit);
  EXPECT_EQ(run(emitted, Stage::Emit).programs[0].emitted.sources[0].path, "mine.c");
}

// What a program asks for in the options: bytes at the edges, and what could not have them said.
TEST_P(Pipeline, DropsTheConversionsAtTheEdges) {
  options_.partition.pins.clear();
  const CompiledModel floats = imported_model(*graph::parse(R"(intarsia.graph edges
func @main(%0, %4) -> (%3, %5) {
  %0 x: f32[1,4]
  %1 q: i8[1,4] q(0.5:3)
  %2 r: i8[1,4] q(0.5:3)
  %3 y: f32[1,4]
  %4 z: f32[1,4]
  %5 e: f32[1,4]
  quantize enter(%0) -> (%1)
  relu r(%1) -> (%2)
  dequantize leave(%2) -> (%3)
  exp e(%4) -> (%5)
}
entry @main
)"));
  const CompiledModel as_it_is = run(floats, Stage::Emit);
  EXPECT_TRUE(as_it_is.notes.empty());
  EXPECT_EQ(as_it_is.imported, floats.imported);
  options_.io = ModelIo::Int8;
  const CompiledModel bytes = run(floats, Stage::Emit);
  const TensorInfo& x = bytes.programs.front().emitted.inputs[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type, DataType::Int8);
  EXPECT_EQ(x.quantization.zero_point, std::vector<int64_t>{3});
  EXPECT_EQ(bytes.programs.front().emitted.outputs[0].type, DataType::Int8);
  EXPECT_EQ(bytes.imported.entry_function().nodes.size(), 2u);
  ASSERT_EQ(bytes.notes.items().size(), 2u);
  EXPECT_EQ(bytes.notes.items()[0].where, "edges: input 'z'");
  EXPECT_EQ(bytes.notes.items()[1].where, "edges: output 'e'");
  EXPECT_EQ(run(run(floats, Stage::Partition), Stage::Emit).notes.items().size(), 2u);
}

// Whoever watches is told every stage, and may end the work at each.
TEST_P(Pipeline, EndsBeforeTheStageThatNobodyWants) {
  std::vector<std::string> told;
  {
    const Watch watch([&](std::string_view stage) {
      if (!stage.empty()) told.emplace_back(stage);
      return true;
    });
    run(imported(), Stage::Package);
  }
  EXPECT_EQ(told, (std::vector<std::string>{"eliminate", "partition", "lower", "plan", "emit",
                                            "package"}));
  for (const std::string& last : told) {
    const Watch watch([&](std::string_view stage) { return stage != last; });
    const Result<CompiledModel> stopped =
        run_pipeline(imported(), registry_, target_, options_, Stage::Package);
    ASSERT_FALSE(stopped.ok()) << last;
    EXPECT_EQ(stopped.error().to_string(), "compilation: was stopped by who had started it\n");
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Pipeline, testing::Values("c", "a: c; b: c"),
                         [](const auto& info) { return info.index == 0 ? "OneCpu" : "TwoCpus"; });

TEST(Stages, HaveTheNamesThatDumpTakes) {
  EXPECT_EQ(stage_named("import"), Stage::Import);
  EXPECT_EQ(stage_named("slim"), Stage::Eliminate);
  EXPECT_EQ(stage_named("partition"), Stage::Partition);
  EXPECT_EQ(stage_named("lower"), Stage::Lower);
  EXPECT_EQ(stage_named("plan"), Stage::Plan);
  EXPECT_EQ(stage_named("emit"), Stage::Emit);
  EXPECT_EQ(stage_named("package"), Stage::Package);
  EXPECT_EQ(stage_named("Import"), std::nullopt);
  EXPECT_EQ(stage_named(""), std::nullopt);
}

// From the bytes of a file on; what is wrong with it is said with its name.
TEST(ModelFiles, AreImportedFirst) {
  TargetRegistry registry;
  add_builtin_targets(registry);
  const Result<TargetSpec> target = parse_target(registry.catalogue(), "c");
  ASSERT_TRUE(target.ok());
  const std::string text = kTwoLayers;
  const ModelFile file{{reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {"two.graph"}};
  const Result<CompiledModel> model = run_pipeline(file, registry, *target, {}, Stage::Import);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(model->reached, Stage::Import);
  EXPECT_EQ(model->imported.name, "two");
  const ModelFile broken{file.bytes.first(40), {"broken.graph"}};
  const Result<CompiledModel> refused = run_pipeline(broken, registry, *target, {}, Stage::Emit);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().to_string().find("broken.graph"), std::string::npos);
}

}  // namespace
}  // namespace intarsia
