// Sizes of maps in bricks beside counting the bricks.
#include "intarsia/npu/map_layout.h"

#include <gtest/gtest.h>

namespace intarsia::npu {
namespace {

TEST(MapLayout, CountsWholeBricks) {
  const MapLayout layouts[] = {kLinearLayout, {1, 1, 16}, {8, 8, 16}, {8, 8, 1}};
  for (const MapLayout& layout : layouts)
    for (const int64_t height : {1, 7, 8, 9})
      for (const int64_t width : {1, 8, 17})
        for (const int64_t depth : {1, 15, 16, 33}) {
          int64_t bricks = 0;
          for (int64_t y = 0; y < height; y += layout.rows)
            for (int64_t x = 0; x < width; x += layout.columns)
              for (int64_t c = 0; c < depth; c += layout.channels) ++bricks;
          EXPECT_EQ(layout.stored_elements(height, width, depth),
                    bricks * layout.rows * layout.columns * layout.channels);
        }
  EXPECT_EQ(kLinearLayout.stored_elements(3, 5, 7), 105);
  EXPECT_EQ(kLinearLayout.stored_elements(0, 5, 7), 0);
}

}  // namespace
}  // namespace intarsia::npu
