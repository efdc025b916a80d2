// Rows that windows read beside going through their elements.
#include "intarsia/plugin/row_window.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace intarsia {
namespace {

TEST(RowWindow, ReadsFromTheFirstToTheLastOfItsElements) {
  for (const int64_t kernel : {1, 2, 3, 5})
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t dilation : {1, 2})
        for (const int64_t pad : {0, 1, 2, 6})
          for (const int64_t upscale : {1, 2, 3}) {
            const RowWindow window = {kernel, stride, dilation, pad, upscale};
            for (int64_t first = 0; first < 9; ++first)
              for (int64_t end = first + 1; end < 10; ++end) {
                int64_t low = 1000, high = -1000;
                for (int64_t y = first; y < end; ++y)
                  for (int64_t k = 0; k < kernel; ++k) {
                    const int64_t repeated = y * stride - pad + k * dilation;
                    // The row of which it is a repetition; floor also below 0.
                    const int64_t row = (repeated + 60 * upscale) / upscale - 60;
                    low = std::min(low, row);
                    high = std::max(high, row);
                  }
                EXPECT_EQ(rows_of_window(window, {first, end}), (RowRange{low, high + 1}));
              }
          }
}

TEST(RowWindow, OfAWholeOperandIsTheSameForAllRows) {
  EXPECT_EQ(rows_of_window(RowWindow::whole(7), {0, 1}), (RowRange{0, 7}));
  EXPECT_EQ(rows_of_window(RowWindow::whole(7), {3, 9}), (RowRange{0, 7}));
}

TEST(RowWindow, IsClippedToTheImage) {
  EXPECT_EQ(clipped({-2, 3}, 8), (RowRange{0, 3}));
  EXPECT_EQ(clipped({5, 12}, 8), (RowRange{5, 8}));
  EXPECT_EQ(clipped({9, 12}, 8).count(), 0);
}

}  // namespace
}  // namespace intarsia
