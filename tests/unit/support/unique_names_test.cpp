#include "intarsia/plugin/unique_names.h"

#include <gtest/gtest.h>

#include "intarsia/graph/shared_bytes.h"

namespace intarsia {
namespace {

TEST(UniqueNames, TheFirstThatIsFree) {
  UniqueNames names;
  EXPECT_TRUE(names.reserve("a_3"));
  EXPECT_FALSE(names.reserve("a_3"));
  EXPECT_EQ(names.take("a"), "a");
  EXPECT_EQ(names.take("a"), "a_2");
  EXPECT_EQ(names.take("a"), "a_4");
  EXPECT_EQ(names.take("a_3"), "a_3_2");
  EXPECT_TRUE(names.contains("a_4"));
  EXPECT_FALSE(names.contains("a_5"));
  const auto even = [](const std::string& name) { return name == "b" || name == "b_3"; };
  EXPECT_EQ(names.take("b", even), "b_2");
  EXPECT_EQ(names.take("b", even), "b_4");
}

TEST(SharedBytes, CopiesAreTheSameBytes) {
  const SharedBytes one = {1, 2, 3};
  const SharedBytes copy = one, equal = {1, 2, 3};
  EXPECT_EQ(copy.data(), one.data());
  EXPECT_TRUE(copy.shares_with(one));
  EXPECT_FALSE(equal.shares_with(one));
  EXPECT_EQ(equal, one);
  EXPECT_FALSE(one == (SharedBytes{1, 2, 4}));
  EXPECT_EQ(one, (std::vector<uint8_t>{1, 2, 3}));
  EXPECT_EQ(one.size(), 3u);
  EXPECT_EQ(one[2], 3);
  EXPECT_TRUE(SharedBytes().empty());
  EXPECT_EQ(SharedBytes().size(), 0u);
  EXPECT_EQ(SharedBytes(std::vector<uint8_t>{}), SharedBytes());
}

}  // namespace
}  // namespace intarsia
