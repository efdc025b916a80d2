// What objects for this machine have beside the functions of a package's header: each kernel, called with the addresses of
// its buffers in one array.
#pragma once

#include <string>

namespace intarsia::targets::llvm {

// "kws.call.conv_3": no function of a C program has such a name.
inline std::string native_name(const std::string& model, const std::string& function) {
  return model + ".call." + function;
}

}  // namespace intarsia::targets::llvm
