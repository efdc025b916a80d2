// The main function of all test programs, beside what GoogleTest's does:
// * a filter that selects nothing is a failure, so that an outdated list of cases is seen;
// * temporary files lie in a folder of the process, which goes with it: programs run side by side;
// * a run in which a case was skipped and none failed exits with 77, which ctest shows as skipped;
// * $INTARSIA_MAY_SKIP names the needs that may be missing; any other skip is then a failure;
// * $INTARSIA_SKIP_LOG names a file to which a line is added for every skipped case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "needs.h"

namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;

class TemporaryRoot {
 public:
  TemporaryRoot() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "intarsia-test-XXXXXX").string();
    if (error || mkdtemp(pattern.data()) == nullptr) return;
    path_ = pattern;
    setenv("TMPDIR", path_.c_str(), 1);
  }
  ~TemporaryRoot() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryRoot(const TemporaryRoot&) = delete;
  TemporaryRoot& operator=(const TemporaryRoot&) = delete;

 private:
  std::string path_;
};

bool is_listed(const std::string& need, const std::string& list) {
  std::string spaced = list;
  for (char& letter : spaced)
    if (letter == ',' || letter == ';') letter = ' ';
  std::istringstream words(spaced);
  for (std::string word; words >> word;)
    if (word == need) return true;
  return false;
}

class Skips : public testing::EmptyTestEventListener {
 public:
  int count() const { return count_; }

  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.skipped()) reason_ = part.message();
  }
  void OnTestStart(const testing::TestInfo&) override { reason_.clear(); }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Skipped()) return;
    const char* allowed = std::getenv("INTARSIA_MAY_SKIP");
    const std::string need = intarsia::test::need_of(reason_);
    if (allowed != nullptr && !is_listed(need, allowed)) {
      ADD_FAILURE() << "skipped, and $INTARSIA_MAY_SKIP ('" << allowed << "') does not list '"
                    << need << "': " << reason_;
      return;
    }
    ++count_;
    const char* log = std::getenv("INTARSIA_SKIP_LOG");
    if (log == nullptr) return;
    for (char& letter : reason_)
      if (letter == '\n') letter = ' ';
    // One write in append mode: lines of programs that run side by side do not mix.
    std::ofstream(log, std::ios::app)
        << std::string(test.test_suite_name()) + "." + test.name() + "\t" + reason_ + "\n";
  }

 private:
  int count_ = 0;
  std::string reason_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  // What emitted C is promised to be free of is an error here. Objects are kept in the build folder.
  setenv("INTARSIA_WARNINGS_ARE_ERRORS", "1", 0);
  setenv("INTARSIA_CACHE", INTARSIA_TEST_CACHE, 0);
  const TemporaryRoot temporary;
  auto* skips = new Skips;  // GoogleTest owns it
  testing::UnitTest::GetInstance()->listeners().Append(skips);
  const int status = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr,
                 "no test has a name like '%s': the data that the list of tests was made from have "
                 "changed; run ctest again\n",
                 GTEST_FLAG_GET(filter).c_str());
    return 1;
  }
  if (status != 0) return status;
  return skips->count() != 0 ? kSkipped : 0;
}
