// Where storages end once they have addresses, against placements done by hand.
#include "schedule/schedule_peak.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace intarsia::targets::ethos_u {
namespace {

Storage storage(Storage::Kind kind, int64_t bytes) {
  Storage made;
  made.kind = kind;
  made.bytes = bytes;
  return made;
}

Step step(int32_t from, int32_t to) {
  Step made;
  made.operation = 0;
  made.ifm.span.storage = from;
  made.ofm.span.storage = to;
  return made;
}

// 64 bytes of input, 32 between, 16 of output, and constants that are placed nowhere here.
Schedule chain() {
  Schedule schedule;
  schedule.storages = {storage(Storage::Kind::Input, 64), storage(Storage::Kind::Inner, 32),
                       storage(Storage::Kind::Output, 16), storage(Storage::Kind::Constant, 4096)};
  schedule.steps = {step(0, 1), step(1, 2)};
  schedule.steps[0].weights = {{3, 0, 4096}};
  return schedule;
}

TEST(PlacedEnds, AreThoseOfWhatIsAliveAtEachStep) {
  const std::vector<bool> maps = {true, true, true, false};
  EXPECT_EQ(placed_ends(chain(), maps), (std::vector<int64_t>{96, 96}))
      << "64 + 32, and 32 above 64 of which the output has 16";
}

TEST(PlacedEnds, LeaveOutWhatIsNotPlaced) {
  EXPECT_EQ(placed_ends(chain(), {false, true, false, false}), (std::vector<int64_t>{32, 32}));
  EXPECT_EQ(placed_ends(chain(), {false, false, false, false}), (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(placed_ends({}, {}), std::vector<int64_t>{});
}

TEST(PlacedEnds, AreTheWholesPeak) {
  for (const std::vector<bool>& placed :
       {std::vector<bool>{true, true, true, false}, std::vector<bool>{true, true, false, false}}) {
    const std::vector<int64_t> ends = placed_ends(chain(), placed);
    EXPECT_EQ(*std::max_element(ends.begin(), ends.end()), placed_peak(chain(), placed));
  }
}

}  // namespace
}  // namespace intarsia::targets::ethos_u
