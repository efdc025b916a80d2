// The two libraries of CUDA, opened while the program runs.
#ifndef INTARSIA_CUDA_LIBRARIES_H
#define INTARSIA_CUDA_LIBRARIES_H

#include <stddef.h>
#include <stdint.h>

namespace intarsia::targets::cuda {

struct DriverFunctions {
#define DRIVER(name, symbol, ...) int (*name)(__VA_ARGS__);
#include "intarsia/targets/cuda/functions.def"
};

struct CompilerFunctions {
#define COMPILER(name, symbol, ...) int (*name)(__VA_ARGS__);
#include "intarsia/targets/cuda/functions.def"
};

// Whether the library and all of the functions are there; a line on standard error where not. INTARSIA_CUDA_DRIVER and
// INTARSIA_NVRTC are paths of libraries that are not where the system looks.
bool open_driver(DriverFunctions &functions);
bool open_compiler(CompilerFunctions &functions);

// CUDA C as PTX, which the caller frees; null, and why on standard error, where it does not compile. PTX is some kilobytes
// for a driver that parses it within the call: it is the one thing here that is on the heap, as the libraries' own are.
char *compile_to_ptx(const char *source, uint32_t arch);

}  // namespace intarsia::targets::cuda

#endif
