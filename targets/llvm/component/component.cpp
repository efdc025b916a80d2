// What links LLVM: text of its IR becomes an object file. Uses the C interface but for machine.cpp, since that stays from
// one release of LLVM to the next.
#include <cstring>
#include <memory>
#include <string>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

#include "intarsia/targets/llvm/component.h"
#include "machine.h"

namespace {

using intarsia::targets::llvm::Machine;
using intarsia::targets::llvm::make_machine;
using intarsia::targets::llvm::Message;

// The helpers of device-runtime/kernels and helpers/frame.c as bitcode, for machines of either width.
constexpr unsigned char kHelpers32[] = {
#include "helpers_32.inc"
};
constexpr unsigned char kHelpers64[] = {
#include "helpers_64.inc"
};

using Context = std::unique_ptr<LLVMOpaqueContext, decltype(&LLVMContextDispose)>;
using Module = std::unique_ptr<LLVMOpaqueModule, decltype(&LLVMDisposeModule)>;
using Layout = std::unique_ptr<LLVMOpaqueTargetData, decltype(&LLVMDisposeTargetData)>;
using Buffer = std::unique_ptr<LLVMOpaqueMemoryBuffer, decltype(&LLVMDisposeMemoryBuffer)>;

int fail(intarsia_llvm_take take, void* context, const std::string& problem) {
  take(context, problem.data(), problem.size());
  return 1;
}

// Without what binds code to the machine that the bitcode was made for, and without "no-builtins", with which it is not
// put in place of a call by functions that do not say so.
void make_helper(LLVMValueRef function) {
  for (const char* name :
       {"target-cpu", "target-features", "tune-cpu", "frame-pointer", "min-legal-vector-width",
        "stack-protector-buffer-size", "no-builtins", "use-soft-float"})
    LLVMRemoveStringAttributeAtIndex(function,
                                     static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                                     name, static_cast<unsigned>(std::strlen(name)));
  LLVMSetLinkage(function, LLVMInternalLinkage);
}

Module read_text(LLVMContextRef context, const intarsia_llvm_module& asked, std::string& problem) {
  LLVMMemoryBufferRef text =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(asked.text, asked.text_size, "model");
  LLVMModuleRef module = nullptr;
  Message message;
  if (LLVMParseIRInContext(context, text, &module, &message.text) != 0) {
    problem = "LLVM does not read the code of the model: " + message.str();
    return {nullptr, LLVMDisposeModule};
  }
  return {module, LLVMDisposeModule};
}

Module read_helpers(LLVMContextRef context, bool wide, std::string& problem) {
  const char* bytes = reinterpret_cast<const char*>(wide ? kHelpers64 : kHelpers32);
  const Buffer code{LLVMCreateMemoryBufferWithMemoryRange(
                        bytes, wide ? sizeof kHelpers64 : sizeof kHelpers32, "helpers", 0),
                    LLVMDisposeMemoryBuffer};
  LLVMModuleRef module = nullptr;
  if (LLVMParseBitcodeInContext2(context, code.get(), &module) != 0)
    problem = "LLVM does not read the helpers";
  return {module, LLVMDisposeModule};
}

bool same_signature(LLVMValueRef declared, LLVMValueRef defined) {
  LLVMTypeRef a = LLVMGlobalGetValueType(declared), b = LLVMGlobalGetValueType(defined);
  const unsigned count = LLVMCountParamTypes(a);
  if (count != LLVMCountParamTypes(b)) return false;
  for (unsigned i = 0; i < count; ++i) {
    LLVMTypeRef x = LLVMTypeOf(LLVMGetParam(declared, i)), y = LLVMTypeOf(LLVMGetParam(defined, i));
    const bool pointers =
        LLVMGetTypeKind(x) == LLVMPointerTypeKind && LLVMGetTypeKind(y) == LLVMPointerTypeKind;
    if (x != y && !pointers) return false;
  }
  return true;
}

// Helpers that are called become functions of the module.
std::string link_helpers(LLVMModuleRef module, LLVMModuleRef helpers, const std::string& triple,
                         const std::string& layout) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f != nullptr; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f) == 0) continue;
    size_t size = 0;
    const std::string name = LLVMGetValueName2(f, &size);
    if (name.starts_with("llvm.")) continue;
    LLVMValueRef defined = LLVMGetNamedFunction(helpers, name.c_str());
    if (defined == nullptr || LLVMIsDeclaration(defined) != 0)
      return "calls '" + name + "', which is no helper of the runtime";
    if (!same_signature(f, defined)) return "calls '" + name + "' with operands of other types";
  }
  LLVMSetTarget(helpers, triple.c_str());
  LLVMSetDataLayout(helpers, layout.c_str());
  return "";
}

void give_constants(LLVMContextRef context, LLVMModuleRef module,
                    const intarsia_llvm_module& asked) {
  for (size_t i = 0; i < asked.constant_count; ++i) {
    const intarsia_llvm_constant& constant = asked.constants[i];
    LLVMValueRef global = LLVMGetNamedGlobal(module, constant.name);
    if (global == nullptr) continue;
    LLVMSetInitializer(
        global, LLVMConstStringInContext(context, reinterpret_cast<const char*>(constant.bytes),
                                         static_cast<unsigned>(constant.size), 1));
    LLVMSetLinkage(global, LLVMInternalLinkage);
  }
}

std::string optimise(LLVMModuleRef module, LLVMTargetMachineRef machine) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
  LLVMPassBuilderOptionsSetSLPVectorization(options, 1);
  LLVMPassBuilderOptionsSetLoopInterleaving(options, 1);
  LLVMPassBuilderOptionsSetLoopUnrolling(options, 1);
  LLVMErrorRef error = LLVMRunPasses(module, "default<O3>", machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (error == nullptr) return "";
  char* text = LLVMGetErrorMessage(error);
  const std::string problem = text;
  LLVMDisposeErrorMessage(text);
  return problem;
}

}  // namespace

extern "C" int intarsia_llvm_describe(const intarsia_llvm_machine* machine,
                                      intarsia_llvm_facts* facts, intarsia_llvm_take take,
                                      void* context) {
  std::string problem;
  const Machine made = make_machine(*machine, problem);
  if (made == nullptr) return fail(take, context, problem);
  const Layout layout{LLVMCreateTargetDataLayout(made.get()), LLVMDisposeTargetData};
  facts->pointer_bits = static_cast<int32_t>(8 * LLVMPointerSize(layout.get()));
  facts->typed_pointers = LLVM_VERSION_MAJOR < 15;
  facts->little_endian = LLVMByteOrder(layout.get()) == LLVMLittleEndian;
  facts->runs_here = intarsia::targets::llvm::runs_here(*machine) ? 1 : 0;
  const intarsia::targets::llvm::Vectors vectors = intarsia::targets::llvm::vectors_of(made.get());
  facts->vector_bits = vectors.bits;
  facts->permutes = vectors.permutes ? 1 : 0;
  facts->pair_bits = vectors.pair_bits;
  return 0;
}

extern "C" int intarsia_llvm_compile(const intarsia_llvm_machine* machine,
                                     const intarsia_llvm_module* asked, intarsia_llvm_take take,
                                     void* context) {
  std::string problem;
  const Machine made = make_machine(*machine, problem);
  if (made == nullptr) return fail(take, context, problem);
  const Layout data{LLVMCreateTargetDataLayout(made.get()), LLVMDisposeTargetData};
  const Message layout{LLVMCopyStringRepOfTargetData(data.get())};
  const Message triple{LLVMGetTargetMachineTriple(made.get())};
  const Context own{LLVMContextCreate(), LLVMContextDispose};

  const Module module = read_text(own.get(), *asked, problem);
  if (module == nullptr) return fail(take, context, problem);
  LLVMSetTarget(module.get(), triple.text);
  LLVMSetDataLayout(module.get(), layout.text);
  Module helpers = read_helpers(own.get(), LLVMPointerSize(data.get()) == 8, problem);
  if (helpers == nullptr) return fail(take, context, problem);
  problem = link_helpers(module.get(), helpers.get(), triple.str(), layout.str());
  if (!problem.empty()) return fail(take, context, problem);
  std::string names;
  for (LLVMValueRef f = LLVMGetFirstFunction(helpers.get()); f != nullptr;
       f = LLVMGetNextFunction(f))
    if (LLVMIsDeclaration(f) == 0) names += std::string(LLVMGetValueName(f)) + '\0';
  if (LLVMLinkModules2(module.get(), helpers.release()) != 0)
    return fail(take, context, "LLVM does not link the helpers");
  for (size_t at = 0; at < names.size(); at += std::strlen(&names[at]) + 1)
    if (LLVMValueRef f = LLVMGetNamedFunction(module.get(), &names[at])) make_helper(f);
  give_constants(own.get(), module.get(), *asked);
  Message wrong;
  if (LLVMVerifyModule(module.get(), LLVMReturnStatusAction, &wrong.text) != 0)
    return fail(take, context, "the code of the model is not valid: " + wrong.str());
  problem = optimise(module.get(), made.get());
  if (!problem.empty()) return fail(take, context, problem);

  LLVMMemoryBufferRef object = nullptr;
  Message failed;
  if (LLVMTargetMachineEmitToMemoryBuffer(made.get(), module.get(), LLVMObjectFile, &failed.text,
                                          &object) != 0)
    return fail(take, context, "LLVM writes no object file: " + failed.str());
  const Buffer code{object, LLVMDisposeMemoryBuffer};
  take(context, LLVMGetBufferStart(code.get()), LLVMGetBufferSize(code.get()));
  return 0;
}
