#include "intarsia/diagnostics.h"

#include <gtest/gtest.h>

#include "intarsia/result.h"

namespace intarsia {
namespace {

TEST(Diagnostic, JoinsPlaceMessageAndHint) {
  EXPECT_EQ((Diagnostic{"a.tflite", "is empty", "give a model"}.to_string()),
            "a.tflite: is empty; give a model");
  EXPECT_EQ((Diagnostic{"", "is empty", ""}.to_string()), "is empty");
}

TEST(NearestName, FindsTypingSlipsOnly) {
  EXPECT_EQ(nearest_name("cortex-m56", {"cortex-m4", "cortex-m55", "ethos-u55"}), "cortex-m55");
  EXPECT_EQ(nearest_name("etos-u55", {"cortex-m4", "ethos-u55"}), "ethos-u55");
  EXPECT_EQ(nearest_name("zebra", {"cortex-m4", "ethos-u55"}), "");
}

Result<int> half(int n) {
  if (n % 2 != 0) return Diagnostics("half", "odd");
  return n / 2;
}

Result<int> quarter(int n) {
  INTARSIA_TRY(const int once, half(n));
  return half(once);
}

TEST(Result, TryPassesDiagnosticsOn) {
  EXPECT_EQ(*quarter(8), 2);
  ASSERT_FALSE(quarter(6).ok());
  EXPECT_EQ(quarter(6).error().items().front().what, "odd");
}

}  // namespace
}  // namespace intarsia
