#include "intarsia/npu/timeline.h"

#include <algorithm>
#include <cstring>

#include "intarsia/plugin/check.h"

namespace intarsia::npu {
namespace {

// Numbers of all ports, in vector instructions: plans are tried by the hundred thousand.
struct Ports {
  using Two [[gnu::vector_size(2 * sizeof(double))]] = double;
  std::array<Two, kMostPorts / 2> twos;

  explicit Ports(const std::array<double, kMostPorts>& numbers) {
    static_assert(sizeof(twos) == sizeof(numbers));
    std::memcpy(twos.data(), numbers.data(), sizeof(numbers));
  }
  std::array<double, kMostPorts> numbers() const {
    std::array<double, kMostPorts> result;
    std::memcpy(result.data(), twos.data(), sizeof(result));
    return result;
  }
  Ports& operator+=(const Ports& other) {
    for (size_t i = 0; i < twos.size(); ++i) twos[i] += other.twos[i];
    return *this;
  }
  Ports& operator/=(double divisor) {
    for (Two& two : twos) two /= divisor;
    return *this;
  }
  double greatest() const {
    Two most = twos[0];
    for (size_t i = 1; i < twos.size(); ++i) most = most > twos[i] ? most : twos[i];
    return std::max(most[0], most[1]);
  }
  // How long that takes where so much is asked for, as parts of what each has.
  double slowed(double step) const { return step * std::max(1.0, greatest()); }
};

}  // namespace

double OperationCost::alone() const {
  return behind(0);
}

double OperationCost::behind(double drain_before) const {
  const double hidden = std::min(drain_before, pipeline / 2);
  return start + std::max(pipeline - hidden, Ports(ports).greatest());
}

Timeline::Timeline(const QueueDepths& depths)
    : operation_commands_(
          running(depths.commands.operation.cycles, depths.commands.operation.ports)),
      transfer_commands_(running(depths.commands.transfer.cycles, depths.commands.transfer.ports)) {
  INTARSIA_CHECK(depths.operations >= 1 && depths.operations <= kMostDepth &&
                     depths.transfers >= 1 && depths.transfers <= kMostDepth,
                 "a queue has room for one command at least and kMostDepth at most");
  operations_.most = static_cast<uint32_t>(depths.operations);
  transfers_.most = static_cast<uint32_t>(depths.transfers);
}

Timeline::Running Timeline::running(double cycles, const std::array<double, kMostPorts>& ports) {
  Running made;
  made.left = cycles;
  if (cycles > 0) {
    Ports shares(ports);
    shares /= cycles;
    made.shares = shares.numbers();
  }
  return made;
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
void Timeline::read(const Running& commands) {
  for (Running rest = commands; rest.left > 0;) {
    if (!operations_.empty() && !transfers_.empty()) {
      rest.left -= pass_both(&rest);
    } else if (operations_.empty() && transfers_.empty()) {
      now_ += rest.left;
      return;
    } else {
      Queue& queue = operations_.empty() ? transfers_ : operations_;
      Running& running = queue.front();
      const double step = std::min(running.left, rest.left);
      Ports asked(running.shares);
      asked += Ports(rest.shares);
      now_ += asked.slowed(step);
      rest.left -= step;
      running.left -= step;
      if (running.left <= 0) queue.pop();
    }
  }
}

void Timeline::make_room(Queue& queue) {
  while (queue.count >= queue.most) pass();
}

int64_t Timeline::transfer(const TransferCost& cost) {
  read(transfer_commands_);
  make_room(transfers_);
  transfers_.push(running(cost.cycles, cost.ports));
  return transfers_started_++;
}

void Timeline::operation(const OperationCost& cost, bool waits_for_last) {
  read(operation_commands_);
  make_room(operations_);
  // What is over hides nothing.
  const bool hides = !waits_for_last && !operations_.empty();
  double alone = cost.behind(hides ? last_drain_ : 0);
  alone += std::max(0.0, cost.first_fetch - (hides ? operations_.back().left : 0));
  last_drain_ = cost.drain;
  operations_.push(running(alone, cost.ports));
}

void Timeline::wait_for(int64_t transfer) {
  const auto done = [&] { return transfers_started_ - static_cast<int64_t>(transfers_.count); };
  while (done() <= transfer) pass();
}

void Timeline::wait_for_operations(int32_t under_way) {
  while (operations_.count > static_cast<size_t>(under_way)) pass();
}

void Timeline::pass() {
  if (!operations_.empty() && !transfers_.empty()) {
    pass_both(nullptr);
    return;
  }
  // Nothing asks for more than a port has by itself.
  Queue& queue = operations_.empty() ? transfers_ : operations_;
  if (queue.empty()) return;
  now_ += queue.front().left;
  queue.pop();
}

// An operation and a transfer, and what is read beside them, until the first of these is complete. Returns how long that is without
// the others.
inline double Timeline::pass_both(const Running* read) {
  Running &operation = operations_.front(), &transfer = transfers_.front();
  double step = std::min(operation.left, transfer.left);
  Ports asked(operation.shares);
  asked += Ports(transfer.shares);
  if (read != nullptr) {
    step = std::min(step, read->left);
    asked += Ports(read->shares);
  }
  now_ += asked.slowed(step);
  operation.left -= step;
  transfer.left -= step;
  if (operation.left <= 0) operations_.pop();
  if (transfer.left <= 0) transfers_.pop();
  return step;
}

double Timeline::finish() {
  while (!operations_.empty() || !transfers_.empty()) pass();
  return now_;
}

}  // namespace intarsia::npu
