// A registry with this target and plain C.
#pragma once

#include "intarsia/plugin/target_kind.h"
#include "support/parsed.h"

namespace intarsia::targets::ethos_n {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::ethos_n {

inline TargetRegistry make_registry() {
  return registry_beside_c(targets::ethos_n::add_kinds);
}

}  // namespace intarsia::test::ethos_n
