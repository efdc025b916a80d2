// TargetKind: how a target plugs in. A description of the kind, and services that the compiler calls; every service is
// handed the target in question (kind, name and attribute values), keeps no state, and answers with new values.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/lowering_options.h"
#include "intarsia/plan.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/device_work.h"
#include "intarsia/plugin/foreign_formats.h"
#include "intarsia/plugin/kernel_library.h"
#include "intarsia/plugin/pattern.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/target.h"

namespace intarsia {

// Estimated cost on one device, in cycles of that device's clock.
struct CostEstimate {
  double cycles = 0;
  double clock_mhz = 100;
  // At that clock.
  double microseconds() const { return cycles / clock_mhz; }
};

// What drives the device in a program. Its files are those of the target's folder: the sources in device/ are compiled,
// and the headers and tables of device/ and isa/ are included as "intarsia/targets/<identifier>/x.h", where <identifier> is the folder's
// name as a C identifier.
struct DeviceDriver {
  std::string folder;         // below targets/, or an absolute path
  std::string header;         // in C, declares the following: "intarsia/targets/my_npu/driver.h"
  std::string driver_type;    // one device's state; has a member `struct intarsia_device device`
  std::string open_function;  // intarsia_status f(driver_type *, void *registers)
  bool has_registers = true;  // false: `registers` is null, the driver finds its device itself
  std::vector<std::string> link_libraries;
};

// How `--board host` executes command streams: the sources in sim/ are compiled into the program as well, with their
// headers included in the same way.
struct DeviceSimulator {
  std::string header;             // in C: "intarsia/targets/my_npu/simulator.h"
  std::string attach_expression;  // of type struct intarsia_register_bus: a fresh simulated device
  std::string
      open_bus_function;  // intarsia_status f(driver_type *, const struct intarsia_register_bus *)
};

// A pattern for every operator of the portable lowering, which refuses what that does not take.
std::vector<Pattern> portable_patterns();

// The service `cost` of targets that compute one operator after the other, from what each of them costs.
using OperatorCost = std::function<CostEstimate(const Target&, const graph::Module&,
                                                const graph::Function&, const graph::Node&)>;
std::function<CostEstimate(const Target&, const graph::Module&, const graph::Function&,
                           const LoweringOptions&)>
sum_of_operators(OperatorCost cost);

// A kind of device, with everything that the compiler asks of it.
struct TargetKind {
  // Name, role, attributes with defaults and checks, tags.
  KindSpec spec;

  // Services that every kind has. One that is left empty becomes the default named beside it when the kind is added to
  // a registry.

  // What the target can take. Default: every operator of the portable lowering.
  std::function<std::vector<Pattern>(const Target&)> patterns;

  // Default: the portable lowering, with the kernels of the library that serves the target.
  std::function<Result<tir::LoweredFunction>(const Target&, const graph::Module&,
                                             const graph::Function&, const LoweringOptions&)>
      graph_to_tir;

  // Artifacts for the functions of the module whose `target` is this one. Default: a C function for each, which calls
  // the kernels of the library that serves the target.
  std::function<Result<Artifacts>(const Target&, const tir::Module&, const Plan&)> tir_to_runtime;

  // What a function costs that the target would be given: its operators together, with what they save each other (a
  // result that never leaves fast memory, operators that become one) and as the options ask. The function was cut out
  // of the module and need not be one of its functions; each of its operators is part of something that the target
  // takes. Default: the sum over its operators on a plain scalar core, from multiply-accumulates and elements. Where a
  // kernel library serves the target, each operator that it has a kernel for costs what the library says.
  std::function<CostEstimate(const Target&, const graph::Module&, const graph::Function&,
                             const LoweringOptions&)>
      cost;

  // Microseconds to make `bytes` of another target's result readable here. Default: one memory copy at four bytes per
  // cycle plus a fixed hand-over; nothing between functions of one CPU.
  std::function<double(const Target&, int64_t bytes)> transfer_microseconds;

  // What `explain` adds about how the target runs a function it is given, a line each: layers that run together, say.
  // Default: nothing.
  std::function<std::vector<std::string>(const Target&, const graph::Module&,
                                         const graph::Function&)>
      notes;

  // By how many steps of its quantisation a result may differ from the reference evaluator's on the same operands, where
  // a device does not compute TFLite's arithmetic. Default: none, every bit is the reference's.
  std::function<int32_t(const Target&, const graph::Node&)> tolerance;

  // Memories that the target reckons with, for where the board does not say what it has: a fast SRAM of limited size
  // beside unlimited RAM. A buffer asks for one by its name (tir::Buffer::memory). A pool of the same name that is there
  // already stays. Default: none.
  std::function<std::vector<MemoryPool>(const Target&)> memories;

  // What a board decides of the target: values of attributes that nobody wrote, from its memories and clocks. Not asked
  // where nobody has said what the board is. Default: nothing.
  std::function<Result<std::vector<std::pair<std::string, AttributeValue>>>(const Target&,
                                                                            const MemoryMap&)>
      on_board;

  // The name boards use in `accessible_by`. Default: "cpu" for CPU kinds, else the kind's name.
  std::function<std::string(const Target&)> memory_master;

  // Services that a kind may do without: they stay empty.

  // Of a kind that executes command streams. A CPU has none.
  std::function<DeviceDriver(const Target&)> driver;
  // Without it, `--board host` opens the driver itself.
  std::function<DeviceSimulator(const Target&)> simulator;

  // A command stream of this kind as readable text, or nothing when the bytes are not one of its own. Takes what a
  // package holds and, where the kind has them, other tools' files around its streams.
  std::function<std::optional<Result<std::string>>(std::span<const uint8_t>)> disassemble;

  // What `cost` estimates of such a function, operation by operation, for summaries.
  std::function<DeviceWork(const Target&, const graph::Module&, const graph::Function&,
                           const LoweringOptions&)>
      work;

  // What other compilers write for targets of this kind, for the importer.
  ForeignFormats foreign_formats = {};

  // Kernels for some of its targets, of target folders beside it. Added by TargetRegistry::add_kernels.
  std::vector<KernelLibrary> kernel_libraries = {};

  // The library that serves the target; null where there is none.
  const KernelLibrary* kernels_for(const Target& target) const;
};

// The kinds this build knows. Made once by the composition root (the command line, a test) and handed in; nothing
// registers itself.
class TargetRegistry {
 public:
  // Fills in the defaults. A kind that is wrong (TargetCatalogue::add_kind) is our own bug.
  void add(TargetKind kind);
  // For the kind of that name, which may be added later; never used where there is none.
  void add_kernels(const std::string& kind, KernelLibrary library);
  const TargetKind& kind(std::string_view name) const;  // checked to exist
  // The kind of a device of a target; checked to exist.
  const TargetKind& kind_of(const Target& target) const { return kind(target.kind); }
  // In the order in which they were added.
  const std::vector<std::unique_ptr<TargetKind>>& kinds() const { return kinds_; }
  ForeignFormats foreign_formats() const;  // of all kinds
  // Their names, attributes and tags, which targets are read against.
  const TargetCatalogue& catalogue() const { return catalogue_; }
  TargetCatalogue& catalogue() { return catalogue_; }

 private:
  std::vector<std::unique_ptr<TargetKind>> kinds_;  // their default services refer to them
  std::vector<std::pair<std::string, KernelLibrary>> waiting_;  // for their kind
  TargetCatalogue catalogue_;
};

}  // namespace intarsia
