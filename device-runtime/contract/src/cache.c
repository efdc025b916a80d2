#include "intarsia/contract/cache.h"

/* In a file of their own, so that a linker takes none of it where the firmware defines both. */
__attribute__((weak)) void intarsia_cache_clean(const void *begin, uint32_t bytes) {
  (void)begin;
  (void)bytes;
}

__attribute__((weak)) void intarsia_cache_invalidate(void *begin, uint32_t bytes) {
  (void)begin;
  (void)bytes;
}
