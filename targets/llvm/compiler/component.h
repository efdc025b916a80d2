// The component that links LLVM, which is loaded when it is asked first.
#pragma once

#include <string>

#include "intarsia/plugin/tir.h"
#include "intarsia/result.h"
#include "intarsia/target.h"
#include "ir_text.h"

namespace intarsia::targets::llvm {

// What there is to know of the machine of a target. Refuses one that LLVM has no code for, and says what to install where
// there is no LLVM.
Result<IrDialect> describe(const Target& target);

// The module with its constants as an object file for the target.
Result<std::string> object_file(const Target& target, const tir::Module& module,
                                const std::string& ir);

}  // namespace intarsia::targets::llvm
