// Which earlier commands must have ended before one begins, from the memory that they touch. A target names its
// counters: commands that share one end in the order in which they were issued, and are known by their number in it. A
// command stream has one issuer; where several queues of commands run side by side, each is an issuer, since what one
// has waited for another has not.
//
// A command conflicts with an earlier one when both touch a byte and one of them writes it. Ranges may be larger than
// what is touched; then there are more waits than needed, never fewer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace intarsia::npu {

// Bytes begin .. end - 1 of one of the target's memories, whose numbers are its own.
struct MemoryAccess {
  int32_t memory = 0;
  int64_t begin = 0, end = 0;
  bool is_write = false;

  // Whether both have a byte in common.
  bool meets(const MemoryAccess& other) const {
    return memory == other.memory && begin < other.end && other.begin < end;
  }
};

// Commands in the order in which they are issued. Each has a number by its counter: what is counted together ends in order.
class HazardTracker {
 public:
  // `most_outstanding`, by counter: how many of its commands can be under way at once, so that the ones before have ended
  // when the last of that many has been issued; 0: any number.
  explicit HazardTracker(std::vector<int32_t> most_outstanding, int32_t issuers = 1);

  // Commands of the counter so far.
  int64_t issued(int32_t counter) const {
    return counters_.at(static_cast<size_t>(counter)).issued;
  }

  // What the next command of `issuer` must wait for: by counter the number of its commands that must have ended before;
  // 0 where there is nothing to wait for, or `issuer` has waited for it already. It counts as having waited for these
  // from now on. `except`: a counter whose commands the hardware itself keeps apart from this one; -1: none.
  std::vector<int64_t> waits_before(int32_t issuer, std::span<const MemoryAccess> accesses,
                                    int32_t except = -1);
  // A wait for a reason that is not memory: whether `issuer` does not know yet that this many have ended.
  bool wait(int32_t issuer, int32_t counter, int64_t commands);

  // The command is issued. Its number, from 1 on.
  int64_t issue(int32_t counter, std::span<const MemoryAccess> accesses);

 private:
  struct Counter {
    int32_t most_outstanding = 0;
    int64_t issued = 0;
  };
  struct Touch {
    int32_t counter = 0;
    int64_t number = 0;
    MemoryAccess access;
  };

  std::vector<Counter> counters_;
  std::vector<std::vector<int64_t>> ended_;  // by issuer and counter: known to have
  std::vector<Touch> touches_;
};

}  // namespace intarsia::npu
