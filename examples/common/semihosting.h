/* What the examples' programs need of the outside: files of the host, a console, an end. By Arm semihosting (Arm's
 * "Semihosting for AArch32 and AArch64"), which QEMU and debug probes answer. */
#ifndef EXAMPLES_SEMIHOSTING_H
#define EXAMPLES_SEMIHOSTING_H

#include <stdint.h>

/* A file to read, below the folder that the emulator was started in. Negative if it cannot be opened. */
int32_t host_open(const char* path);

/* Bytes that were read: fewer than asked for only at the end of the file. Negative on failure. */
int32_t host_read(int32_t file, void* to, int32_t bytes);

void host_close(int32_t file);

void print(const char* text);
void print_number(int32_t value);
/* Hundredths as 1.23. */
void print_hundredths(int32_t value);

/* Ends the program and the emulator with an exit status. */
_Noreturn void host_exit(int32_t status);

/* Says what failed, with its code, and ends with status 1. */
_Noreturn void stop(const char* what, int32_t code);

#endif
