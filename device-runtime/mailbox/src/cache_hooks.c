/* The mailbox's hooks are those of the whole runtime, unless a firmware defines these two: they are weak, and in a file of
 * their own. */
#include "intarsia/contract/cache.h"
#include "intarsia/mailbox/mailbox.h"

__attribute__((weak)) void intarsia_mailbox_clean(const void* begin, uint32_t bytes) {
  intarsia_cache_clean(begin, bytes);
}

__attribute__((weak)) void intarsia_mailbox_invalidate(void* begin, uint32_t bytes) {
  intarsia_cache_invalidate(begin, bytes);
}
