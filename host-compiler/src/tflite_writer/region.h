// A run of a file's operators as a model of its own, compiled up to the point where the NPU has a function of it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "intarsia/compile.h"
#include "tflite_writer/states.h"

namespace intarsia::tflite_writer {

struct Setting {
  const TargetRegistry& registry;
  const TargetSpec& target;  // host, and the NPU
  const Target& npu;
  const CompileOptions& options;
};

// What the NPU was given, or what it refuses.
struct Region {
  std::vector<int32_t> operators;
  graph::Module module;  // partitioned: its entry is one call of `function`
  std::string function;
  // The file's tensors that are the function's operands, in their order.
  std::vector<int32_t> inputs, outputs;
  // Operators that the CPU has to take, by reason. Then there is no function.
  std::map<int32_t, std::string> refused;
};

// `operators` as `main` of a file of their own: what they read of others is an input, what others read an output.
Result<std::vector<uint8_t>> cut_out(const Original& model, const std::vector<int32_t>& operators);

// A module that has been imported, between the devices.
struct Placed {
  JoinedOperators joined;
  Partitioned partitioned;
};
Result<Placed> place(const graph::Module& imported, const Setting& setting);

// The region's module becomes this one, whose inputs and outputs are the file's tensors `inputs` and `outputs`, in their order. Refuses where it is more
// than one function of the NPU, where that is handed anything else, and where it keeps what does not begin as its zero point.
void take_function(Region& region, graph::Module module, const Original& model,
                   const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);

// Why the NPU does not run an operator.
std::string reason_of(const Explanation::Operator& row, const std::string& npu);

// `states` are all of the file's.
Result<Region> compile_region(const Original& model, const std::vector<State>& states,
                              const std::vector<int32_t>& operators, const Setting& setting);

}  // namespace intarsia::tflite_writer
