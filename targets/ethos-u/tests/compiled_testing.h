// Small graphs through the whole compiler and the simulator.
#pragma once

#include <string>

#include "compiled.h"
#include "support/random_operator.h"

namespace intarsia::test::ethos_u {

// The commands as text of a module's one stream, whose run gives what the evaluator gives; else a test's failure, and empty.
std::string commands_that_run(testing::Random& random, const graph::Module& module,
                              const CompileRequest& request);

}  // namespace intarsia::test::ethos_u
