// The services of a target kind whose device is a library of layers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "intarsia/layers/layer.h"
#include "intarsia/plan.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/pattern.h"
#include "intarsia/plugin/target_kind.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/target.h"

namespace intarsia::layers {

// One for each operator that can be a layer; of int8 too, or not.
std::vector<Pattern> patterns(const Library& library, bool int8);

// A function of layers, each a command on buffers of ours.
Result<tir::LoweredFunction> lower(const Library& library, const graph::Module& module,
                                   const graph::Function& function);

// The streams of a device's functions.
Result<Artifacts> make_streams(const Library& library, const Target& device,
                               const tir::Module& module, const Plan& plan);

// A stream for this library as text.
std::optional<Result<std::string>> disassemble(const Library& library,
                                               std::span<const uint8_t> stream);

// "a, b and c are one call", for those that are more than one operator; and whose results may differ from the reference's.
std::vector<std::string> notes(const Library& library, const graph::Function& function);

// What `--policy cost` reckons with, besides the attributes "clock-mhz" and "macs-per-cycle" of the kind.
struct LayerCosts {
  double call_microseconds;  // before anything is computed
  double results_per_cycle;  // elements that are written
};

// A kind with all of the above, which works in the host's memory, and with an attribute "int8" where the library has layers of
// it. `library` lives as long as the compiler does.
TargetKind kind_of(KindSpec spec, const Library& library, const LayerCosts& costs,
                   DeviceDriver driver);

}  // namespace intarsia::layers
