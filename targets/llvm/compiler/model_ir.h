// A whole model as text of LLVM's IR: kernels, schedule and the functions that the header of a package declares.
#pragma once

#include <string>

#include "intarsia/plan.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/result.h"
#include "ir_text.h"

namespace intarsia::targets::llvm {

// The text declares the constants and does not hold them: `@kws_weights`, arrays of bytes. Refuses a model of which others
// than `device` run a part, and constants in memories of their own.
Result<std::string> model_ir(const tir::Module& module, const Plan& plan, const std::string& device,
                             const IrDialect& dialect);

}  // namespace intarsia::targets::llvm
