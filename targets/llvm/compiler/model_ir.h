// A whole model as text of LLVM's IR: kernels, schedule and the functions that the header of a package declares.
#pragma once

#include <string>
#include <vector>

#include "intarsia/plan.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/result.h"
#include "ir_text.h"

namespace intarsia::targets::llvm {

// In the order of the module.
std::vector<const tir::Func*> kernels_of(const tir::Module& module, const std::string& device);

// The text declares the constants and does not hold them: `@kws_weights`, arrays of bytes.
Result<std::string> model_ir(const tir::Module& module, const Plan& plan, const std::string& device,
                             const IrDialect& dialect);

// The device's kernels alone, for a schedule in C: `@kws_conv_3`, with parameters as prototype() declares them.
Result<std::string> kernels_ir(const tir::Module& module, const Plan& plan,
                               const std::string& device, const IrDialect& dialect);

}  // namespace intarsia::targets::llvm
