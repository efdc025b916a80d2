/* What the kernels ask of a C library, for a compiler that has none for the machine. */
#ifndef INTARSIA_TARGETS_LLVM_STRING_H_
#define INTARSIA_TARGETS_LLVM_STRING_H_

#include <stddef.h>

void* memcpy(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);

#endif
