#include "intarsia/npu/timeline.h"

#include <algorithm>

namespace intarsia::npu {

double OperationCost::alone() const {
  return behind(0);
}

double OperationCost::behind(double drain_before) const {
  const double hidden = std::min(drain_before, pipeline / 2);
  return start + std::max(pipeline - hidden, *std::max_element(ports.begin(), ports.end()));
}

// The processor reads nothing else meanwhile; what runs goes on.
void Timeline::read(const TransferCost& commands) {
  if (commands.cycles <= 0) return;
  reads_.running.push_back({commands.cycles, commands.cycles, commands.ports});
  while (!reads_.running.empty()) pass();
}

void Timeline::make_room(Queue& queue) {
  while (queue.running.size() >= queue.most) pass();
}

int64_t Timeline::transfer(const TransferCost& cost) {
  read(commands_.transfer);
  make_room(transfers_);
  transfers_.running.push_back({cost.cycles, cost.cycles, cost.ports});
  return transfers_started_++;
}

void Timeline::operation(const OperationCost& cost, bool waits_for_last) {
  read(commands_.operation);
  make_room(operations_);
  // What is over hides nothing.
  const bool hides = !waits_for_last && !operations_.running.empty();
  double alone = cost.behind(hides ? last_drain_ : 0);
  alone += std::max(0.0, cost.first_fetch - (hides ? operations_.running.back().left : 0));
  last_drain_ = cost.drain;
  operations_.running.push_back({alone, alone, cost.ports});
}

void Timeline::wait_for(int64_t transfer) {
  const auto done = [&] {
    return transfers_started_ - static_cast<int64_t>(transfers_.running.size());
  };
  while (done() <= transfer) pass();
}

void Timeline::wait_for_operations(int32_t under_way) {
  while (operations_.running.size() > static_cast<size_t>(under_way)) pass();
}

void Timeline::pass() {
  double pressure = 1;
  for (size_t port = 0; port < kMostPorts; ++port) {
    double asked = 0;
    for (const Queue* queue : {&operations_, &transfers_, &reads_})
      if (!queue->running.empty() && queue->running.front().alone > 0)
        asked += queue->running.front().ports[port] / queue->running.front().alone;
    pressure = std::max(pressure, asked);
  }
  double step = -1;
  for (const Queue* queue : {&operations_, &transfers_, &reads_})
    if (!queue->running.empty() && (step < 0 || queue->running.front().left < step))
      step = queue->running.front().left;
  if (step < 0) return;
  now_ += step * pressure;
  for (Queue* queue : {&operations_, &transfers_, &reads_}) {
    if (queue->running.empty()) continue;
    queue->running.front().left -= step;
    if (queue->running.front().left <= 0) queue->running.pop_front();
  }
}

double Timeline::finish() {
  while (!operations_.running.empty() || !transfers_.running.empty()) pass();
  return now_;
}

}  // namespace intarsia::npu
