// Every conformance case as generated C, built and run on this machine, against the recorded outputs.
#include <gtest/gtest.h>

#include "conformance_case.h"
#include "needs.h"

namespace intarsia::test {
namespace {

// INTARSIA_CASES: a part of the names, to run a few.
TEST(ConformanceInC, EveryCase) {
  const fs::path root = shared_folder() / "conformance";
  if (!fs::exists(root)) GTEST_SKIP() << needs("shared-data") << "nothing at " << root;
  const char* part = std::getenv("INTARSIA_CASES");
  int cases = 0, passed = 0;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::vector<uint8_t> text = read_bytes(entry.path() / "meta.json");
    const nlohmann::json meta = nlohmann::json::parse(text.begin(), text.end());
    const std::string name = entry.path().filename().string();
    if (meta.value("optional", false) || (part != nullptr && name.find(part) == std::string::npos))
      continue;
    ++cases;
    const std::string found = run_case(entry.path(), meta);
    passed += found.empty() ? 1 : 0;
    EXPECT_EQ(found, "") << name;
  }
  RecordProperty("passed", passed);
  if (part != nullptr) return;
  EXPECT_GE(cases, 200);
}

}  // namespace
}  // namespace intarsia::test
