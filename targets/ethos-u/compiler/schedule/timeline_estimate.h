// How long a list of operations and transfers takes, by the model that docs/ethos-u-timing.md states:
// the command processor starts work in order, operations run one after the other, and so do transfers,
// beside each other; two that need the same port at once share it.
#pragma once

#include <cstdint>
#include <deque>

#include "schedule/cost.h"

namespace intarsia::targets::ethos_u {

class TimelineEstimate {
 public:
  TimelineEstimate(int32_t most_operations, int32_t most_transfers)
      : operations_{static_cast<size_t>(most_operations), {}},
        transfers_{static_cast<size_t>(most_transfers), {}} {}

  // Starts a transfer; its number is for wait_for.
  int64_t transfer(const TransferCost& cost);
  void operation(const OperationCost& cost, bool waits_for_last);
  void wait_for(int64_t transfer);
  void wait_for_operations(int32_t under_way);  // until at most so many are
  double finish();

 private:
  struct Running {
    double left = 0, alone = 0;
    std::array<double, kPorts> ports = {};
  };
  struct Queue {
    size_t most = 1;
    std::deque<Running> running;
  };
  void make_room(Queue& queue);
  void pass();  // until the first of what runs is complete

  Queue operations_, transfers_;
  double now_ = 0, last_drain_ = 0;
  int64_t transfers_started_ = 0;
  bool any_operation_ = false;
};

}  // namespace intarsia::targets::ethos_u
