// Addresses of what is there for a time, judged pair by pair.
#include "intarsia/npu/scratch_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace intarsia::npu {
namespace {

constexpr int64_t kAlignment = 16;

std::vector<ScratchRequest> random_requests(std::mt19937& random, size_t count) {
  std::vector<ScratchRequest> requests;
  for (size_t i = 0; i < count; ++i) {
    const int64_t begin = random() % 20;
    requests.push_back({static_cast<int64_t>(random() % 400), begin,
                        begin + static_cast<int64_t>(random() % 8), -1});
  }
  return requests;
}

void expect_apart(const std::vector<ScratchRequest>& requests, int64_t end) {
  int64_t highest = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    const ScratchRequest& a = requests[i];
    EXPECT_EQ(a.address % kAlignment, 0);
    EXPECT_GE(a.address, 0);
    highest = std::max(highest, a.address + a.bytes);
    for (size_t k = 0; k < i; ++k) {
      const ScratchRequest& b = requests[k];
      const bool meet = a.begin <= b.end && b.begin <= a.end;
      EXPECT_FALSE(meet && a.address < b.address + b.bytes && b.address < a.address + a.bytes);
    }
  }
  EXPECT_EQ(end, highest);
}

int64_t most_alive(const std::vector<ScratchRequest>& requests) {
  int64_t most = 0;
  for (int64_t step = 0; step < 30; ++step) {
    int64_t alive = 0;
    for (const ScratchRequest& request : requests)
      if (request.begin <= step && step <= request.end) alive += request.bytes;
    most = std::max(most, alive);
  }
  return most;
}

TEST(ScratchPlacement, KeepsApartWhatIsThereAtOnce) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<ScratchRequest> requests = random_requests(random, 1 + random() % 12);
    const int64_t least = most_alive(requests);
    const std::optional<int64_t> end = place_scratch(requests, 2 * least + 400, kAlignment, 0);
    ASSERT_TRUE(end);
    expect_apart(requests, *end);
    std::vector<ScratchRequest> low = requests;
    const int64_t lowest = place_scratch_low(low, kAlignment, 10000);
    expect_apart(low, lowest);
    EXPECT_LE(lowest, *end);
    EXPECT_GE(lowest, least);
  }
}

TEST(ScratchPlacement, SaysWhereNothingFits) {
  std::vector<ScratchRequest> requests = {{64, 0, 3, 7}, {64, 2, 5, 7}};
  EXPECT_FALSE(place_scratch(requests, 127, kAlignment, 0));
  EXPECT_FALSE(place_scratch(requests, 127, kAlignment, 1000));
  EXPECT_EQ(requests[0].address, 7) << "nothing is changed where there is no answer";
  EXPECT_EQ(place_scratch(requests, 128, kAlignment, 0), 128);
  // The last step of the one is not the first of the other.
  requests = {{64, 0, 2, 0}, {64, 3, 5, 0}};
  EXPECT_EQ(place_scratch(requests, 64, kAlignment, 0), 64);
}

// What begins takes bytes whose last user ended as long ago as anywhere, wherever there is room.
TEST(ScratchPlacement, SpreadsWhereThereIsRoom) {
  std::mt19937 random(7);
  int spread = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<ScratchRequest> requests = random_requests(random, 1 + random() % 10);
    const int64_t least = most_alive(requests);
    const std::optional<int64_t> end = spread_scratch(requests, 2 * least, kAlignment);
    if (!end) continue;
    expect_apart(requests, *end);
    EXPECT_LE(*end, 2 * least);
    ++spread;
  }
  EXPECT_GT(spread, 50);
  // Turns through three places of the size, and not back to the first as soon as it is free.
  std::vector<ScratchRequest> turns;
  for (int64_t i = 0; i < 6; ++i) turns.push_back({64, 2 * i, 2 * i + 1, -1});
  EXPECT_EQ(spread_scratch(turns, 192, kAlignment), 192);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(turns[i].address, static_cast<int64_t>(i % 3) * 64);
  turns = {{64, 0, 3, 7}, {64, 2, 5, 7}};
  EXPECT_FALSE(spread_scratch(turns, 127, kAlignment));
  EXPECT_EQ(turns[1].address, 7);
}

// A longer search finds placements that no order of taking the lowest gap does, and no worse ones.
TEST(ScratchPlacement, PatienceHelps) {
  std::mt19937 random(6);
  int helped = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<ScratchRequest> requests = random_requests(random, 14);
    const int64_t least = place_scratch_low(requests, kAlignment, 20000);
    EXPECT_TRUE(place_scratch(requests, least, kAlignment, 200000));
    std::vector<ScratchRequest> quick = requests;
    helped += place_scratch(quick, least, kAlignment, 0) ? 0 : 1;
  }
  EXPECT_GT(helped, 0);
}

}  // namespace
}  // namespace intarsia::npu
