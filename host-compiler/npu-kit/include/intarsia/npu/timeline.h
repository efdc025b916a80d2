// How long an NPU takes for a list of operations and transfers: two queues, each of which works in order and one at a
// time, beside each other. Both move bytes over ports, each of which has a bandwidth; while the two ask for more of a
// port than it has, both take longer, in proportion. A target brings the costs; the unit of time is its own, as a rule
// cycles of the NPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace intarsia::npu {

// Ways to memory that are counted apart. Their numbers are the target's; those that it does not have stay 0.
inline constexpr size_t kMostPorts = 4;

// What a copy from memory to memory takes, or the reading of commands.
struct TransferCost {
  double cycles = 0;  // no less than each of its ports
  std::array<double, kMostPorts> ports = {};
  bool operator==(const TransferCost&) const = default;
};

// What an operation takes that nothing disturbs.
struct OperationCost {
  double pipeline = 0;  // with ports of any bandwidth
  // Time that its bytes need on each port.
  std::array<double, kMostPorts> ports = {};
  // What operations that follow each other hide: until the first input is there, and from the last result of the
  // pipeline until it is stored. The first is not in `pipeline`, the second is.
  double first_fetch = 0, drain = 0;
  double start = 0;  // until it begins, which nothing hides

  // Without first_fetch: the start, and the pipeline or the port that takes longest.
  double alone() const;
  // The same behind an operation with that drain, which hides latency and computing, but no bytes: they cross their
  // ports in any case.
  double behind(double drain_before) const;
  bool operator==(const OperationCost&) const = default;
};

// What the processor of commands takes to read those of one operation or transfer. It reads while others run.
struct CommandCosts {
  TransferCost operation, transfer;
};

// Commands of each kind that the NPU takes before it has ended the first of them, at least 1; and what reading them takes.
// kMostDepth at most.
inline constexpr int32_t kMostDepth = 4;
struct QueueDepths {
  int32_t operations = 2, transfers = 1;
  CommandCosts commands = {};
};

// Commands under way, and the time until now. A copy goes on from there by itself, and copying is cheap: plans are tried by
// the thousand.
class Timeline {
 public:
  explicit Timeline(const QueueDepths& depths);

  double now() const { return now_; }
  int64_t transfers_started() const { return transfers_started_; }
  // Whether the same commands take the same time behind both: what is under way is as far.
  bool goes_on_as(const Timeline& other) const;

  // All of these come in the order of the command stream, and wait while a queue has no room.

  // Starts a transfer; its number is for wait_for.
  int64_t transfer(const TransferCost& cost);
  // `waits_for_last`: it reads what the operation before puts out last, so that it hides nothing of it and shows its
  // first fetch. Others hide it as far as the operation before is still under way.
  void operation(const OperationCost& cost, bool waits_for_last);
  // Until that transfer has ended; the number is of transfer().
  void wait_for(int64_t transfer);
  void wait_for_operations(int32_t under_way);  // until at most this many are
  // As if so much time had passed before, with so many transfers.
  void delay(double cycles, int64_t transfers) {
    now_ += cycles;
    transfers_started_ += transfers;
  }
  // The time when all has ended.
  double finish();

 private:
  struct Running {
    double left = 0;
    std::array<double, kMostPorts> shares = {};  // of each port, while nothing else asks for it
    bool operator==(const Running&) const = default;
  };
  // A ring: commands end in the order in which they begin.
  static Running running(double cycles, const std::array<double, kMostPorts>& ports);
  struct Queue {
    uint32_t most = 1, first = 0, count = 0;
    std::array<Running, static_cast<size_t>(kMostDepth)> running = {};

    bool empty() const { return count == 0; }
    Running& front() { return running[first]; }
    const Running& back() const { return running[(first + count - 1) % running.size()]; }
    bool holds_the_same(const Queue& other) const;
    void push(const Running& next) { running[(first + count++) % running.size()] = next; }
    void pop() {
      first = (first + 1) % static_cast<uint32_t>(running.size());
      --count;
    }
  };
  void read(const Running& commands);
  void make_room(Queue& queue);
  void pass();  // until the first of what runs is complete
  double pass_both(const Running* read);

  Running operation_commands_, transfer_commands_;
  Queue operations_, transfers_;
  double now_ = 0, last_drain_ = 0;
  int64_t transfers_started_ = 0;
};

}  // namespace intarsia::npu
