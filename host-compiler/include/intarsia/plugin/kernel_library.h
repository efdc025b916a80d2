// Kernels for some targets of a CPU kind: C functions made for a core's instructions, which emitted code calls where it
// would otherwise have the portable loops. A target folder brings them for a kind of another folder.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/lowering_options.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/target.h"

namespace intarsia {

namespace operators {
class OpLowering;
struct OpView;
}  // namespace operators

namespace standard_lowering {
// Writes the kernel of one operator: declares its operands, returns the body.
using LowerKernel = std::function<tir::Stmt(operators::OpLowering&)>;
// The target's own kernel for an operator that the portable lowering takes; empty: the portable one.
using ChooseKernel = std::function<LowerKernel(const operators::OpView&)>;
}  // namespace standard_lowering

// A kernel that takes its many numbers as one constant struct: those operands of the intrinsic that are numbers become
// its fields, in order, and its address is the first argument.
struct ConstantStruct {
  std::string type, name;  // "struct intarsia_window", "window"
  std::vector<std::string> fields;
};
using ConstantStructs = std::map<std::string, ConstantStruct, std::less<>>;  // by intrinsic

// What build systems of firmware projects call a core, so that packages can say which ones they are for.
struct CoreNames {
  std::string cmsis;         // Dcore in CMSIS-Packs
  std::string cmsis_device;  // Arm's device in its pack of generic ones: "ARMCM4"; or empty
  std::string rust;          // the target of rustc without its ABI: "thumbv7em-none"
  // The instructions that its kernels use, in words ("the DSP extension"), and Zephyr's Kconfig condition for cores that
  // have them ("ARMV8_1_M_MVEI"). Empty for a target without kernels of its own.
  std::string instructions, zephyr_condition;
  // How a Rust program without an operating system starts and prints: lines of Cargo.toml, and of the program its `use`
  // (with a macro println) and its entry point, which calls sample() and ends the program by what it returns.
  std::string rust_dependencies, rust_uses, rust_entry;
};

struct KernelLibrary {
  // Whether there are kernels for the target's core.
  std::function<bool(const Target&)> serves;
  // The kernels for a function that is lowered with these options.
  std::function<standard_lowering::ChooseKernel(const Target&, const LoweringOptions&)> kernels;
  // The structs that kernels take.
  ConstantStructs structs = {};
  // Headers that emitted functions include: "my_core/kernels.h".
  std::function<std::vector<std::string>(const Target&)> includes;
  // Cycles of an operator that has a kernel, with memories as the options say; nothing where it runs as portable loops.
  std::function<std::optional<double>(const Target&, const graph::Module&, const graph::Function&,
                                      const graph::Node&, const LoweringOptions&)>
      cycles;
  // The names of a target's core, whether or not it is served; nothing for one that is not known here. May be left out.
  std::function<std::optional<CoreNames>(const Target&)> core_names = {};
  // The target folder whose device/ is compiled into programs, below targets/ or an absolute path.
  std::string folder;
};

}  // namespace intarsia
