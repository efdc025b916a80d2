/* The program's code as the host compiler wrote it for the plugin: host-compiler/src/board/cycles/cycle_listing.h. */
#ifndef INTARSIA_CYCLES_LISTING_H
#define INTARSIA_CYCLES_LISTING_H

#include "cycles_model.h"

struct timed_memory {
  uint32_t base;
  uint64_t size;
  unsigned int cycles; /* of an access */
};

struct listing {
  struct instruction* instructions; /* in the order of their addresses */
  uint32_t count;
  struct timed_memory memories[32];
  uint32_t memory_count;
};

bool read_listing(const char* path, struct listing* listing);
/* NULL where no instruction begins. */
struct instruction* instruction_at(const struct listing* listing, uint32_t address);
/* Cycles that an access waits: 0 of memory that nothing is said of. */
unsigned int wait_states_at(const struct listing* listing, uint64_t address);

#endif
