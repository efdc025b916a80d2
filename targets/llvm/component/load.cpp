// An object file in the memory of this process, by LLVM's ORC.
#include <algorithm>
#include <memory>
#include <string>

#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

#include "intarsia/targets/llvm/component.h"
#include "machine.h"

struct intarsia_llvm_code {
  LLVMOrcLLJITRef jit = nullptr;
};

namespace {

using intarsia::targets::llvm::Message;

constexpr size_t kMachineOffset = 18;  // of e_machine in an ELF file
constexpr unsigned char kMachineHere =
#if defined(__x86_64__)
    62;
#elif defined(__aarch64__)
    183;
#elif defined(__riscv)
    243;
#else
    0;
#endif

bool is_for_this_machine(const std::string& object) {
  return object.size() > kMachineOffset &&
         object.starts_with(
             "\x7f"
             "ELF") &&
         object[4] == (sizeof(void*) == 8 ? 2 : 1) &&
         static_cast<unsigned char>(object[kMachineOffset]) == kMachineHere;
}

// Whether there is an error, which is told.
bool failed(LLVMErrorRef error, intarsia_llvm_take take, void* context) {
  if (error == nullptr) return false;
  char* text = LLVMGetErrorMessage(error);
  const std::string problem = text;
  LLVMDisposeErrorMessage(text);
  take(context, problem.data(), problem.size());
  return true;
}

}  // namespace

extern "C" intarsia_llvm_code* intarsia_llvm_load(const char* object, size_t size,
                                                  intarsia_llvm_take take, void* context) {
  if (!is_for_this_machine(std::string(object, std::min<size_t>(size, 64)))) return nullptr;
  intarsia::targets::llvm::initialise();
  auto code = std::make_unique<intarsia_llvm_code>();
  if (failed(LLVMOrcCreateLLJIT(&code->jit, nullptr), take, context)) return nullptr;
  LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(code->jit);
  // What LLVM makes of loops that copy and fill is in the C library of this process.
  LLVMOrcDefinitionGeneratorRef process = nullptr;
  bool wrong = failed(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                          &process, LLVMOrcLLJITGetGlobalPrefix(code->jit), nullptr, nullptr),
                      take, context);
  if (!wrong) {
    LLVMOrcJITDylibAddGenerator(library, process);
    LLVMMemoryBufferRef bytes = LLVMCreateMemoryBufferWithMemoryRangeCopy(object, size, "model");
    wrong = failed(LLVMOrcLLJITAddObjectFile(code->jit, library, bytes), take, context);
  }
  if (!wrong) return code.release();
  LLVMConsumeError(LLVMOrcDisposeLLJIT(code->jit));
  return nullptr;
}

extern "C" void* intarsia_llvm_find(intarsia_llvm_code* code, const char* name) {
  LLVMOrcExecutorAddress address = 0;
  if (LLVMErrorRef error = LLVMOrcLLJITLookup(code->jit, &address, name)) {
    LLVMConsumeError(error);
    return nullptr;
  }
  return reinterpret_cast<void*>(address);
}

extern "C" void intarsia_llvm_unload(intarsia_llvm_code* code) {
  LLVMConsumeError(LLVMOrcDisposeLLJIT(code->jit));
  delete code;
}
