// The networks of the repository compiled by us, and then taken for what they are to others: files with a compiled
// network. They run, are refused with the reason, can be read, and end when they are damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "damage.h"
#include "end_to_end.h"
#include "intarsia/targets/ethos_n/run.h"
#include "integer_model.h"
#include "network_files.h"
#include "recorded_data.h"
#include "trunk.h"

namespace intarsia::test::ethos_n {
namespace {

namespace sim = simulators::ethos_n;
using ::testing::HasSubstr;

struct OwnCase {
  const char *model, *tag, *other;
};

class OwnNetworks : public ::testing::TestWithParam<OwnCase> {
 protected:
  void SetUp() override {
    const auto folder = golden_folder() / "models" / GetParam().model;
    const Result<graph::Module> model =
        import_model(read_bytes(folder / "model.tflite"), {"model.tflite"});
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    trunk_ = trunk_of(*model);
    const Result<CompiledModel> compiled = compile_for(trunk_, GetParam().tag);
    ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
    bytes_ = network_of(*compiled);
    inputs_ = recorded_samples(folder).at(1).inputs;
  }

  graph::Module trunk_;
  std::vector<uint8_t> bytes_;
  std::vector<graph::TensorValue> inputs_;
};

TEST_P(OwnNetworks, RunAsCompiledNetworks) {
  const Result<graph::Module> model = imported(bytes_);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const Result<CompiledModel> compiled = compile_for(*model, GetParam().tag);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  EXPECT_EQ(network_of(*compiled), bytes_);
  std::vector<graph::TensorValue> outputs;
  ASSERT_EQ(run_on(GetParam().tag, *compiled, inputs_, outputs), "");
  EXPECT_EQ(outputs, integer_model(trunk_, inputs_));
}

TEST_P(OwnNetworks, AreForOneVariant) {
  const Result<CompiledModel> compiled = compile_for(*imported(bytes_), GetParam().other);
  ASSERT_FALSE(compiled.ok());
  EXPECT_THAT(compiled.error().to_string(),
              HasSubstr(std::string("it was compiled for ") + GetParam().tag + ", the device is " +
                        GetParam().other));
  std::vector<std::vector<uint8_t>> outputs;
  const sim::Outcome outcome =
      sim::run_network(*sim::find_variant(GetParam().other), bytes_, inputs_, outputs);
  ASSERT_TRUE(outcome.fault);
  EXPECT_THAT(outcome.fault->what, HasSubstr("there is no PLE kernel"));
}

TEST_P(OwnNetworks, AreReadable) {
  expect_readable(bytes_, GetParam().tag);
}

TEST_P(OwnNetworks, ThatAreDamagedAreNoModels) {
  expect_damaged_is_no_model(bytes_);
}

// A limit on work keeps each run short.
TEST_P(OwnNetworks, ThatAreDamagedEnd) {
  std::mt19937 random(3);
  int faults = 0;
  constexpr int kRuns = 40;
  for (int i = 0; i < kRuns; ++i) {
    std::vector<std::vector<uint8_t>> outputs;
    const sim::Outcome outcome =
        sim::run_network(*sim::find_variant(GetParam().tag), damaged(bytes_, random), inputs_,
                         outputs, {uint64_t{1} << 24});
    if (!outcome.fault) continue;
    ++faults;
    EXPECT_FALSE(outcome.fault->what.empty());
  }
  EXPECT_GT(faults, kRuns / 4);
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, OwnNetworks,
    ::testing::Values(OwnCase{"separable_s8", "ethos-n78-4tops-4ple", "ethos-n78-1tops-4ple"},
                      OwnCase{"residual_s8", "ethos-n78-1tops-4ple", "ethos-n78-8tops-2ple"},
                      OwnCase{"residual_s8", "ethos-n78-4tops-2ple", "ethos-n78-4tops-4ple"},
                      OwnCase{"separable_s8", "ethos-n78-8tops-2ple", "ethos-n78-4tops-2ple"}),
    [](const auto& info) {
      std::string name = std::string(info.param.model) + "_" + info.param.tag;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace intarsia::test::ethos_n
