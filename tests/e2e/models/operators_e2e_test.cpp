// The cases of tests/golden/operators as generated C: operators that few models have, variables, branches
// and loops.
#include <gtest/gtest.h>

#include "conformance_case.h"

namespace intarsia::test {
namespace {

TEST(OperatorsInC, EveryCase) {
  int cases = 0;
  for (const auto& entry :
       fs::directory_iterator(std::string(INTARSIA_SOURCE_DIR) + "/tests/golden/operators")) {
    if (!entry.is_directory()) continue;
    const std::vector<uint8_t> text = read_bytes(entry.path() / "meta.json");
    ++cases;
    EXPECT_EQ(run_case(entry.path(), nlohmann::json::parse(text.begin(), text.end())), "")
        << entry.path().filename();
  }
  EXPECT_GE(cases, 24);
}

}  // namespace
}  // namespace intarsia::test
