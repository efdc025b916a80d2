// Kind `example-npu`: the hooks, one file each.
#pragma once

#include <optional>
#include <span>

#include "intarsia/plugin/target_kind.h"

namespace intarsia::targets::example_npu {

// patterns.cpp: what the device takes, with a reason for everything else.
std::vector<Pattern> patterns();

// lower.cpp: one function of intrinsics, one per command (or per image of a batch).
Result<tir::LoweredFunction> lower(const graph::Module& module, const graph::Function& function);

// stream.cpp: the command streams of the functions that belong to `device`.
Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan);

// disassemble.cpp: a stream as text, one command a line; nothing when it is not one of ours.
std::optional<Result<std::string>> disassemble(std::span<const uint8_t> stream);

}  // namespace intarsia::targets::example_npu
