// What a package holds of a network.
#include <algorithm>

#include <gtest/gtest.h>

#include "network/payload.h"

namespace intarsia::test::ethos_n {
namespace {

using namespace targets::ethos_n;

TEST(Payload, HasThePlacesAndTheNetwork) {
  const std::vector<BufferPlace> places = {{1, 64}, {2, 4096}};
  const std::vector<uint8_t> network = {9, 8, 7};
  const std::vector<uint8_t> payload = make_payload(3, places, network);
  ASSERT_TRUE(is_payload(payload));
  const Result<PayloadView> view = read_payload(payload);
  ASSERT_TRUE(view.ok()) << view.error().to_string();
  EXPECT_EQ(view->variant, 3);
  ASSERT_EQ(view->places.size(), 2u);
  EXPECT_EQ(view->places[1].region, 2u);
  EXPECT_EQ(view->places[1].offset, 4096u);
  EXPECT_TRUE(
      std::equal(view->network.begin(), view->network.end(), network.begin(), network.end()));
}

TEST(Payload, IsNotReadBehindItsEnd) {
  const std::vector<BufferPlace> places(2);
  const std::vector<uint8_t> payload = make_payload(3, places, std::vector<uint8_t>{9});
  for (size_t bytes = 0; bytes + 1 < payload.size(); ++bytes) {
    const auto cut = std::span(payload).first(bytes);
    EXPECT_FALSE(is_payload(cut) && read_payload(cut).ok()) << bytes;
  }
  std::vector<uint8_t> larger = payload;
  larger.at(8) = 200;  // places
  EXPECT_FALSE(read_payload(larger).ok());
}

}  // namespace
}  // namespace intarsia::test::ethos_n
