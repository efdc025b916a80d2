#if defined(__linux__) && __has_include(<dlfcn.h>)

#include "intarsia/targets/cuda/libraries.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace intarsia::targets::cuda {
namespace {

// The first of them that opens; never closed, since a driver's threads may outlive what uses it.
void *open_first(const char *variable, const char *const *names, size_t count) {
  const char *named = getenv(variable);
  if (named != nullptr && *named != '\0') return dlopen(named, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < count; ++i)
    if (void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

// A pointer to an object is one to a function on every system that has dlsym.
template <typename Function>
bool find(void *library, const char *symbol, Function &function) {
  void *found = dlsym(library, symbol);
  if (found == nullptr) {
    (void)fprintf(stderr, "intarsia: cuda: %s is missing in the library: it is too old\n", symbol);
    return false;
  }
  static_assert(sizeof found == sizeof function);
  memcpy(&function, &found, sizeof found);
  return true;
}

}  // namespace

bool open_driver(DriverFunctions &functions) {
  static const char *const names[] = {"libcuda.so.1"};
  void *library = open_first("INTARSIA_CUDA_DRIVER", names, 1);
  if (library == nullptr) {
    (void)fprintf(
        stderr,
        "intarsia: cuda: the CUDA driver is not there (libcuda.so.1); install the driver of "
        "an NVIDIA GPU, or choose a target without cuda\n");
    return false;
  }
  bool complete = true;
#define DRIVER(name, symbol, ...) complete = complete && find(library, #symbol, functions.name);
#include "intarsia/targets/cuda/functions.def"
  return complete;
}

bool open_compiler(CompilerFunctions &functions) {
  static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                      "libnvrtc.so.11.2"};
  void *library = open_first("INTARSIA_NVRTC", names, sizeof names / sizeof names[0]);
  if (library == nullptr) {
    (void)fprintf(
        stderr,
        "intarsia: cuda: the compiler of CUDA C is not there (libnvrtc.so); install NVRTC "
        "and let INTARSIA_NVRTC name it\n");
    return false;
  }
  bool complete = true;
#define COMPILER(name, symbol, ...) complete = complete && find(library, #symbol, functions.name);
#include "intarsia/targets/cuda/functions.def"
  return complete;
}

char *compile_to_ptx(const char *source, uint32_t arch) {
  CompilerFunctions compiler;
  if (!open_compiler(compiler)) return nullptr;
  char option[48];
  (void)snprintf(option, sizeof option, "--gpu-architecture=compute_%u",
                 static_cast<unsigned>(arch));
  const char *const options[] = {option, "--fmad=false"};
  void *program = nullptr;
  int code = compiler.create(&program, source, "kernels.cu", 0, nullptr, nullptr);
  char *ptx = nullptr;
  size_t bytes = 0;
  if (code == 0) code = compiler.compile(program, 2, options);
  const bool is_ptx = code == 0;
  if (is_ptx) code = compiler.ptx_size(program, &bytes);
  if (!is_ptx && program != nullptr && compiler.log_size(program, &bytes) != 0) bytes = 0;
  char *text = bytes == 0 ? nullptr : static_cast<char *>(malloc(bytes));
  if (text != nullptr && is_ptx && compiler.ptx(program, text) == 0) {
    ptx = text;
  } else {
    const bool has_log = text != nullptr && !is_ptx && compiler.log(program, text) == 0;
    (void)fprintf(stderr, "intarsia: cuda: NVRTC fails with error %d:\n%s\n", code,
                  has_log ? text : "");
    free(text);
  }
  if (program != nullptr) (void)compiler.destroy(&program);
  return ptx;
}

}  // namespace intarsia::targets::cuda

#endif
