// A vendor's library in a composite target: it takes whole networks as a file and brings its own compiler, runtime and
// kernels, so that what is generated for it is that file.
#pragma once

#include "intarsia/plugin/target_kind.h"

namespace intarsia::targets::layer_sdk {

#define CONSTANT(name, value) inline constexpr int64_t k##name = value;
#include "intarsia/targets/layer_sdk/stream.def"
#undef CONSTANT

// The region as the vendor's tools read it.
std::string network_text(const graph::Module& module, const graph::Function& function);

Result<tir::LoweredFunction> lower(const graph::Module& module, const graph::Function& function);
Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan);

// The intrinsic of a region's function: the network's text (a constant), its inputs, its outputs.
inline constexpr std::string_view kNetwork = "layer_sdk.network";

}  // namespace intarsia::targets::layer_sdk
