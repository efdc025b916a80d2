// Layers to a compiled network: stripes, addresses in SRAM, agents, commands, weights, buffers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/program.h"
#include "schedule/traffic.h"

namespace intarsia::targets::ethos_n {

struct GenerateOptions {
  bool allows_cascades = true;  // else every layer by itself: what they are measured against
};

// Layers that run together, stripe by stripe.
struct CascadeDescription {
  std::vector<std::string> operators;  // of the model
  int64_t stripes = 0, bytes = 0;      // of all its layers; between DRAM and SRAM
};

struct GeneratedNetwork {
  int64_t buffers = 0;         // the command stream among them
  std::vector<uint8_t> bytes;  // ENCN
  int64_t intermediate_bytes = 0;
  std::vector<CascadeDescription> cascades;
  Traffic traffic;
};

// Every layer can be cut into stripes (plan_stripes); names of tensors are the storages'.
GeneratedNetwork generate(const Variant& variant, const Program& program,
                          const GenerateOptions& options = {});

}  // namespace intarsia::targets::ethos_n
