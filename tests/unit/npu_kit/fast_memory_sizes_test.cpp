// Sizes of fast memory that are tried, against sums done by hand.
#include "intarsia/npu/fast_memory_sizes.h"

#include <gtest/gtest.h>

namespace intarsia::npu {
namespace {

using Sizes = std::vector<int64_t>;

Sizes sizes(const Sizes& live, const Sizes& constants, size_t most) {
  return fast_memory_sizes(live, constants, most);
}

TEST(FastMemorySizes, BeginWithWhatTheMapsNeed) {
  EXPECT_EQ(sizes({}, {}, 4), Sizes{0});
  EXPECT_EQ(sizes({30, 100, 40}, {0, 0, 0}, 4), Sizes{100});
  EXPECT_EQ(sizes({30, 100, 40}, {70, 0, 60}, 4), (Sizes{100, 160}))
      << "160: the first with its own and the last's, and the middle one with the last's";
}

TEST(FastMemorySizes, OwnConstantsAndThoseOfTheNextThatHasAny) {
  // The last: 90 + 20. The second has none and fetches the last's: 100 + 20. The first: 80 + 50, and + 20.
  EXPECT_EQ(sizes({80, 100, 90}, {50, 0, 20}, 10), (Sizes{100, 110, 120, 130, 150}));
}

TEST(FastMemorySizes, OfManyThoseThatLieEvenly) {
  const Sizes live = {100, 100, 100, 100}, constants = {1, 10, 100, 1000};
  ASSERT_EQ(sizes(live, constants, 10), (Sizes{100, 101, 110, 111, 200, 210, 1100, 1200}));
  EXPECT_EQ(sizes(live, constants, 1), Sizes{100});
  EXPECT_EQ(sizes(live, constants, 2), (Sizes{100, 1200}));
  EXPECT_EQ(sizes(live, constants, 3), (Sizes{100, 111, 1200}));
  EXPECT_EQ(sizes(live, constants, 4), (Sizes{100, 110, 200, 1200}));
}

}  // namespace
}  // namespace intarsia::npu
