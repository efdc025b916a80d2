// Whole models on the four Ethos-N78 that have kernels, with every recorded sample: one arithmetic, whatever the
// engines; each operator within what the kind allows.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

constexpr const char* kTags[] = {"ethos-n78-1tops-4ple", "ethos-n78-4tops-2ple",
                                 "ethos-n78-4tops-4ple", "ethos-n78-8tops-2ple"};

class EthosNVariants : public Cli, public testing::WithParamInterface<std::string> {
 protected:
  std::string folder() const { return recorded_folder(GetParam()).string(); }
  std::string model() const { return folder() + "/model.tflite"; }
};

TEST_P(EthosNVariants, GiveTheSameResults) {
  std::vector<uint8_t> inputs;
  constexpr int kSamples = 3;
  for (int sample = 0; sample < kSamples; ++sample) {
    const std::vector<uint8_t> one =
        read_bytes(folder() + "/in" + std::to_string(sample) + "_0.bin");
    inputs.insert(inputs.end(), one.begin(), one.end());
  }
  write("in.bin", inputs);
  std::vector<uint8_t> first;
  for (const char* tag : kTags) {
    const ProcessOutcome outcome =
        intarsia({"run", "--native", model(), "--target", tag, "--input", "in.bin", "--output-dir",
                  "out", "--repeat", std::to_string(kSamples), "--keep-all"});
    ASSERT_TRUE(done(outcome)) << tag;
    const std::vector<uint8_t> outputs = read("out/out0.bin");
    if (first.empty()) first = outputs;
    EXPECT_EQ(outputs, first) << tag;
    EXPECT_FALSE(outputs.empty());
  }
}

TEST_P(EthosNVariants, Verify) {
  for (const char* tag : kTags)
    EXPECT_TRUE(done(intarsia({"verify", model(), "--target", tag}))) << tag;
}

INSTANTIATE_TEST_SUITE_P(
    Models, EthosNVariants,
    testing::ValuesIn(with_beside({"autoencoder_s8", "residual_s8", "separable_s8"},
                                  {"kws_ref_model", "pretrainedResnet_quant", "vww_96_int8"})),
    [](const auto& info) { return info.param; });

}  // namespace
}  // namespace intarsia::test
