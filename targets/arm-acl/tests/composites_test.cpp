// The Arm Compute Library and an NPU beside a Cortex-A: floats on the one, int8 on the other.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <utility>

#include "mixed_network_cli.h"
#include "needs.h"

namespace intarsia::test::arm_acl {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kComposite = "cortex-a53 + arm_acl + ethos-n78-4tops-4ple";
// Where a library takes int8 as well, the pin leaves it to the NPU.
constexpr const char* kMiddle = "inner=ethosn";

class Composites : public MixedNetworkCli {};

TEST_F(Composites, GiveFloatsToTheLibraryAndIntegersToTheNpu) {
  const ProcessOutcome outcome =
      intarsia({"explain", "mixed.graph", "--json", "--board", "aarch64-linux", "--target",
                kComposite, "--pin", kMiddle});
  ASSERT_TRUE(done(outcome));
  const Json explanation = Json::parse(outcome.out, nullptr, false);
  std::vector<std::string> members;
  for (const Json& row : explanation["operators"]) members.push_back(row["member"]);
  ASSERT_EQ(members.size(), 5u);
  EXPECT_EQ(members[0], "arm_acl");
  EXPECT_EQ(members[2], "ethosn");
  EXPECT_EQ(members[4], "arm_acl");
  // To and from the host around each part.
  int64_t changes = 0;
  std::string before = "c";
  for (const std::string& member : members) changes += std::exchange(before, member) != member;
  EXPECT_EQ(explanation["boundaries"], changes + 1);
  EXPECT_EQ(explanation["transfers"], changes + 1);
  const ProcessOutcome refused =
      intarsia({"explain", "mixed.graph", "--target", kComposite, "--pin", "last=ethosn"});
  EXPECT_EQ(refused.exit_code, kUserError);
  EXPECT_THAT(refused.err, HasSubstr("is pinned to 'ethosn', which cannot take it"));
}

TEST_F(Composites, AreWithinTheLibrarysToleranceOfTheNpuBesideC) {
  if (INTARSIA_ASKS_ARM_ACL == 0)
    GTEST_SKIP() << needs("arm-acl") << "CMake found no Arm Compute Library, compiler or emulator";
  // An Ethos-N rounds in its own way: the same operator runs on it here.
  const std::vector<uint8_t> expected =
      outputs({"--target", "c + ethos-n78-4tops-4ple", "--pin", kMiddle});
  for (const char* policy : {"priority", "cost"})
    EXPECT_LE(float_distance(expected, outputs({"--board", "aarch64-linux", "--target", kComposite,
                                                "--policy", policy, "--pin", kMiddle})),
              1e-4f)
        << policy;
}

}  // namespace
}  // namespace intarsia::test::arm_acl
