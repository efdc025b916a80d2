// Models with recorded outputs, through our compiler and the simulator.
#pragma once

#include <string>

#include "compiled.h"

namespace intarsia::test::ethos_u {

// A model or case of recorded_data.h.
Result<CompiledModel> compile_recorded(const std::string& name, const CompileRequest& request);
// Every sample's outputs are the recorded ones, and the checker has nothing to say.
void expect_exact(const std::string& name, const CompileRequest& request);
// The same for what has been compiled already.
void expect_exact(const std::string& name, const CompiledModel& model, const std::string& where);

}  // namespace intarsia::test::ethos_u
