// What an assignment of operators to devices costs, for the search of policy cost and for the estimate of both
// policies.
#pragma once

#include <cstdint>
#include <vector>

#include "partitioning/function_costs.h"
#include "partitioning/offers.h"

namespace intarsia::partitioning {

// Whole numbers: sums do not depend on their order, and equal costs are equal on every machine.
using Picoseconds = int64_t;

// Devices, one bit each.
using DeviceSet = uint64_t;
constexpr size_t kMostDevices = 64;
inline DeviceSet only(int device) {
  return DeviceSet{1} << device;
}

// The function's caller, who has the inputs and takes the outputs: it runs on the host.
constexpr int kCaller = -1, kHost = 0;

// A tensor that is moved when another device than its writer's reads it. Constants are where they are
// needed, and state stays with the device that keeps it.
struct Carried {
  graph::TensorId id;
  int writer = kCaller;      // node
  std::vector<int> readers;  // other nodes, ascending, each once
  bool is_output = false;    // the caller reads it as well
  int64_t bytes = 0;

  // The only one who reads it, beside its writer; else kCaller.
  int only_reader() const { return readers.size() == 1 && !is_output ? readers.front() : kCaller; }
};

class CostModel {
 public:
  // Without `costs`, operators cost nothing, and transfers what they do. With `savings`, what a writer and the only
  // reader of its result cost less together than each alone counts.
  CostModel(const graph::Function& function, const TargetRegistry& registry,
            const TargetSpec& target, const Offers& offers, const FunctionCosts* costs,
            bool savings = true);

  size_t nodes() const { return running_.size(); }
  size_t devices() const { return owners_.size(); }
  const std::vector<Carried>& carried() const { return carried_; }
  // Indices into carried(), each once.
  const std::vector<int>& read_by(size_t node) const { return read_by_[node]; }
  const std::vector<int>& written_by(size_t node) const { return written_by_[node]; }

  // What the device says of the operator alone. It says nothing of one that it cannot run.
  const CostEstimate& alone(size_t node, size_t device) const { return alone_[node][device]; }
  // What the operator takes where all that only it reads is computed on the device as well.
  Picoseconds running(size_t node, int device) const {
    return running_[node][static_cast<size_t>(device)];
  }
  // Of making what `writer` computed readable to all of `readers`, the writer among them or not: it is handed
  // over once, taken once by every other device, and copied through the mailbox once for every other CPU.
  Picoseconds transferring(int carried, int writer, DeviceSet readers) const;
  // The same, and what the only reader does not save because it is not the writer.
  Picoseconds moving(int carried, int writer, DeviceSet readers) const;
  // Readers that do not depend on the assignment.
  DeviceSet fixed_readers(int carried) const {
    return carried_[static_cast<size_t>(carried)].is_output ? only(kHost) : 0;
  }

 private:
  Picoseconds limited(double microseconds) const;
  void find_savings(const Offers& offers, const FunctionCosts& costs);

  std::vector<std::vector<CostEstimate>> alone_;           // [node][device]
  std::vector<std::vector<Picoseconds>> running_;          // [node][device]
  std::vector<std::vector<Picoseconds>> sides_, savings_;  // [carried][device]
  std::vector<Picoseconds> mailbox_;                       // [carried]
  std::vector<Carried> carried_;
  std::vector<std::vector<int>> read_by_, written_by_;
  std::vector<size_t> owners_;
  double most_ = 0;  // of a single term: the sum of all stays in range
};

constexpr double microseconds(Picoseconds time) {
  return static_cast<double>(time) / 1e6;
}

}  // namespace intarsia::partitioning
