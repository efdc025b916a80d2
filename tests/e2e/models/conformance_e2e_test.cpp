// Recorded cases of one operator (or a small network) as generated C, built and run on this machine. The default set of
// tests takes the repository's own; the long one those beside it.
#include <gtest/gtest.h>

#include "conformance_case.h"
#include "needs.h"

namespace intarsia::test {
namespace {

class ConformanceInC : public testing::TestWithParam<fs::path> {};

TEST_P(ConformanceInC, OutputsAreTheRecordedOnes) {
  const std::vector<uint8_t> text = read_bytes(GetParam() / "meta.json");
  EXPECT_EQ(run_case(GetParam(), nlohmann::json::parse(text.begin(), text.end())), "");
}

// Of the repository's or of those beside it.
std::vector<fs::path> cases(bool own) {
  std::vector<fs::path> folders = recorded_cases();
  std::erase_if(folders, [&](const fs::path& folder) { return is_own(folder) != own; });
  return folders;
}

#ifdef INTARSIA_OWN_CASES
INSTANTIATE_TEST_SUITE_P(Recorded, ConformanceInC, testing::ValuesIn(cases(true)),
                         [](const auto& info) { return test_name(info.param); });
#else
INSTANTIATE_TEST_SUITE_P(Recorded, ConformanceInC, testing::ValuesIn(cases(false)),
                         [](const auto& info) { return test_name(info.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ConformanceInC);

TEST(ConformanceData, LieBesideTheRepository) {
  INTARSIA_NEEDS_SHARED("conformance");
  EXPECT_GE(cases(false).size(), 200u);
}
#endif

}  // namespace
}  // namespace intarsia::test
