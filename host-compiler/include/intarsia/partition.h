// Partition: every operator gets a device of the target, and each region of operators of one device
// becomes a function of its own that the entry calls. One mechanism for accelerators and for
// ordinary devices: every device offers, the policy decides.
//
//   func @main { conv2d, softmax }   =>   func @main { call npu_0, call c_0 }
//                                         func @main_npu_0 target=npu { conv2d } ...
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia {

// How it is decided which device runs an operator that several could run.
enum class PartitionPolicy : uint8_t {
  Priority,  // each device in order takes as much as it can, the host takes the rest
  Cost,      // least estimated latency including transfers
};

// What a partition is asked for.
struct PartitionOptions {
  PartitionPolicy policy = PartitionPolicy::Priority;
  std::map<std::string, std::string> pins;  // operator or function name -> device name
  // Whether the explanation has estimates of time also where the policy needs none: an NPU schedules every operator
  // for them.
  bool estimates = true;
  // Whether the explanation has `cycles`: every function is asked for once, also where `estimates` are left out.
  bool cycles = false;
  // What the functions will be lowered with, which their costs depend on.
  LoweringOptions lowering = {};
};

// One device's answer about one operator: it offers, or says why not.
struct Offer {
  std::string device;
  bool taken = false;                 // this device runs the operator
  std::optional<std::string> reason;  // why it cannot; or why another was preferred
  bool can = false;
  double microseconds = 0;  // of the operator alone; 0 when it cannot, or without estimates
  std::string note = {};    // when it can, but not as the operator is: how, and why not
};

// What `explain` prints: for every operator of the (inlined) entry, every device's answer.
struct Explanation {
  // One of them: what it is, and the device that runs it.
  struct Operator {
    std::string name, kind, shapes, device;
    std::vector<Offer> offers;  // in the target's order: host first, then devices
  };
  std::vector<Operator> operators;
  int64_t regions = 0;     // runs of operators of one device
  int64_t boundaries = 0;  // pairs of regions of unlike devices, one with a result of the other;
                           // the caller, on the host, is one before and one after them
  int64_t transfers = 0, transfer_bytes = 0;  // tensors that cross from one device to another
  double microseconds = 0;  // of the whole: its functions and the transfers; 0 without estimates

  // What each region became, in the order in which they run. Empty without estimates.
  struct Function {
    std::string name, device;
    int64_t operators = 0;
    double microseconds = 0;  // of all its operators together
  };
  std::vector<Function> functions;

  // The clock that a device's estimates assume, for every device that takes part.
  struct Clock {
    std::string device;
    double mhz = 0;
  };
  std::vector<Clock> clocks;

  // Estimated, of the operator where it runs, in cycles of that device's clock, as if it ran alone. Nothing without
  // estimates, and for an operator that takes no time of its own.
  std::optional<double> cycles_of(const Operator& row) const;

  // What the devices' cost estimates say in cycles of their own clocks, in the order in which it runs: of every operator
  // of a CPU, and of every function of another device, whose operators save each other work. Only where asked for.
  struct Cycles {
    std::string name, device;  // of the operator or the function
    int64_t operators = 1;
    double cycles = 0, clock_mhz = 0;
    // Of a function of another device: its operators one by one, as if each ran alone. Together they take longer.
    struct Alone {
      std::string name;
      double cycles = 0;
    };
    std::vector<Alone> alone = {};
  };
  std::vector<Cycles> cycles;

  // How policy cost came to its result; absent under other policies.
  struct Search {
    // No assignment costs less by the estimates of operators and of pairs of them.
    bool is_exact = true;
    int64_t placements = 0;  // partial assignments looked at
    int64_t most_kept = 0;   // of them, kept at once at most
  };
  std::optional<Search> search;
};

// For the user, when the search of policy cost was cut short: a sentence without a full stop. Empty otherwise.
std::string search_note(const Explanation& explanation);

// A module whose operators all have a device.
struct Partitioned {
  graph::Module module;  // the entry consists of calls; every other function has a target
  Explanation explanation;
};

// A module with lookups in place of chains of operators on single elements, and what they stand for: by the lookup's name, the names of the
// operators, in their order.
struct JoinedOperators {
  graph::Module module;
  std::map<std::string, std::vector<std::string>> lookups;
  // By the last operator of a chain in floats that stays, the tensor of int16 that it begins with: no operators on integers do the same.
  std::map<std::string, std::string> in_floats;
};

// Operators that compute each element from one int8 alone become a lookup of all 256 results, where there are two or more in a chain:
// float operators between two quantised tensors above all. Those that pins name stay, and chains that a device of the target takes as they are
// though it has no tables. Every result keeps every bit.
JoinedOperators join_operators(const graph::Module& module, const TargetRegistry& registry,
                               const TargetSpec& target, const PartitionOptions& options = {});

// Fails where an operator has no device that takes it, or a pin cannot be kept: all of them together, with the reasons.
Result<Partitioned> partition(const graph::Module& module, const TargetRegistry& registry,
                              const TargetSpec& target, const PartitionOptions& options = {});

// Explanation::cycles of a partitioned module, for another `lowering` than it was partitioned with.
std::vector<Explanation::Cycles> estimated_cycles(const graph::Module& partitioned,
                                                  const TargetRegistry& registry,
                                                  const TargetSpec& target,
                                                  const LoweringOptions& lowering);

}  // namespace intarsia
