#include "intarsia/npu/timeline.h"

#include <algorithm>

#include "intarsia/plugin/check.h"

namespace intarsia::npu {

double OperationCost::alone() const {
  return behind(0);
}

double OperationCost::behind(double drain_before) const {
  const double hidden = std::min(drain_before, pipeline / 2);
  return start + std::max(pipeline - hidden, *std::max_element(ports.begin(), ports.end()));
}

Timeline::Timeline(const QueueDepths& depths) : commands_(depths.commands) {
  INTARSIA_CHECK(depths.operations >= 1 && depths.operations <= kMostDepth &&
                     depths.transfers >= 1 && depths.transfers <= kMostDepth,
                 "a queue has room for one command at least and kMostDepth at most");
  operations_.most = static_cast<size_t>(depths.operations);
  transfers_.most = static_cast<size_t>(depths.transfers);
}

void Timeline::Queue::push(double cycles, const std::array<double, kMostPorts>& ports) {
  Running& last = running[(first + count++) % running.size()];
  last.left = cycles;
  for (size_t port = 0; port < kMostPorts; ++port)
    last.shares[port] = cycles > 0 ? ports[port] / cycles : 0;
}

void Timeline::Queue::pop() {
  first = (first + 1) % running.size();
  --count;
}

bool Timeline::Queue::holds_the_same(const Queue& other) const {
  if (count != other.count) return false;
  for (size_t i = 0; i < count; ++i)
    if (running[(first + i) % running.size()] !=
        other.running[(other.first + i) % other.running.size()])
      return false;
  return true;
}

// Commands are read to their end before anything else happens, so that none is being read.
bool Timeline::goes_on_as(const Timeline& other) const {
  return last_drain_ == other.last_drain_ && operations_.holds_the_same(other.operations_) &&
         transfers_.holds_the_same(other.transfers_);
}

// The processor reads nothing else meanwhile; what runs goes on.
void Timeline::read(const TransferCost& commands) {
  if (commands.cycles <= 0) return;
  reads_.push(commands.cycles, commands.ports);
  while (!reads_.empty()) pass();
}

void Timeline::make_room(Queue& queue) {
  while (queue.count >= queue.most) pass();
}

int64_t Timeline::transfer(const TransferCost& cost) {
  read(commands_.transfer);
  make_room(transfers_);
  transfers_.push(cost.cycles, cost.ports);
  return transfers_started_++;
}

void Timeline::operation(const OperationCost& cost, bool waits_for_last) {
  read(commands_.operation);
  make_room(operations_);
  // What is over hides nothing.
  const bool hides = !waits_for_last && !operations_.empty();
  double alone = cost.behind(hides ? last_drain_ : 0);
  alone += std::max(0.0, cost.first_fetch - (hides ? operations_.back().left : 0));
  last_drain_ = cost.drain;
  operations_.push(alone, cost.ports);
}

void Timeline::wait_for(int64_t transfer) {
  const auto done = [&] { return transfers_started_ - static_cast<int64_t>(transfers_.count); };
  while (done() <= transfer) pass();
}

void Timeline::wait_for_operations(int32_t under_way) {
  while (operations_.count > static_cast<size_t>(under_way)) pass();
}

void Timeline::pass() {
  std::array<Queue*, 3> busy = {};
  size_t count = 0;
  for (Queue* queue : {&operations_, &transfers_, &reads_})
    if (!queue->empty()) busy[count++] = queue;
  if (count == 0) return;
  double step = busy[0]->front().left;
  for (size_t i = 1; i < count; ++i) step = std::min(step, busy[i]->front().left);
  double pressure = 1;
  for (size_t port = 0; port < kMostPorts; ++port) {
    double asked = 0;
    for (size_t i = 0; i < count; ++i) asked += busy[i]->front().shares[port];
    pressure = std::max(pressure, asked);
  }
  now_ += step * pressure;
  for (size_t i = 0; i < count; ++i) {
    Running& running = busy[i]->front();
    running.left -= step;
    if (running.left <= 0) busy[i]->pop();
  }
}

double Timeline::finish() {
  while (!operations_.empty() || !transfers_.empty()) pass();
  return now_;
}

}  // namespace intarsia::npu
