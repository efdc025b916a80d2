#include "kernel_program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/kernels.h"
#include "emission/c_constant.h"
#include "intarsia/plugin/c_function.h"
#include "intarsia/plugin/check.h"

namespace intarsia::targets::c {
void add_kinds(TargetRegistry& registry);
}
namespace intarsia::targets::cortex_m {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::cortex_m {

KernelProgram::KernelProgram(const std::string& core) {
  targets::c::add_kinds(registry_);
  targets::cortex_m::add_kinds(registry_);
  const Result<TargetSpec> target = parse_target(registry_.catalogue(), "c -mcpu=" + core);
  INTARSIA_CHECK(target.ok(), "a core of the table");
  target_ = target->host();
}

void KernelProgram::place_constants(int32_t cycles_per_access) {
  MemoryPool scratch, flash;
  scratch.name = "ram", flash.name = "flash";
  flash.read_only = flash.holds_constants = true;
  flash.cycles_per_access = cycles_per_access;
  memory_ = MemoryMap{.pools = {scratch, flash}, .masters = {}};
}

void KernelProgram::add(graph::Module module, LoweringOptions::Optimise optimise) {
  LoweringOptions lowering;
  lowering.optimise = optimise;
  if (memory_) lowering.memory = &*memory_;
  const Result<tir::LoweredFunction> lowered =
      registry_.kind_of(target_).graph_to_tir(target_, module, module.entry_function(), lowering);
  ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();
  const std::string prefix = fmt::format("m{}_", modules_.size());
  for (const tir::Constant& constant : lowered->module.constants)
    functions_ += *emission::emit_c_constant(constant, prefix,
                                             {emission::CLinkage::Static, 4, "INTARSIA_WEIGHTS"});
  const tir::Func& kernel = lowered->module.funcs[0];
  emission::CFunctionOptions options{prefix, {}, targets::cortex_m::kernel_structs()};
  const Result<std::string> function = emission::emit_c_function(lowered->module, kernel, options);
  ASSERT_TRUE(function.ok()) << function.error().to_string();
  tuned_ += function->find("static const struct intarsia_") != std::string::npos;
  const auto has = [&](const char* text) { return function->find(text) != std::string::npos; };
  copies_constants_ +=
      (has("intarsia_mve_conv_s") && !has(".group = 0,")) ||
      ((has("intarsia_staged_mve_shifted_s8") || has("intarsia_staged_mve_hybrid")) &&
       !has(".row_bytes = 0,"));
  functions_ +=
      *function + fmt::format("void {0}run(void **p);\nvoid {0}run(void **p) {{\n  {0}{1}(", prefix,
                              kernel.name);
  std::vector<size_t> scratch;
  const graph::Function& entry = module.entry_function();
  for (size_t i = 1; i < entry.outputs.size(); ++i)
    scratch.push_back(static_cast<size_t>(entry.tensor(entry.outputs[i]).bytes()));
  for (const tir::Buffer& buffer : kernel.buffers)
    if (buffer.scope == tir::Scope::Local) scratch.push_back(static_cast<size_t>(buffer.bytes()));
  for (size_t i = 0; i < kernel.parameters.size() + scratch.size() + 1 - entry.outputs.size(); ++i)
    functions_ += fmt::format("{}p[{}]", i == 0 ? "" : ", ", i);
  functions_ += ");\n}\n";
  scratch_.push_back(std::move(scratch));
  in_place_.push_back(kernel.in_place);
  modules_.push_back(std::move(module));
}

bool fits_small_memory(const graph::Module& module, const std::string& core) {
  constexpr int64_t kInputs = 2500, kOutputs = 2000, kScratch = 4000;
  const graph::Function& function = module.entry_function();
  const auto bytes_of = [&](const std::vector<graph::TensorId>& tensors) {
    int64_t bytes = 0;
    for (const graph::TensorId id : tensors) bytes += function.tensor(id).bytes();
    return bytes;
  };
  if (bytes_of(function.inputs) > kInputs || bytes_of(function.outputs) > kOutputs) return false;
  KernelProgram program(core);
  program.add(module);
  size_t scratch = 0;
  for (const size_t bytes : program.scratch(0)) scratch += bytes;
  return scratch <= kScratch;
}

// Operators that are loops are compared as exactly as kernels are, which keep their roundings: Clang would fuse products and sums,
// GCC does not as it is asked for C11.
std::string KernelProgram::text() const {
  return "#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n#include <stdbool.h>\n#include "
         "<stdint.h>\n#include \"intarsia/contract/placement.h\"\n"
         "#include \"intarsia/kernels/kernels.h\"\n#include "
         "\"intarsia/targets/cortex_m/kernels.h\"\n" +
         functions_;
}

}  // namespace intarsia::test::cortex_m
