// Separable and residual networks on unlike devices: what they compute, and how often they hand over.
#include <cstdlib>
#include <string_view>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "needs.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kEthosN = "c + ethosn + opencl";
constexpr const char* kEthosU = "cortex-m55+ethos-u55-128+opencl";

class CompositeModels : public Cli {
 protected:
  static std::string model(const std::string& name) {
    return (recorded_folder(name) / "model.tflite").string();
  }
  // Every recorded sample, one after another.
  std::vector<uint8_t> recorded(const std::string& name, const std::string& which) const {
    std::vector<uint8_t> all;
    for (int sample = 0; sample < kSamples; ++sample) {
      const std::vector<uint8_t> one =
          read_bytes(recorded_folder(name) / (which + std::to_string(sample) + "_0.bin"));
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  Json explained(const std::string& name, const std::vector<std::string>& choice) const {
    std::vector<std::string> command = {"explain", model(name), "--json"};
    command.insert(command.end(), choice.begin(), choice.end());
    const ProcessOutcome outcome = intarsia(command);
    EXPECT_TRUE(done(outcome));
    return Json::parse(outcome.out, nullptr, false);
  }
  // Nothing where there is no OpenCL device.
  std::optional<std::vector<uint8_t>> outputs(const std::string& name,
                                              const std::vector<std::string>& choice) const {
    write("in.bin", recorded(name, "in"));
    std::vector<std::string> command = {"run",       "--native", model(name),
                                        "--input",   "in.bin",   "--output-dir",
                                        "out",       "--repeat", std::to_string(kSamples),
                                        "--keep-all"};
    command.insert(command.end(), choice.begin(), choice.end());
    const ProcessOutcome outcome = intarsia(command);
    if (outcome.err.find("no platform has a device") != std::string::npos) return std::nullopt;
    EXPECT_TRUE(outcome.succeeded()) << outcome.err;
    return read("out/out0.bin");
  }
  static std::vector<std::string> networks() {
    return with_beside({"separable_s8", "residual_s8"},
                       {"kws_ref_model", "pretrainedResnet_quant"});
  }
  // Those that are compiled and run, where an OpenCL device on this machine takes tens of seconds: the larger ones in the
  // long set.
  static std::vector<std::string> networks_to_run() {
    const char* all = std::getenv("INTARSIA_LONG");
    if (all != nullptr && std::string_view(all) == "1") return networks();
    return {"separable_s8", "residual_s8"};
  }
  static constexpr int kSamples = 3;
};

// A row of operators and the caller on the host at both ends: where the device changes is a boundary.
int64_t changes_of_device(const Json& explanation) {
  std::string before = explanation["operators"][0]["offers"][0]["member"];  // the host comes first
  const std::string host = before;
  int64_t changes = 0;
  for (const Json& row : explanation["operators"]) {
    changes += row["member"] != before ? 1 : 0;
    before = row["member"];
  }
  return changes + (before != host ? 1 : 0);
}

TEST_F(CompositeModels, NoMoreTransfersThanBoundaries) {
  for (const std::string& name : networks())
    for (const char* target :
         {kEthosN, kEthosU, "c + opencl + ethosn", "cortex-m55+opencl+ethos-u55-128",
          "cortex-m55+ethos-u55-128+ethosn", "cortex-m55+ethosn+ethos-u55-128"})
      for (const char* policy : {"priority", "cost"}) {
        const Json explanation = explained(name, {"--target", target, "--policy", policy});
        const std::string what = name + " on " + target + " by " + policy;
        // By cost a block of the residual network is cut between two devices beside the host: both of its paths cross there.
        const bool cuts_block =
            name == "residual_s8" && std::string(policy) == "cost" &&
            what.find("ethos-u") != std::string::npos &&
            (what.find("ethosn") != std::string::npos || what.find("opencl") != std::string::npos);
        const int64_t more = cuts_block ? 1 : 0;
        EXPECT_LE(explanation["transfers"], explanation["boundaries"].get<int64_t>() + more)
            << what;
        // Devices alternate along these networks but inside of ResNet's blocks, which mostly stay with one.
        EXPECT_EQ(explanation["boundaries"], changes_of_device(explanation)) << what;
        for (const Json& row : explanation["operators"])
          for (const Json& offer : row["offers"])
            EXPECT_TRUE(offer["taken"] || !offer.value("reason", "").empty())
                << what << ": " << row["name"] << " " << offer["member"];
      }
}

// Of floats, of state, of branches, and with several CPUs.
TEST_F(CompositeModels, NoMoreTransfersThanBoundariesOfAnyModel) {
  for (const std::string& name : with_beside({"autoencoder_s8", "lstm_s8", "separable_s16"},
                                             {"ad01_int8", "vww_96_int8", "pretrainedResnet",
                                              "keyword_scrambled_8bit", "trained_lstm_int8"}))
    for (const char* target : {"c + opencl", kEthosN, "cortex-m55+opencl+ethos-u55-128",
                               "a: c + opencl; b: c + ethos-u", "a: c; b: c; d: c"})
      for (const char* policy : {"priority", "cost"}) {
        const Json explanation = explained(name, {"--target", target, "--policy", policy});
        EXPECT_LE(explanation["transfers"], explanation["boundaries"])
            << name << " on " << target << " by " << policy;
      }
}

TEST_F(CompositeModels, AnEthosUAndOpenClAreExactInAnyOrder) {
  for (const std::string& name : networks_to_run())
    for (const std::vector<std::string>& choice : std::vector<std::vector<std::string>>{
             {"--target", kEthosU},
             {"--target", kEthosU, "--policy", "cost"},
             {"--target", "cortex-m55+opencl+ethos-u55-128", "--policy", "cost"}}) {
      const auto out = outputs(name, choice);
      if (!out) GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
      EXPECT_EQ(*out, recorded(name, "out")) << name << " on " << choice[1];
    }
}

// What an OpenCL device computes is what the host computes: on the same operators of the Ethos-N, every byte.
TEST_F(CompositeModels, BesideAnEthosNOpenClChangesNothing) {
  for (const std::string& name : networks_to_run())
    for (const char* policy : {"priority", "cost"}) {
      const std::vector<std::string> choice = {"--target", kEthosN, "--policy", policy};
      const auto out = outputs(name, choice);
      if (!out) GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
      std::vector<std::string> without = {"--target", "c + ethosn"};
      for (const Json& row : explained(name, choice)["operators"])
        without.insert(without.end(), {"--pin", row["name"].get<std::string>() + "=" +
                                                    (row["member"] == "ethosn" ? "ethosn" : "c")});
      EXPECT_EQ(*out, outputs(name, without)) << name << " by " << policy;
    }
}

TEST_F(CompositeModels, VerifyAllowsAnEthosNItsRoundingAndNothingElse) {
  for (const std::string& name : networks()) {
    const ProcessOutcome outcome =
        intarsia({"verify", model(name), "--target", "c + ethosn", "--json"});
    ASSERT_TRUE(done(outcome)) << name;
    const Json report = Json::parse(outcome.out, nullptr, false);
    EXPECT_EQ(report["agree"], true);
    EXPECT_EQ(report["allowed_difference"], 1);
    EXPECT_EQ(report["largest_difference"], 1);
  }
}

}  // namespace
}  // namespace intarsia::test
