// Through LLVM's C++ interface: the one in C says neither sections of functions nor calling conventions.
#include "machine.h"

#include <sstream>

#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>
#if LLVM_VERSION_MAJOR >= 17
#include <llvm/TargetParser/Triple.h>
#else
#include <llvm/ADT/Triple.h>
#endif
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

namespace intarsia::targets::llvm {
namespace {

#if LLVM_VERSION_MAJOR >= 18
constexpr auto kMost = ::llvm::CodeGenOptLevel::Aggressive;
#else
constexpr auto kMost = ::llvm::CodeGenOpt::Aggressive;
#endif

bool is_native(const intarsia_llvm_machine& machine) {
  return machine.triple[0] == 0;
}

// In LLVM's own spelling; of this machine where none is asked for.
std::string triple_of(const intarsia_llvm_machine& machine) {
  const Message triple{is_native(machine) ? LLVMGetDefaultTargetTriple()
                                          : LLVMNormalizeTargetTriple(machine.triple)};
  return triple.str();
}

// A program of an operating system may be loaded anywhere; firmware is where the linker puts it.
::llvm::Reloc::Model relocation_of(const std::string& triple) {
  return triple.find("linux") != std::string::npos || triple.find("darwin") != std::string::npos
             ? ::llvm::Reloc::PIC_
             : ::llvm::Reloc::Static;
}

// What the core has follows from its name, as compilers write it: "rv32imac".
struct Core {
  std::string name, features, abi;
};

Core core_of(const intarsia_llvm_machine& asked) {
  Core core{asked.cpu, asked.features, ""};
  if (is_native(asked) && core.name.empty()) {
    const Message name{LLVMGetHostCPUName()}, has{LLVMGetHostCPUFeatures()};
    return {name.str(), has.str() + (core.features.empty() ? "" : "," + core.features), ""};
  }
  if (!core.name.starts_with("rv32") && !core.name.starts_with("rv64")) return core;
  const std::string width = core.name.substr(2, 2), letters = core.name.substr(4);
  std::string features;
  for (const char letter : letters)
    if (letter != 'i') features += std::string(features.empty() ? "+" : ",+") + letter;
  core.abi = width == "32" ? "ilp32" : "lp64";
  core.abi += letters.find('d') != std::string::npos   ? "d"
              : letters.find('f') != std::string::npos ? "f"
                                                       : "";
  core.name = "generic-rv" + width;
  core.features = features + (core.features.empty() ? "" : "," + core.features);
  return core;
}

bool has_feature(const std::string& features, const std::string& asked) {
  return ("," + features + ",").find("," + asked + ",") != std::string::npos;
}

}  // namespace

void initialise() {
  static const bool once = [] {
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
    return true;
  }();
  (void)once;
}

Vectors vectors_of(LLVMTargetMachineRef asked) {
  ::llvm::TargetMachine& machine = *reinterpret_cast<::llvm::TargetMachine*>(asked);
  ::llvm::LLVMContext context;
  ::llvm::Module module("", context);
  module.setDataLayout(machine.createDataLayout());
  // What there is may differ from function to function: of one without attributes.
  ::llvm::Function* function =
      ::llvm::Function::Create(::llvm::FunctionType::get(::llvm::Type::getVoidTy(context), false),
                               ::llvm::Function::ExternalLinkage, "any", module);
  Vectors found{};
  const ::llvm::TargetTransformInfo info = machine.getTargetTransformInfo(*function);
  found.bits =
      static_cast<int>(info.getRegisterBitWidth(::llvm::TargetTransformInfo::RGK_FixedWidthVector)
                           .getKnownMinValue());
  if (found.bits == 0) return found;
  // Costs are in instructions, about.
  constexpr unsigned kBytes = 16;
  int interleaved[kBytes];
  for (unsigned i = 0; i < kBytes; ++i)
    interleaved[i] = static_cast<int>(i / 2 + i % 2 * kBytes / 2);
  found.permutes =
      info.getShuffleCost(::llvm::TargetTransformInfo::SK_PermuteSingleSrc,
                          ::llvm::FixedVectorType::get(::llvm::Type::getInt8Ty(context), kBytes),
                          interleaved) < ::llvm::InstructionCost(kBytes);
  const ::llvm::MCSubtargetInfo& has = *machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86()) return found;
  found.pair_bits = found.bits >= 512 && has.checkFeatures("+avx512bw") ? 512
                    : found.bits >= 256 && has.checkFeatures("+avx2")   ? 256
                    : found.bits >= 128 && has.checkFeatures("+sse2")   ? 128
                                                                        : 0;
  return found;
}

bool runs_here(const intarsia_llvm_machine& asked) {
  const Message here{LLVMGetDefaultTargetTriple()}, cpu{LLVMGetHostCPUName()},
      features{LLVMGetHostCPUFeatures()};
  if (!is_native(asked)) {
    const ::llvm::Triple own(here.str()), other(triple_of(asked));
    if (own.getArch() != other.getArch() || own.getOS() != other.getOS()) return false;
  }
  if (*asked.cpu != 0 && asked.cpu != cpu.str()) return false;
  std::stringstream all(asked.features);
  for (std::string one; std::getline(all, one, ',');)
    if (one.starts_with('+') && !has_feature(features.str(), one)) return false;
  return true;
}

Machine make_machine(const intarsia_llvm_machine& asked, std::string& problem) {
  initialise();
  const std::string triple = triple_of(asked);
  std::string message;
  const ::llvm::Target* target = ::llvm::TargetRegistry::lookupTarget(triple, message);
  if (target == nullptr) {
    problem = "LLVM " LLVM_VERSION_STRING " has no code generator for '" + triple + "'";
    return {nullptr, LLVMDisposeTargetMachine};
  }
  const Core core = core_of(asked);
  ::llvm::TargetOptions options;
  options.FunctionSections = true;
  options.DataSections = true;
  options.EmitStackSizeSection = true;  // what measures a model for a board reads
  options.MCOptions.ABIName = core.abi;
  ::llvm::TargetMachine* made = target->createTargetMachine(
      triple, core.name, core.features, options, relocation_of(triple), {}, kMost);
  if (made == nullptr) problem = "LLVM makes no code for '" + triple + "'";
  return {reinterpret_cast<LLVMTargetMachineRef>(made), LLVMDisposeTargetMachine};
}

}  // namespace intarsia::targets::llvm
