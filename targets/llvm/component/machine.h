// A machine that LLVM makes code for.
#pragma once

#include <memory>
#include <string>

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "intarsia/targets/llvm/component.h"

namespace intarsia::targets::llvm {

// A text that LLVM owns.
struct Message {
  char* text = nullptr;
  ~Message() { LLVMDisposeMessage(text); }
  std::string str() const { return text == nullptr ? "" : text; }
};

using Machine = std::unique_ptr<LLVMOpaqueTargetMachine, decltype(&LLVMDisposeTargetMachine)>;

// Null, and why, where LLVM has no code for it.
Machine make_machine(const intarsia_llvm_machine& asked, std::string& problem);

// Registers of several numbers: their bits; whether elements of them change places at once; the bits of the widest one whose
// 16-bit numbers are multiplied and added in pairs, as x86 does. 0 where there is none.
struct Vectors {
  int bits;
  bool permutes;
  int pair_bits;
};
Vectors vectors_of(LLVMTargetMachineRef machine);

// Whether this processor is one of that kind and has all that it is asked for.
bool runs_here(const intarsia_llvm_machine& asked);
// Registers LLVM's code generators; more than once does no harm.
void initialise();

}  // namespace intarsia::targets::llvm
