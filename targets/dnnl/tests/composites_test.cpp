// oneDNN and an NPU beside one host: floats on the one, int8 on the other.
#include <gmock/gmock.h>

#include "kinds.h"
#include "mixed_network_cli.h"
#include "needs.h"

namespace intarsia::test::dnnl {
namespace {

using ::testing::HasSubstr;

class Composites : public MixedNetworkCli {};

constexpr const char* kOrders[] = {"c + dnnl + ethos-u55-128", "c + ethos-u55-128 + dnnl"};

// Where a library takes int8 as well, the pin leaves it to the NPU.
const std::vector<std::string> kMiddle = {"--pin", "inner=ethos-u"};

TEST_F(Composites, GiveFloatsToTheLibraryAndIntegersToTheNpu) {
  for (const char* order : kOrders)
    for (const char* policy : {"priority", "cost"}) {
      std::vector<std::string> command = {"explain", "mixed.graph", "--target",
                                          order,     "--policy",    policy};
      for (const char* pin : {"first=dnnl", "narrow=c", "inner=ethos-u", "widen=c", "last=dnnl"})
        command.insert(command.end(), {"--pin", pin});
      const ProcessOutcome explained = intarsia(command);
      ASSERT_TRUE(done(explained));
      EXPECT_THAT(explained.out, HasSubstr("on dnnl"));
      EXPECT_THAT(explained.out, HasSubstr("the operator is pinned to ethos-u"));
      // Into the first device, from one part to the next, and back.
      EXPECT_THAT(explained.out, HasSubstr("in 5 regions with 6 boundaries; 6 transfers")) << order;
    }
  const ProcessOutcome refused =
      intarsia({"explain", "mixed.graph", "--target", kOrders[0], "--pin", "last=ethos-u"});
  EXPECT_EQ(refused.exit_code, kUserError);
  EXPECT_THAT(refused.err, HasSubstr("is pinned to 'ethos-u', which cannot take it"));
}

TEST_F(Composites, ComputeTheSameInTheProcessAndAsPrograms) {
  if (!OpenDevice().answers) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
  const std::vector<uint8_t> expected = outputs({"--target", "c"});
  for (const char* order : kOrders)
    for (const char* policy : {"priority", "cost"})
      for (const bool native : {false, true}) {
        std::vector<std::string> more = kMiddle;
        more.insert(more.end(), {"--target", order, "--policy", policy});
        if (native) more.push_back("--native");
        EXPECT_LE(float_distance(expected, outputs(more)), 1e-5f)
            << order << " by " << policy << (native ? " as a program" : "");
      }
}

}  // namespace
}  // namespace intarsia::test::dnnl
