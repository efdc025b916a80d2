// Whether the Arm Compute Library is there. Elsewhere, as for a microcontroller, the driver is one that finds no device; for a
// program under Linux on a 64-bit Arm that is no use to anybody.
#pragma once

#if defined(__aarch64__) && defined(__linux__)
#if !__STDC_HOSTED__
#ifndef INTARSIA_ARM_ACL_MAY_BE_ABSENT
#error \
    "the Arm Compute Library's driver is C++ for an operating system: compile it without -ffreestanding and -fno-exceptions"
#endif
#elif __has_include(<arm_compute/runtime/NEON/NEFunctions.h>)
#define INTARSIA_HAS_ARM_ACL 1
#elif !defined(INTARSIA_ARM_ACL_MAY_BE_ABSENT)
#error \
    "the Arm Compute Library's headers are not there: install libarm-compute-dev of arm64 (Debian, Ubuntu)"
#endif
#endif
