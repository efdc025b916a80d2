#include "prototypes.h"

#include <fmt/format.h>

#include "intarsia/plugin/c_writer.h"

namespace intarsia::targets::llvm {

std::string prototypes(const tir::Module& module, const std::vector<const tir::Func*>& kernels) {
  CWriter out;
  for (const tir::Func* func : kernels) {
    std::string parameters;
    for (size_t i = 0; i < func->parameters.size(); ++i)
      parameters += fmt::format("{}{}{} *", i == 0 ? "" : ", ",
                                func->parameters[i].access == tir::Access::Read ? "const " : "",
                                c_name(func->buffers[i].type));
    if (!func->origin.empty()) out.comment({func->origin});
    out.line(fmt::format("void {}_{}({});", module.name, func->name,
                         parameters.empty() ? "void" : parameters));
  }
  return out.text();
}

}  // namespace intarsia::targets::llvm
