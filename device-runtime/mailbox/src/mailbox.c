#include "intarsia/mailbox/mailbox.h"

#include <string.h>

/* The counters are words that every core of ours reads and writes whole. Acquire and release order the
 * message's bytes before the count that announces them, and the last read of a slot before the count
 * that gives it back. */

static uint8_t* slot_of(uint8_t* slots, uint32_t bytes, uint32_t count) {
  const uint32_t slot = (bytes + INTARSIA_MAILBOX_ALIGNMENT - 1u) / INTARSIA_MAILBOX_ALIGNMENT *
                        INTARSIA_MAILBOX_ALIGNMENT;
  return slots + count % INTARSIA_MAILBOX_SLOTS * slot;
}

void intarsia_mailbox_store(uint32_t* word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  intarsia_mailbox_clean(word, (uint32_t)sizeof *word);
}

uint32_t intarsia_mailbox_load(uint32_t* word) {
  intarsia_mailbox_invalidate(word, (uint32_t)sizeof *word);
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

void intarsia_channel_reset(struct intarsia_channel* channel) {
  intarsia_mailbox_store(&channel->sent, 0);
  intarsia_mailbox_store(&channel->received, 0);
}

int32_t intarsia_channel_has_room(struct intarsia_channel* channel) {
  return channel->sent - intarsia_mailbox_load(&channel->received) < INTARSIA_MAILBOX_SLOTS;
}

int32_t intarsia_channel_has_message(struct intarsia_channel* channel) {
  return intarsia_mailbox_load(&channel->sent) != channel->received;
}

void intarsia_channel_send(struct intarsia_channel* channel, uint8_t* slots, uint32_t bytes,
                           const void* message) {
  uint8_t* const slot = slot_of(slots, bytes, channel->sent);
  memcpy(slot, message, bytes);
  intarsia_mailbox_clean(slot, bytes);
  intarsia_mailbox_store(&channel->sent, channel->sent + 1u);
}

void intarsia_channel_receive(struct intarsia_channel* channel, uint8_t* slots, uint32_t bytes,
                              void* message) {
  uint8_t* const slot = slot_of(slots, bytes, channel->received);
  intarsia_mailbox_invalidate(slot, bytes);
  memcpy(message, slot, bytes);
  intarsia_mailbox_store(&channel->received, channel->received + 1u);
}
