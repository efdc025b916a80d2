/* Data caches. Devices read and write memory past the CPU's cache, and so do other cores: the runtime calls these hooks
 * where memory changes hands. The ones it brings do nothing and are weak, for cores without a data cache, or with
 * memories that are not cached. A firmware for others defines both, with CMSIS for example:
 *
 *   void intarsia_cache_clean(const void *begin, uint32_t bytes) {
 *     SCB_CleanDCache_by_Addr((void *)begin, (int32_t)bytes);
 *   }
 *   void intarsia_cache_invalidate(void *begin, uint32_t bytes) {
 *     SCB_InvalidateDCache_by_Addr(begin, (int32_t)bytes);
 *   }
 *
 * Around each stream that <model>_run hands to a device, what the device reads or writes is cleaned before, and what it
 * leaves for others is invalidated after. Ranges that are invalidated were cleaned before and hold nothing of anybody
 * else's, in whole cache lines: the compiler aligns and pads what devices write to "cache_line" of board.json. */
#ifndef INTARSIA_CONTRACT_CACHE_H
#define INTARSIA_CONTRACT_CACHE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What this core has written there is in memory, and its cache will write nothing there later. */
void intarsia_cache_clean(const void *begin, uint32_t bytes);

/* What this core reads there next comes from memory. */
void intarsia_cache_invalidate(void *begin, uint32_t bytes);

#ifdef __cplusplus
}
#endif

#endif
