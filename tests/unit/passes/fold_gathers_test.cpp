// Gathers at known places as slices, and as an order of weights, bit for bit the same.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include "elimination_testing.h"

namespace intarsia {
namespace {

using namespace test;
using ::testing::ElementsAre;

std::string gathered(const std::string& places, const std::string& indices,
                     const std::string& shape, const std::string& type = "i8[3,4,5] q(0.1:2)") {
  const std::string quantised = type.starts_with("i8") ? " q(0.1:2)" : "";
  return fmt::format(R"((%0) -> (%2) {{
 %0 x: {3}
 %1 places: i32[{0}] = @0
 %2 y: {4}[{2}]{5}
 gather g(%0, %1) -> (%2) {{axis={1}, batch_dims=0}}
}})",
                     places, indices, shape, type, type.substr(0, type.find('[')), quantised);
}

TEST(FoldGathers, PlacesThatLieEvenlyApart) {
  struct Case {
    const char *constant, *places, *axis, *shape;
    bool reshapes;
  };
  for (const Case& c : std::vector<Case>{{"1", "", "0", "4,5", true},
                                         {"3", "1", "1", "3,1,5", false},
                                         {"1, 2", "2", "1", "3,2,5", false},
                                         {"0, 2, 4", "3", "2", "3,4,3", false},
                                         {"3, 2, 1, 0", "2,2", "1", "3,2,2,5", true}})
    for (const char* type : {"i8[3,4,5] q(0.1:2)", "f32[3,4,5]"}) {
      const ReducedModule result = reduced(parsed(gathered(c.places, c.axis, c.shape, type),
                                                  fmt::format("const @0 p = i32[{}]", c.constant)));
      if (c.reshapes)
        EXPECT_THAT(nodes(result), ElementsAre("slice g", "reshape g_shape")) << c.constant;
      else
        EXPECT_THAT(nodes(result), ElementsAre("slice g")) << c.constant;
    }
}

TEST(FoldGathers, PlacesThatDoNot) {
  for (const char* places : {"0, 1, 3", "2, 2, 2", "1, 0, 1"})
    EXPECT_THAT(nodes(reduced(parsed(gathered("3", "1", "3,3,5"),
                                     fmt::format("const @0 p = i32[{}]", places)))),
                ElementsAre("gather g"));
}

// Three channels in another order, before a convolution of whole numbers; twice the same channel is no order.
TEST(FoldGathers, ChannelsBeforeAConvolution) {
  const std::string body = R"((%0) -> (%4) {
 %0 x: i8[1,2,2,3] q(0.1:2)
 %1 places: i32[3] = @0
 %2 ordered: i8[1,2,2,3] q(0.1:2)
 %3 w: i8[2,1,1,3] q(0.02:0) = @1
 %4 y: i8[1,2,2,2] q(0.3:-4)
 %5 b: i32[2] = @2
 gather g(%0, %1) -> (%2) {axis=3, batch_dims=0}
 conv2d c(%2, %3, %5) -> (%4)
})";
  const std::string weights =
      " const @1 w = i8[1, -20, 100, 40, 55, -66] const @2 b = i32[10, -20]";
  EXPECT_THAT(nodes(reduced(parsed(body, "const @0 p = i32[2, 0, 1]" + weights))),
              ElementsAre("conv2d c"));
  EXPECT_THAT(nodes(reduced(parsed(body, "const @0 p = i32[2, 0, 2]" + weights))),
              ElementsAre("gather g", "conv2d c"));
}

}  // namespace
}  // namespace intarsia
