/* For cores without data caches, or with caches that the hardware keeps equal. A firmware for others
 * defines both functions itself: these are weak, and in a file of their own. */
#include "intarsia/mailbox/mailbox.h"

__attribute__((weak)) void intarsia_mailbox_clean(const void* begin, uint32_t bytes) {
  (void)begin;
  (void)bytes;
}

__attribute__((weak)) void intarsia_mailbox_invalidate(void* begin, uint32_t bytes) {
  (void)begin;
  (void)bytes;
}
