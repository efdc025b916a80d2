// A compiled network (ENCN), ours or Arm's, becomes a module of one operator `compiled`. Its tensors are the buffers of
// the file in their order: bytes, since the file says neither shapes nor quantisation of them.
#pragma once

#include <span>
#include <string>

#include "intarsia/graph.h"

namespace intarsia::targets::ethos_n {

// `module_name` is a C identifier, `file` serves messages. The command stream inside is not looked at: the device that
// is to run it does.
Result<graph::Module> import_network(std::span<const uint8_t> bytes, const std::string& file,
                                     const std::string& module_name);

}  // namespace intarsia::targets::ethos_n
