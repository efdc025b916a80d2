/* What docs/ethos-u-driver.md uses of a device header of CMSIS. */
#ifndef ARMCM55_H
#define ARMCM55_H

#include <stdint.h>

void SCB_CleanDCache_by_Addr(volatile void* address, int32_t bytes);
void SCB_InvalidateDCache_by_Addr(volatile void* address, int32_t bytes);

#endif
