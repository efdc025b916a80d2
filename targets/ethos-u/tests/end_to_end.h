// Compiling for the targets that these tests know: partition, lower, plan, streams.
#pragma once

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "intarsia/import.h"
#include "kinds.h"

namespace intarsia::test::ethos_u {

inline Result<CompiledModel> compile_for(const graph::Module& module, const std::string& target) {
  const TargetRegistry registry = make_registry();
  INTARSIA_TRY(const TargetSpec spec, parse_target_argument(registry.catalogue(), target));
  CompileOptions options;
  options.memory.pools = {{"ram", 0}};
  options.memory.open = true;
  return compile_module(module, registry, spec, options);
}

}  // namespace intarsia::test::ethos_u
