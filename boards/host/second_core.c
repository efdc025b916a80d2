/* Cores of this machine are threads. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#include "intarsia/contract/board_cores.h"

enum { kMaxCores = 8 };

static void (*entries[kMaxCores])(void);

static void* run_entry(void* entry) {
  (*(void (**)(void))entry)();
  return NULL;
}

int32_t intarsia_board_start_core(int32_t core, void (*entry)(void)) {
  pthread_t thread;
  if (core < 1 || core >= kMaxCores) return -1;
  entries[core] = entry;
  if (pthread_create(&thread, NULL, run_entry, &entries[core]) != 0) return -1;
  return pthread_detach(thread) == 0 ? 0 : -1;
}

void intarsia_board_idle(void) {
  (void)sched_yield();
}
