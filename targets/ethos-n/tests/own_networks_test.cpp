// The networks of the repository compiled by us, and then taken for what they are to others: files with a compiled
// network. They run, are refused with the reason, can be read, and end when they are damaged.
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ethos_n/run.h"
#include "intarsia/import.h"
#include "intarsia/target_kind.h"
#include "integer_model.h"
#include "recorded_data.h"
#include "road.h"
#include "trunk.h"

namespace intarsia::targets::ethos_n {
void add_kinds(TargetRegistry& registry);
}

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
  static Result<graph::Module> imported(const std::vector<uint8_t>& bytes) {
    return import_model(bytes, {"network.encn"});
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
  TargetRegistry registry;
  targets::ethos_n::add_kinds(registry);
  const auto text = registry.kind("ethosn").disassemble(bytes_);
  ASSERT_TRUE(text && text->ok());
  EXPECT_THAT(**text, HasSubstr(std::string("Ethos-N network for ") + GetParam().tag));
  EXPECT_THAT(**text, HasSubstr("LoadPleCodeIntoPleSram agent="));
}

TEST_P(OwnNetworks, ThatAreDamagedAreNoModels) {
  std::vector<uint8_t> bytes = bytes_;
  const auto problem = [&] {
    const Result<graph::Module> model = imported(bytes);
    return model.ok() ? "" : model.error().to_string();
  };
  bytes.push_back(0);
  EXPECT_THAT(problem(), HasSubstr("1 bytes behind the end"));
  bytes.resize(bytes.size() - 2);
  EXPECT_THAT(problem(), HasSubstr("cut short"));
  bytes[4] = 3;
  EXPECT_THAT(problem(), HasSubstr("of version 3, not 2"));
}

// One to four words changed; a limit on work keeps each run short.
TEST_P(OwnNetworks, ThatAreDamagedEnd) {
  std::mt19937 random(3);
  int faults = 0;
  constexpr int kRuns = 40;
  for (int i = 0; i < kRuns; ++i) {
    std::vector<uint8_t> bytes = bytes_;
    for (uint32_t n = random() % 4 + 1; n > 0; --n) {
      const size_t at = random() % (bytes.size() / 4) * 4;
      const auto value = static_cast<uint32_t>(random() % 2 != 0 ? random() : random() % 64);
      std::memcpy(bytes.data() + at, &value, 4);
    }
    std::vector<std::vector<uint8_t>> outputs;
    const sim::Outcome outcome = sim::run_network(*sim::find_variant(GetParam().tag), bytes,
                                                  inputs_, outputs, {uint64_t{1} << 24});
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
