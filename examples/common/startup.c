/* From reset to main, for a Cortex-M3, M4 or M7: vector table, memory, FPU. A fault ends the program with status 14. */
#include <stdint.h>

#include "semihosting.h"

extern uint32_t stack_top[];
extern uint32_t data_start[];
extern uint32_t data_end[];
extern const uint32_t data_load[];
extern uint32_t bss_start[];
extern uint32_t bss_end[];

int main(void);
_Noreturn void reset(void);

static _Noreturn void fault(void) {
  print("fault\n");
  host_exit(14);
}

struct vectors {
  uint32_t* initial_stack;
  void (*handlers[15])(void);
};

__attribute__((section(".vectors"), used))
const struct vectors vectors = {stack_top,
                                {reset, fault, fault, fault, fault, fault, fault, fault, fault,
                                 fault, fault, fault, fault, fault, fault}};

_Noreturn void reset(void) {
#if defined(__ARM_FP)
  *(volatile uint32_t*)0xE000ED88u |=
      0xFu << 20; /* CPACR: full access to coprocessors 10 and 11, the FPU */
  __asm__ volatile("dsb\n isb" ::: "memory");
#endif
  /* Through volatile: the compiler may not make calls of these loops before memory is ready. */
  const uint32_t* from = data_load;
  for (volatile uint32_t* to = data_start; to < data_end; ++to) *to = *from++;
  for (volatile uint32_t* to = bss_start; to < bss_end; ++to) *to = 0u;
  host_exit(main());
}
