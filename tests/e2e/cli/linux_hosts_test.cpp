// Cortex-A hosts of kind c beside an NPU, as boards' programs, programs of somebody else's and shared libraries under an
// emulator of processes; devices are simulated ones.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "linux_programs.h"
#include "needs.h"
#include "support/recorded_data.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr int kSamples = 3;

struct Host {
  const char* name;
  const char* target;
  const char* device;  // its name in the target
  const char* same;    // beside C for any machine, which the engine executes in its process
  bool
      exact;  // or with steps of the device's own rounding, which `verify` bounds operator by operator
};

const Host kHosts[] = {
    {"EthosU65", "cortex-a55 + ethos-u65-256", "ethos-u", "c + ethos-u65-256", true},
    {"EthosN78", "cortex-a53 + ethos-n78-4tops-4ple", "ethosn", "c + ethos-n78-4tops-4ple", false}};

class LinuxHosts : public LinuxPrograms, public testing::WithParamInterface<Host> {
 protected:
  static std::string model(const std::string& name) {
    return (recorded_folder(name) / "model.tflite").string();
  }
  // Every recorded sample, one after another.
  static std::vector<uint8_t> recorded(const std::string& name, const std::string& which) {
    std::vector<uint8_t> all;
    for (int sample = 0; sample < kSamples; ++sample) {
      const std::vector<uint8_t> one =
          read_bytes(recorded_folder(name) / fmt::format("{}{}_0.bin", which, sample));
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  // Of all samples in a row, without a reset between them.
  std::vector<uint8_t> outputs(const std::string& name, const std::vector<std::string>& choice) {
    write("in.bin", recorded(name, "in"));
    std::vector<std::string> command = {
        "run",          model(name), "--input",  "in.bin",
        "--output-dir", "out",       "--repeat", std::to_string(kSamples),
        "--keep-all"};
    command.insert(command.end(), choice.begin(), choice.end());
    const ProcessOutcome outcome = intarsia(command);
    EXPECT_TRUE(outcome.succeeded()) << outcome.err;
    return read("out/out0.bin");
  }
  std::vector<uint8_t> on_board(const std::string& name, std::vector<std::string> choice = {}) {
    choice.insert(choice.end(), {"--board", arm_linux().board, "--target", GetParam().target});
    return outputs(name, choice);
  }
  std::vector<uint8_t> in_process(const std::string& name, std::vector<std::string> choice = {}) {
    choice.insert(choice.end(), {"--target", GetParam().same});
    return outputs(name, choice);
  }
  Json explained(const std::string& name, std::vector<std::string> choice) const {
    choice.insert(choice.begin(), {"explain", model(name), "--json", "--board", arm_linux().board,
                                   "--target", GetParam().target});
    const ProcessOutcome outcome = intarsia(choice);
    EXPECT_TRUE(done(outcome));
    return Json::parse(outcome.out, nullptr, false);
  }
  // The device's share of the operators, as pins for another target with the same device.
  std::vector<std::string> pins(const Json& explanation) const {
    std::vector<std::string> words;
    for (const Json& row : explanation["operators"])
      words.insert(words.end(), {"--pin", fmt::format("{}={}", row["name"].get<std::string>(),
                                                      row["member"].get<std::string>())});
    return words;
  }
  void package(const std::string& name, const std::string& target) const {
    ASSERT_TRUE(done(intarsia({"compile", model(name), "--name", name, "--board", arm_linux().board,
                               "--target", target, "-o", name})));
    write(name + ".in", recorded(name, "in"));
  }
};

#define INTARSIA_NEEDS_ARM_LINUX() \
  if (!can_build_for(arm_linux())) \
  GTEST_SKIP() << needs("linux-toolchain") << "no compiler or emulator of 64-bit Arm"

constexpr const char* kNetworks[] = {"separable_s8", "residual_s8", "lstm_s8"};

// Whom the cost policy gives an operator depends on the host's own cycles; what is computed does not.
TEST_P(LinuxHosts, ComputeWhatTheEngineComputes) {
  INTARSIA_NEEDS_ARM_LINUX();
  for (const std::string name : kNetworks)
    for (const std::string policy : {"priority", "cost"}) {
      const Json explanation = explained(name, {"--policy", policy});
      const std::vector<uint8_t> out = on_board(name, {"--policy", policy});
      EXPECT_EQ(out, in_process(name, pins(explanation))) << name << " by " << policy;
      if (GetParam().exact && name != "lstm_s8") {  // recorded from its first state each time
        EXPECT_EQ(out, recorded(name, "out")) << name << " by " << policy;
      }
    }
}

// A row of operators and the caller on the host at both ends: where the device changes is a boundary.
TEST_P(LinuxHosts, CountWhatTheyHandOver) {
  for (const std::string name : kNetworks)
    for (const std::string policy : {"priority", "cost"}) {
      const Json explanation = explained(name, {"--policy", policy});
      std::string before = "c";
      int64_t changes = 0, on_device = 0;
      for (const Json& row : explanation["operators"]) {
        changes += row["member"] != before ? 1 : 0;
        before = row["member"];
        on_device += before == GetParam().device ? 1 : 0;
        for (const Json& offer : row["offers"])
          EXPECT_TRUE(offer["taken"] || !offer.value("reason", "").empty())
              << name << " by " << policy << ": " << row["name"] << " " << offer["member"];
      }
      changes += before != "c" ? 1 : 0;
      EXPECT_GT(on_device, 0) << name << " by " << policy;
      EXPECT_EQ(explanation["boundaries"], changes) << name << " by " << policy;
      EXPECT_LE(explanation["transfers"], changes) << name << " by " << policy;
      EXPECT_GT(explanation["transfers"], 0) << name << " by " << policy;
    }
}

// The operator in the middle of a region on the host: two boundaries more, and the same results.
TEST_P(LinuxHosts, KeepPinsAndCountTheirTransfers) {
  const std::string name = "separable_s8", middle = "block1_pointwise";
  const Json free = explained(name, {}), pinned = explained(name, {"--pin", middle + "=c"});
  EXPECT_EQ(pinned["boundaries"], free["boundaries"].get<int64_t>() + 2);
  EXPECT_EQ(pinned["transfers"], free["transfers"].get<int64_t>() + 2);
  for (const Json& row : pinned["operators"])
    if (row["name"] == middle) {
      EXPECT_EQ(row["member"], "c");
    }
  EXPECT_THAT(
      intarsia({"explain", model(name), "--target", GetParam().target, "--pin", middle + "=c"}).out,
      HasSubstr("the operator is pinned to c"));
  INTARSIA_NEEDS_ARM_LINUX();
  const std::vector<uint8_t> out = on_board(name, {"--pin", middle + "=c"});
  EXPECT_EQ(out, in_process(name, {"--pin", middle + "=c"}));
  if (GetParam().exact) {
    EXPECT_EQ(out, recorded(name, "out"));
  }
}

// With state: the instance's own, from run to run.
TEST_P(LinuxHosts, ArePackagesForOtherBuilds) {
  INTARSIA_NEEDS_ARM_LINUX();
  const std::string name = "lstm_s8";
  package(name, GetParam().target);
  const std::vector<uint8_t> expected = in_process(name);
  ASSERT_TRUE(done(intarsia({"build", model(name), "--name", name, "--board", arm_linux().board,
                             "--target", GetParam().target, "-o", "lib" + name + ".so"})));
  for (const Build build : {Build::CMake, Build::SharedLibrary}) {
    ASSERT_TRUE(build_and_run(arm_linux(), build, {{name, 1}}, kSamples));
    EXPECT_EQ(read(name + ".out"), expected) << name_of(build);
  }
}

// Models take turns on one device, each with what it keeps.
TEST_P(LinuxHosts, HaveSeveralModelsInOneProgram) {
  INTARSIA_NEEDS_ARM_LINUX();
  const std::vector<UsedPackage> packages = {
      {"lstm_s8", 1}, {"residual_s8", 1, "lstm_s8"}, {"separable_s8", 1, "lstm_s8"}};
  std::vector<std::vector<uint8_t>> expected;
  for (const UsedPackage& each : packages) {
    package(each.model, GetParam().target);
    expected.push_back(in_process(each.model));
  }
  if (!have_program("make")) GTEST_SKIP() << needs("make") << "it is not installed";
  ASSERT_TRUE(build_and_run(arm_linux(), Build::Make, packages, kSamples));
  for (size_t i = 0; i < packages.size(); ++i)
    EXPECT_EQ(read(packages[i].model + ".out"), expected[i]) << packages[i].model;
}

INSTANTIATE_TEST_SUITE_P(Npus, LinuxHosts, testing::ValuesIn(kHosts),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace intarsia::test
