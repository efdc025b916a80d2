#include "lowering/region_of.h"

namespace intarsia::lowering {

const graph::Function* region_of(const graph::Module& partitioned, const tir::Func& func) {
  if (const graph::Function* same = partitioned.find(func.name)) return same;
  const graph::Function* longest =
      nullptr;  // where a region became several functions, or one of another name
  for (const graph::Function& function : partitioned.functions)
    if (function.target == func.target && func.name.starts_with(function.name) &&
        (longest == nullptr || function.name.size() > longest->name.size()))
      longest = &function;
  return longest;
}

}  // namespace intarsia::lowering
