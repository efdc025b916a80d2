// Partition: every operator gets a member of the target, and each region of operators of one member
// becomes a function of its own that the entry calls. One mechanism for accelerators and for
// ordinary devices: every member offers, the policy decides.
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

enum class PartitionPolicy : uint8_t {
  Priority,  // each device in order takes as much as it can, the host takes the rest
  Cost,      // least estimated latency including transfers
};

struct PartitionOptions {
  PartitionPolicy policy = PartitionPolicy::Priority;
  std::map<std::string, std::string> pins;  // operator or function name -> member name
  // Whether the explanation has estimates of time also where the policy needs none: an NPU schedules every operator
  // for them.
  bool estimates = true;
  // What the functions will be lowered with, which their costs depend on.
  LoweringOptions lowering = {};
};

// One member's answer about one operator: it offers, or says why not.
struct Offer {
  std::string member;
  bool taken = false;                 // this member runs the operator
  std::optional<std::string> reason;  // why it cannot; or why another was preferred
  bool can = false;
  double microseconds = 0;  // of the operator alone; 0 when it cannot, or without estimates
  std::string note = {};    // when it can, but not as the operator is: how, and why not
};

// What `explain` prints: for every operator of the (inlined) entry, every member's answer.
struct Explanation {
  struct Operator {
    std::string name, kind, shapes, member;
    std::vector<Offer> offers;  // in the target's order: host first, then devices
  };
  std::vector<Operator> operators;
  int64_t regions = 0;     // runs of operators of one member
  int64_t boundaries = 0;  // pairs of regions of unlike members, one with a result of the other;
                           // the caller, on the host, is one before and one after them
  int64_t transfers = 0, transfer_bytes = 0;  // tensors that cross from one member to another
  double microseconds = 0;  // of the whole: its functions and the transfers; 0 without estimates

  // What each region became, in the order in which they run. Empty without estimates.
  struct Function {
    std::string name, member;
    int64_t operators = 0;
    double microseconds = 0;  // of all its operators together
  };
  std::vector<Function> functions;

  // The clock that a member's estimates assume, for every member that takes part.
  struct Clock {
    std::string member;
    double mhz = 0;
  };
  std::vector<Clock> clocks;

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

struct Partitioned {
  graph::Module module;  // the entry consists of calls; every other function has a target
  Explanation explanation;
};

Result<Partitioned> partition(const graph::Module& module, const TargetRegistry& registry,
                              const TargetSpec& target, const PartitionOptions& options = {});

}  // namespace intarsia
