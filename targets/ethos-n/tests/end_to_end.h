// End to end in one process: partition, lower, plan, streams, package, and then the runtime, the
// driver and the simulated device. For models that the NPU runs alone.
#pragma once

#include <string>
#include <vector>

#include "intarsia/compile.h"

namespace intarsia::test::ethos_n {

Result<CompiledModel> compile_for(const graph::Module& module, const std::string& target);

// The network inside of the only stream of the model.
std::vector<uint8_t> network_of(const CompiledModel& model);

// Behind a tag: with what the stack does not support in operators that it does.
inline constexpr const char* kRewriting = " -rewrites=true";

// On the variant that the target begins with. Empty, and `outputs`; or why not.
std::string run_on(const std::string& target, const CompiledModel& model,
                   const std::vector<graph::TensorValue>& inputs,
                   std::vector<graph::TensorValue>& outputs);

}  // namespace intarsia::test::ethos_n
