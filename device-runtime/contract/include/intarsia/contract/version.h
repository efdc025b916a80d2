/* The version of the runtime's interfaces, which emitted sources are compiled for. Sources of several models share
 * one runtime in a program. A model is refused by the C compiler when the headers are not of its version, and by
 * its init function (INTARSIA_ERROR_RUNTIME_VERSION) when the runtime it is linked with is not. */
#ifndef INTARSIA_CONTRACT_VERSION_H
#define INTARSIA_CONTRACT_VERSION_H

#include <stdint.h>

#define INTARSIA_RUNTIME_VERSION 4

#ifdef __cplusplus
extern "C" {
#endif

/* INTARSIA_RUNTIME_VERSION as it was when the runtime's sources were compiled. */
int32_t intarsia_runtime_version(void);

#ifdef __cplusplus
}
#endif

#endif
