/* Channels between the parts of one model that run on different cores: memory that all of them see, and
 * nothing else. Each channel has one sender and one receiver and room for two messages, so that one is
 * written while the other is read; nobody waits inside of a call and nothing is locked.
 *
 *   sender:    if (intarsia_channel_has_room(&c)) intarsia_channel_send(&c, slots, bytes, result);
 *   receiver:  if (intarsia_channel_has_message(&c)) intarsia_channel_receive(&c, slots, bytes, input);
 *
 * Cores with data caches that the hardware does not keep equal define the hooks of intarsia/contract/cache.h,
 * which do nothing by themselves. */
#ifndef INTARSIA_MAILBOX_MAILBOX_H
#define INTARSIA_MAILBOX_MAILBOX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counters and slots begin at multiples of this and share no cache line with anything else. */
#define INTARSIA_MAILBOX_ALIGNMENT 64
#define INTARSIA_MAILBOX_SLOTS 2

/* In shared memory. The counts run on and wrap around. */
struct intarsia_channel {
  uint32_t sent; /* written by the sender alone */
  uint8_t padding_after_sent[INTARSIA_MAILBOX_ALIGNMENT - sizeof(uint32_t)];
  uint32_t received; /* written by the receiver alone */
  uint8_t padding_after_received[INTARSIA_MAILBOX_ALIGNMENT - sizeof(uint32_t)];
};

/* Makes the channel empty. Before either side uses it. */
void intarsia_channel_reset(struct intarsia_channel* channel);

/* 1 or 0. What the sender (receiver) has once been told stays true until it sends (receives). */
int32_t intarsia_channel_has_room(struct intarsia_channel* channel);
int32_t intarsia_channel_has_message(struct intarsia_channel* channel);

/* `slots` are INTARSIA_MAILBOX_SLOTS messages, each `bytes` rounded up to the alignment. Only when there
 * is room, or a message. */
void intarsia_channel_send(struct intarsia_channel* channel, uint8_t* slots, uint32_t bytes,
                           const void* message);
void intarsia_channel_receive(struct intarsia_channel* channel, uint8_t* slots, uint32_t bytes,
                              void* message);

/* A word of shared memory that one core writes and others read. */
void intarsia_mailbox_store(uint32_t* word, uint32_t value);
uint32_t intarsia_mailbox_load(uint32_t* word);

/* Hooks, weak: intarsia_cache_clean and intarsia_cache_invalidate, unless the firmware defines these for mailboxes alone.
 * Ranges begin at a multiple of the alignment. */
void intarsia_mailbox_clean(const void* begin, uint32_t bytes);
void intarsia_mailbox_invalidate(void* begin, uint32_t bytes);

#ifdef __cplusplus
}
#endif

#endif
