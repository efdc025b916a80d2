/* beside_npu: command streams of the accelerators. Generated file, private to beside_npu.c. */
#ifndef BESIDE_NPU_PACKAGE_H
#define BESIDE_NPU_PACKAGE_H

#include <stdint.h>

#define BESIDE_NPU_PACKAGE_BYTES 576u

extern const uint8_t beside_npu_package[BESIDE_NPU_PACKAGE_BYTES];

#endif
