// A registry with this target and plain C.
#pragma once

#include "intarsia/import.h"
#include "intarsia/plugin/target_kind.h"
#include "support/parsed.h"

namespace intarsia::targets::ethos_u {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::ethos_u {

inline TargetRegistry make_registry() {
  return registry_beside_c(targets::ethos_u::add_kinds);
}

// With the streams of other compilers that this target takes.
inline Result<graph::Module> import_stream(const std::vector<uint8_t>& bytes,
                                           const std::string& file) {
  return import_model(bytes, {.file = file, .foreign = make_registry().foreign_formats()});
}

}  // namespace intarsia::test::ethos_u
