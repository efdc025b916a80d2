// compile --format encn: the networks of a model for an Ethos-N78, each as a file of the device's own tools. What a file computes is what the
// NPU computed of the model.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr const char* kTags[] = {"ethos-n78-1tops-4ple", "ethos-n78-4tops-2ple",
                                 "ethos-n78-4tops-4ple", "ethos-n78-8tops-2ple"};

class BareNetworks : public Cli {
 protected:
  ProcessOutcome networks(const std::string& model, const std::string& target,
                          std::vector<std::string> more = {},
                          const std::string& output = "networks") const {
    std::vector<std::string> command = {"compile", model,      "--target",
                                        target,    "--format", "encn",
                                        "-o",      output,     "--keep-dead-channels"};
    command.insert(command.end(), more.begin(), more.end());
    return intarsia(command);
  }
  Json list() const { return Json::parse(read("networks/networks.json")); }

  ProcessOutcome run(const std::string& model, const std::string& target, const std::string& folder,
                     const std::vector<std::string>& inputs,
                     std::vector<std::string> more = {}) const {
    std::vector<std::string> command = {
        "run", model, "--target", target, "--output-dir", folder, "--keep-dead-channels"};
    for (const std::string& input : inputs) command.insert(command.end(), {"--input", input});
    command.insert(command.end(), more.begin(), more.end());
    return intarsia(command);
  }
};

class BareNetworksOf : public BareNetworks, public testing::WithParamInterface<std::string> {};

TEST_P(BareNetworksOf, ComputeWhatTheNpuComputedOfTheModel) {
  const std::filesystem::path folder = recorded_folder(GetParam());
  const std::string model = (folder / "model.tflite").string();
  for (const std::string tag : kTags) {
    for (const std::string& target : {tag, tag + " -rewrites=true"}) {
      SCOPED_TRACE(target);
      ASSERT_TRUE(done(networks(model, target)));
      const Json list = this->list();
      if (target == tag) {
        EXPECT_EQ(list.at("target"), tag);
      }
      // Each operator's result, by its name; and where the values of the model are.
      std::map<int, std::string> values;
      std::vector<std::string> inputs;
      for (const Json& input : list.at("inputs")) {
        inputs.push_back((folder / ("in0_" + std::to_string(inputs.size()) + ".bin")).string());
        values[input.at("number")] = inputs.back();
      }
      ASSERT_TRUE(run(model, target, "whole", inputs, {"--outputs", "all"}).succeeded());
      for (const Json& step : list.at("steps"))
        if (step.at("outputs").size() == 1)
          values[step.at("outputs")[0].at("number")] =
              "whole/" + step.at("operators").back().get<std::string>() + ".bin";
      for (size_t i = 0; i < list.at("outputs").size(); ++i)
        values[list.at("outputs")[i].at("number")] = "whole/out" + std::to_string(i) + ".bin";
      int checked = 0;
      for (const Json& step : list.at("steps")) {
        if (!step.contains("file")) continue;
        std::vector<std::string> operands;
        for (const Json& input : step.at("inputs")) operands.push_back(values[input.at("number")]);
        const std::string file = "networks/" + step.at("file").get<std::string>();
        ASSERT_TRUE(run(file, tag, "alone", operands).succeeded()) << file;
        for (size_t i = 0; i < step.at("outputs").size(); ++i) {
          const Json& output = step.at("outputs")[i];
          const std::vector<uint8_t> alone = read("alone/out" + std::to_string(i) + ".bin");
          EXPECT_EQ(std::ssize(alone), output.at("bytes").get<int64_t>());
          EXPECT_EQ(alone, read(values[output.at("number")])) << file;
          ++checked;
        }
      }
      EXPECT_GT(checked, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, BareNetworksOf,
                         testing::ValuesIn(with_beside(
                             {"autoencoder_s8", "residual_s8", "separable_s8"},
                             {"ad01_int8", "dtln_noise_suppression", "hello_world_int8",
                              "keyword_scrambled_8bit", "kws_ref_model", "micro_speech_quantized",
                              "pretrainedResnet_quant", "vww_96_int8"})),
                         [](const auto& tested) { return tested.param; });

TEST_F(BareNetworks, AWholeModelIsOneFile) {
  const std::string model = (recorded_folder("autoencoder_s8") / "model.tflite").string();
  const ProcessOutcome outcome = networks(model, "ethos-n78-4tops-4ple", {}, "model.encn");
  ASSERT_TRUE(done(outcome));
  EXPECT_THAT(outcome.out, HasSubstr("6 operators"));
  const std::vector<uint8_t> bytes = read("model.encn");
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 4), "ENCN");
  const ProcessOutcome text = intarsia({"disasm", "model.encn"});
  EXPECT_TRUE(text.succeeded()) << text.err;
  // Another variant's kernels are none of this one's.
  EXPECT_TRUE(refused(
      intarsia({"run", "model.encn", "--target", "ethos-n78-8tops-2ple", "--output-dir", "out"}),
      {"was compiled for ethos-n78-4tops-4ple"}));
}

TEST_F(BareNetworks, WhatOneFileCannotHoldIsRefused) {
  const std::string model = (recorded_folder("separable_s8") / "model.tflite").string();
  EXPECT_TRUE(refused(networks(model, "ethos-n78-4tops-4ple", {}, "model.encn"),
                      {"model.encn", "other devices run", "-o FOLDER"}));
  EXPECT_FALSE(exists("model.encn"));
}

TEST_F(BareNetworks, WhatHasNoSuchFilesIsRefused) {
  EXPECT_TRUE(refused(networks(digits_path(), "c"), {"--format encn", "an NPU"}));
  EXPECT_TRUE(refused(networks(digits_path(), "ethos-u55-128"), {"--format encn", "ethos-u"}));
  const std::string tag = "ethos-n78-4tops-4ple";
  EXPECT_TRUE(
      refused(networks(digits_path(), tag, {"--board", "mps3-an547"}), {"--board", "encn"}));
  EXPECT_TRUE(
      refused(networks(digits_path(), tag, {"--ram-budget", "9K"}), {"--ram-budget", "encn"}));
  EXPECT_TRUE(refused(networks(digits_path(), tag, {"--single-file"}), {"--single-file", "encn"}));
  EXPECT_TRUE(refused(networks(digits_path(), tag, {"--summary-csv", "s.csv"}), {"--summary-csv"}));
  EXPECT_TRUE(refused(networks((recorded_folder("separable_s16") / "model.tflite").string(), tag),
                      {"--format encn", "runs nothing of the model"}));
  EXPECT_FALSE(exists("networks"));
}

}  // namespace
}  // namespace intarsia::test
