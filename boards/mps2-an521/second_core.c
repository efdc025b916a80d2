/* The second Cortex-M33 waits after reset until CPUWAIT lets it go, and takes its vector table from
 * INITSVTOR1. Both registers are in the subsystem's secure system control block (Arm CoreLink SSE-200
 * Subsystem Technical Reference Manual). */
#include <stdint.h>

#include "intarsia/contract/board_cores.h"

#define INTARSIA_SYSTEM_CONTROL 0x50021000u
#define INTARSIA_INITSVTOR1 (*(volatile uint32_t*)(INTARSIA_SYSTEM_CONTROL + 0x114u))
#define INTARSIA_CPUWAIT (*(volatile uint32_t*)(INTARSIA_SYSTEM_CONTROL + 0x118u))
#define INTARSIA_CPUWAIT_CORE1 2u

enum { kStackWords = 1024 };

static uint64_t stack[kStackWords / 2];
static void (*entry_of_core)(void);

static void stop(void) {
  for (;;) __asm__ volatile("wfi");
}

static void reset_of_core(void) {
  __asm__ volatile("msr msplim, %0" ::"r"(stack));
  entry_of_core();
  stop();
}

/* As many vectors as the architecture has exceptions; no interrupt is enabled. */
__attribute__((aligned(128))) static const struct {
  uint64_t* initial_stack;
  void (*handlers[15])(void);
} vectors = {stack + kStackWords / 2,
             {reset_of_core, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop,
              stop, stop}};

int32_t intarsia_board_start_core(int32_t core, void (*entry)(void)) {
  if (core != 1) return -1;
  entry_of_core = entry;
  INTARSIA_INITSVTOR1 = (uint32_t)(uintptr_t)&vectors;
  __asm__ volatile("dsb" ::: "memory");
  INTARSIA_CPUWAIT &= ~INTARSIA_CPUWAIT_CORE1;
  return 0;
}

void intarsia_board_idle(void) {
  __asm__ volatile("yield");
}
