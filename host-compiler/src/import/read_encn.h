// A compiled network of Arm's Ethos-N support library (ENCN) becomes a module of one operator
// `compiled` for "ethos-n". Its tensors are the buffers of the file in their order: bytes, since the
// file says neither shapes nor quantisation of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "intarsia/graph.h"

namespace intarsia::encn {

bool has_encn_identifier(std::span<const uint8_t> bytes);

// `module_name` is a C identifier, `file` serves messages. The command stream inside is not looked at:
// the device that is to run it does.
Result<graph::Module> read_encn(std::span<const uint8_t> bytes, const std::string& file,
                                const std::string& module_name);

}  // namespace intarsia::encn
