// A function of a lowered model as a kernel of an image: what may differ from model to model is an operand of it, and
// what is left is its identity.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "intarsia/plugin/kernel_library.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/result.h"

namespace intarsia::executable {

struct KernelOperand {
  std::string type;  // in C: "const int8_t *"
  int64_t bytes = 0;
  bool is_written = false;
  int32_t alignment = 1;
};

struct KernelCode {
  uint64_t id = 0;   // of the text, the operands and the runtime's version
  std::string name;  // for people: "depthwise_conv2d i8[1,25,5,64] -> i8[1,25,5,64]"
  std::string text;  // C: static void intarsia_kernel_<id>(...) { ... }
  std::vector<KernelOperand> operands;
};

// "intarsia_kernel_00c0ffee00c0ffee"
std::string kernel_symbol(uint64_t id);

// A kernel, and what this function hands to it behind its own parameters: constants of the module, then the numbers that
// stand in the function's text, where there are any.
struct BoundKernel {
  KernelCode code;
  std::vector<ConstantId> constants;
  std::vector<int32_t> numbers;
  std::vector<float> reals;
};

// Refuses what is no kernel by itself: functions that call others.
Result<BoundKernel> bound_kernel(const tir::Module& module, const tir::Func& func,
                                 const ConstantStructs& structs);

}  // namespace intarsia::executable
