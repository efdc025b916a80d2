// What files of objects are called, and what those for this machine have beside the functions that C calls: each kernel,
// called with the addresses of its buffers in one array.
#pragma once

#include <string>

namespace intarsia::targets::llvm {

// Behind the model's name: the object file of a whole model; of its kernels, where the schedule is C and drives devices.
inline constexpr const char *kModelFile = ".o", *kKernelsFile = "_kernels.o";

// "kws.call.conv_3": no function of a C program has such a name.
inline std::string native_name(const std::string& model, const std::string& function) {
  return model + ".call." + function;
}

}  // namespace intarsia::targets::llvm
