// Layers to a compiled network: stripes, addresses in SRAM, agents, commands, weights, buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "program.h"

namespace intarsia::targets::ethos_n {

struct GeneratedNetwork {
  std::vector<uint8_t> bytes;  // ENCN
  int64_t intermediate_bytes = 0;
};

// Every layer can be cut into stripes (plan_stripes); names of tensors are the storages'.
GeneratedNetwork generate(const Variant& variant, const Program& program);

}  // namespace intarsia::targets::ethos_n
