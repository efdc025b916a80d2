// Tiles of rows and pixels as an enlargement of pictures, and tiles that are none.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "elimination_testing.h"

namespace intarsia {
namespace {

using namespace test;
using ::testing::ElementsAre;

// UpSampling2D of Keras 3, of a picture of 3 x 4 with 5 channels: rows first, or pixels first.
std::string rows_first(int rows, int pixels, const std::string& outputs = "%6") {
  const int height = 3 * rows, width = 4 * pixels;
  return fmt::format(R"((%0) -> ({5}) {{
    %0 x: i8[1,3,4,5] q(0.5:3)
    %1 a: i8[1,3,1,4,5] q(0.5:3)
    %2 b: i8[1,3,{0},4,5] q(0.5:3)
    %3 c: i8[1,{2},4,5] q(0.5:3)
    %4 d: i8[1,{2},4,1,5] q(0.5:3)
    %5 e: i8[1,{2},4,{1},5] q(0.5:3)
    %6 y: i8[1,{2},{3},5] q(0.5:3)
    reshape apart(%0) -> (%1) {{shape=[1,3,1,4,5]}}
    tile rows(%1) -> (%2) {{multiples=[1,1,{0},1,1]}}
    reshape joined(%2) -> (%3) {{shape=[1,{2},4,5]}}
    reshape between(%3) -> (%4) {{shape=[1,{2},4,1,5]}}
    tile pixels(%4) -> (%5) {{multiples=[1,1,1,{1},1]}}
    reshape whole(%5) -> (%6) {{shape=[1,{2},{3},5]}}
  }})",
                     rows, pixels, height, width, 0, outputs);
}

std::string pixels_first(int rows, int pixels) {
  const int height = 3 * rows, width = 4 * pixels;
  return fmt::format(R"((%0) -> (%5) {{
    %0 x: i8[1,3,4,5] q(0.5:3)
    %1 a: i8[1,3,4,1,5] q(0.5:3)
    %2 b: i8[1,3,4,{1},5] q(0.5:3)
    %3 c: i8[1,3,1,{3},5] q(0.5:3)
    %4 d: i8[1,3,{0},{3},5] q(0.5:3)
    %5 y: i8[1,{2},{3},5] q(0.5:3)
    reshape apart(%0) -> (%1) {{shape=[1,3,4,1,5]}}
    tile pixels(%1) -> (%2) {{multiples=[1,1,1,{1},1]}}
    reshape between(%2) -> (%3) {{shape=[1,3,1,{3},5]}}
    tile rows(%3) -> (%4) {{multiples=[1,1,{0},1,1]}}
    reshape whole(%4) -> (%5) {{shape=[1,{2},{3},5]}}
  }})",
                     rows, pixels, height, width);
}

TEST(EliminationRepeats, RowsAndPixelsAreAnEnlargement) {
  for (const auto& [rows, pixels] : {std::pair{2, 2}, {2, 3}, {5, 1}, {7, 4}, {3, 3}})
    for (const bool first : {true, false}) {
      if (pixels == 1) continue;  // no tile at all
      // reduced() compares what both compute.
      const ReducedModule result =
          reduced(parsed(first ? rows_first(rows, pixels) : pixels_first(rows, pixels), ""));
      EXPECT_THAT(nodes(result),
                  ElementsAre(first ? "resize_nearest pixels" : "resize_nearest rows"))
          << rows << " x " << pixels << (first ? " rows first" : " pixels first");
    }
}

// Names of the reshapes around the enlargement are free ones.
TEST(EliminationRepeats, OthersMayHaveTheNames) {
  std::string text = rows_first(2, 2);
  text.replace(text.find("(%0) -> (%6)"), 12, "(%0) -> (%6, %7, %8)");
  text.replace(text.find("reshape apart"), 0, R"(%7 s: i8[1,3,4,5] q(0.5:3)
    %8 t: i8[1,3,4,5] q(0.5:3)
    relu pixels_picture(%0) -> (%7)
    relu pixels_shape(%0) -> (%8) {activation=relu6}
    )");
  EXPECT_THAT(nodes(reduced(parsed(text, ""))),
              ElementsAre("relu pixels_picture", "relu pixels_shape", "resize_nearest pixels"));
}

TEST(EliminationRepeats, TilesStayWhereTheyAreSeen) {
  const auto tiles = [](const std::string& text, const EliminationOptions& options = {}) {
    const std::vector<std::string> found = nodes(reduced(parsed(text, ""), options));
    return std::ranges::count_if(found, [](const std::string& n) { return n.starts_with("tile"); });
  };
  EXPECT_EQ(tiles(rows_first(2, 2)), 0);
  EXPECT_EQ(tiles(rows_first(2, 2), {{"rows"}}), 2);
  EXPECT_EQ(tiles(rows_first(2, 2), {{"pixels"}}), 2);
  EXPECT_EQ(tiles(rows_first(2, 2, "%6, %2")), 2);
  // One row of pixels whose copies lie side by side is enlarged all the same; rows that repeat as a group are not.
  std::string copies = rows_first(2, 2);
  copies.replace(copies.find("%1 a: i8[1,3,1,4,5]"), 19, "%1 a: i8[1,1,3,4,5]");
  copies.replace(copies.find("%2 b: i8[1,3,2,4,5]"), 19, "%2 b: i8[1,2,3,4,5]");
  copies.replace(copies.find("{shape=[1,3,1,4,5]}"), 19, "{shape=[1,1,3,4,5]}");
  copies.replace(copies.find("multiples=[1,1,2,1,1]"), 21, "multiples=[1,2,1,1,1]");
  EXPECT_EQ(tiles(copies), 0);
  std::string groups = rows_first(2, 2);
  groups.replace(groups.find("%2 b: i8[1,3,2,4,5]"), 19, "%2 b: i8[1,6,1,4,5]");
  groups.replace(groups.find("multiples=[1,1,2,1,1]"), 21, "multiples=[1,2,1,1,1]");
  EXPECT_EQ(tiles(groups), 2);
}

// Indices are no pictures: resize_nearest does not take them, and nothing of the attempt is left.
TEST(EliminationRepeats, IndicesStayTiles) {
  std::string indices = rows_first(2, 2);
  for (size_t at = indices.find("i8["); at != std::string::npos; at = indices.find("i8[", at)) {
    const size_t end = indices.find(" q(", at);
    indices.replace(end, indices.find('\n', end) - end, "");
    indices.replace(at, 2, "i32");
  }
  const graph::Module module = parsed(indices, "");
  const ReducedModule result = reduced(module);
  EXPECT_EQ(std::ranges::count_if(nodes(result),
                                  [](const std::string& n) { return n.starts_with("tile"); }),
            2);
  EXPECT_LE(result.module.entry_function().tensors.size(), module.entry_function().tensors.size());
}

}  // namespace
}  // namespace intarsia
