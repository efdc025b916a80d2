// TargetKind: how a target plugs in. One object per kind, without state: a Target (kind, member name
// and attribute values) is handed to every question. Inputs are read-only, answers are new values.
// A kind that leaves a hook out gets the default named beside it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "intarsia/artifacts.h"
#include "intarsia/graph.h"
#include "intarsia/lowering_options.h"
#include "intarsia/pattern.h"
#include "intarsia/plan.h"
#include "intarsia/target.h"
#include "intarsia/tir.h"

namespace intarsia {

// Estimated cost of one operator on one member, in cycles of that member's clock.
struct CostEstimate {
  double cycles = 0;
  double clock_mhz = 100;
  double microseconds() const { return cycles / clock_mhz; }
};

// What drives the device in a program; without a driver_type, the C that its functions call. Its files are those of the target's folder: the sources in
// device/ are compiled, and the headers and tables of device/ and isa/ are included as
// "<identifier>/x.h", where <identifier> is the folder's name as a C identifier.
struct RuntimePart {
  std::string folder;         // below targets/, or an absolute path; empty: nothing of it is needed
  std::string header;         // in C, declares the following: "example_npu/driver.h"
  std::string driver_type;    // one device's state; has a member `struct intarsia_device device`
  std::string open_function;  // intarsia_status f(driver_type *, void *registers)
  bool has_registers = true;  // false: `registers` is null, the driver finds its device itself
  std::vector<std::string> link_libraries;  // "OpenCL"
};

// How `--board host` executes the artifacts. The sources in sim/ are compiled into the program as
// well, with its headers included in the same way. Without it the driver itself is opened.
struct SimulatorPart {
  std::string header;             // in C: "example_npu/simulator.h"; empty: there is no simulator
  std::string attach_expression;  // of type struct intarsia_register_bus: a fresh simulated device
  std::string
      open_bus_function;  // intarsia_status f(driver_type *, const struct intarsia_register_bus *)
};

class TargetKind {
 public:
  virtual ~TargetKind() = default;

  // Name, role, attributes with defaults and checks, tags.
  virtual const KindSpec& spec() const = 0;

  // A kind may be refined: a RefiningKind, made known by TargetRegistry::refine, answers every question
  // about the targets for which this is true.
  virtual bool refines(const Target& target) const { return (void)target, false; }

  // What it can take. Default: every operator of the portable lowering.
  virtual std::vector<Pattern> patterns(const Target& target) const;

  // GraphToTir. Default: the portable lowering.
  virtual Result<tir::LoweredFunction> graph_to_tir(const Target& target,
                                                    const graph::Module& module,
                                                    const graph::Function& function,
                                                    const LoweringOptions& options) const;

  // TirToRuntime: artifacts for the functions of `module` whose `target` is this member.
  // Default: one C function per TIR function.
  virtual Result<Artifacts> tir_to_runtime(const Target& target, const tir::Module& module,
                                           const Plan& plan) const;

  // Default: a plain scalar core, from multiply-accumulates and elements.
  virtual CostEstimate cost(const Target& target, const graph::Module& module,
                            const graph::Function& function, const graph::Node& node) const;

  // What `explain` adds about how the member runs a function it is given, a line each: layers that run together,
  // say. Default: nothing.
  virtual std::vector<std::string> notes(const Target& target, const graph::Module& module,
                                         const graph::Function& function) const {
    return (void)target, (void)module, (void)function, std::vector<std::string>{};
  }

  // By how many steps of its quantisation a result may differ from the reference evaluator's on the same
  // operands, where a device does not compute TFLite's arithmetic. Default: none, every bit is the reference's.
  virtual int32_t tolerance(const Target& target, const graph::Node& node) const {
    return (void)target, (void)node, 0;
  }

  // Microseconds to make `bytes` of another member's result readable here. Default: one memory copy
  // at four bytes per cycle plus a fixed hand-over, nothing between two host functions.
  virtual double transfer_microseconds(const Target& target, int64_t bytes) const;

  // Memories that the target reckons with, for where the board does not say what it has: a fast SRAM
  // of limited size beside unlimited RAM. A buffer asks for one by its name (tir::Buffer::memory). A
  // pool of the same name that is there already stays. Default: none.
  virtual std::vector<MemoryPool> memories(const Target& target,
                                           const LoweringOptions& options) const {
    return (void)target, (void)options, std::vector<MemoryPool>{};
  }

  // The name boards use in `accessible_by`. Default: "cpu" for CPU kinds, else the kind's name.
  virtual std::string memory_master(const Target& target) const;

  // A command stream of this kind as readable text, or nothing when `stream` is not one of its own.
  // Takes what a package holds and, where the kind has them, other tools' files around its streams.
  virtual std::optional<Result<std::string>> disassemble(std::span<const uint8_t> stream) const {
    return (void)stream, std::nullopt;
  }

  virtual RuntimePart runtime(const Target& target) const { return (void)target, RuntimePart{}; }
  virtual SimulatorPart simulator(const Target& target) const {
    return (void)target, SimulatorPart{};
  }
};

// What refines another kind. Every question it does not answer itself goes to that kind, its base: with a
// hook of TargetKind's own it would otherwise lose what the base has said.
class RefiningKind : public TargetKind {
 public:
  explicit RefiningKind(const TargetKind& base) : base_(base) {}
  bool refines(const Target& target) const override = 0;

  const KindSpec& spec() const override { return base_.spec(); }
  std::vector<Pattern> patterns(const Target& target) const override {
    return base_.patterns(target);
  }
  Result<tir::LoweredFunction> graph_to_tir(const Target& target, const graph::Module& module,
                                            const graph::Function& function,
                                            const LoweringOptions& options) const override;
  Result<Artifacts> tir_to_runtime(const Target& target, const tir::Module& module,
                                   const Plan& plan) const override;
  CostEstimate cost(const Target& target, const graph::Module& module,
                    const graph::Function& function, const graph::Node& node) const override {
    return base_.cost(target, module, function, node);
  }
  std::vector<std::string> notes(const Target& target, const graph::Module& module,
                                 const graph::Function& function) const override {
    return base_.notes(target, module, function);
  }
  int32_t tolerance(const Target& target, const graph::Node& node) const override {
    return base_.tolerance(target, node);
  }
  double transfer_microseconds(const Target& target, int64_t bytes) const override {
    return base_.transfer_microseconds(target, bytes);
  }
  std::vector<MemoryPool> memories(const Target& target,
                                   const LoweringOptions& options) const override {
    return base_.memories(target, options);
  }
  std::string memory_master(const Target& target) const override {
    return base_.memory_master(target);
  }
  std::optional<Result<std::string>> disassemble(std::span<const uint8_t> stream) const override {
    return base_.disassemble(stream);
  }
  RuntimePart runtime(const Target& target) const override { return base_.runtime(target); }
  SimulatorPart simulator(const Target& target) const override { return base_.simulator(target); }

 protected:
  const TargetKind& base() const { return base_; }

 private:
  const TargetKind& base_;  // owned by the registry, which keeps it as long as this
};

// The kinds this build knows. Made once by the composition root (the command line, a test) and
// handed in; nothing registers itself.
class TargetRegistry {
 public:
  using MakeRefinement = std::function<std::unique_ptr<RefiningKind>(const TargetKind& base)>;

  void add(std::unique_ptr<TargetKind> kind);
  // `make` is called once there is a kind of that name, now or later; never where there is none.
  void refine(const std::string& kind, MakeRefinement make);
  const TargetKind& kind(std::string_view name) const;  // checked to exist
  // Who answers for the target: its kind, or what refines it for this target.
  const TargetKind& kind_of(const Target& target) const;
  const std::vector<std::unique_ptr<TargetKind>>& kinds() const { return kinds_; }
  const TargetCatalogue& catalogue() const { return catalogue_; }
  TargetCatalogue& catalogue() { return catalogue_; }

 private:
  std::vector<std::unique_ptr<TargetKind>> kinds_;
  std::vector<std::unique_ptr<RefiningKind>> refinements_;
  std::vector<std::pair<std::string, MakeRefinement>> waiting_;  // for the kind they refine
  TargetCatalogue catalogue_;
};

}  // namespace intarsia
