/* The version of the runtime's interfaces, which emitted sources are compiled for. Sources of several models share
 * one runtime in a program, and are refused by the C compiler when it is not theirs. */
#ifndef INTARSIA_CONTRACT_VERSION_H
#define INTARSIA_CONTRACT_VERSION_H

#define INTARSIA_RUNTIME_VERSION 2

#endif
