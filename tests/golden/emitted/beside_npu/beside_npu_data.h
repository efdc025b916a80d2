/* beside_npu: weights and tables. Generated file, private to beside_npu.c. */
#ifndef BESIDE_NPU_DATA_H
#define BESIDE_NPU_DATA_H

#include <stdint.h>

extern const int8_t beside_npu_bent_table[256];

#endif
