/* From reset to main, for a Cortex-M3, M4, M7, M33 or M55: vector table, memory, FPU. A fault ends the program with
 * status 14; so does an interrupt that nobody handles. */
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

/* An application that has interrupts defines them: by the names of CMSIS, and one for all that are not the core's own. */
__attribute__((weak, alias("fault"))) void SVC_Handler(void);
__attribute__((weak, alias("fault"))) void PendSV_Handler(void);
__attribute__((weak, alias("fault"))) void SysTick_Handler(void);
__attribute__((weak)) void interrupt_of_device(int32_t number);
void interrupt_of_device(int32_t number) {
  (void)number;
  fault();
}

static void interrupt(void) {
  const uint32_t exception = *(volatile uint32_t*)0xE000ED04u & 0x1FFu; /* ICSR */
  interrupt_of_device((int32_t)exception - 16);
}
#define INTERRUPTS_4 interrupt, interrupt, interrupt, interrupt
#define INTERRUPTS_16 INTERRUPTS_4, INTERRUPTS_4, INTERRUPTS_4, INTERRUPTS_4

struct vectors {
  uint32_t* initial_stack;
  void (*core[15])(void);
  void (*devices[64])(void);
};

__attribute__((section(".vectors"), used))
const struct vectors vectors = {stack_top,
                                {reset, fault, fault, fault, fault, fault, fault, fault, fault,
                                 fault, SVC_Handler, fault, fault, PendSV_Handler, SysTick_Handler},
                                {INTERRUPTS_16, INTERRUPTS_16, INTERRUPTS_16, INTERRUPTS_16}};

_Noreturn void reset(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  *(volatile uint32_t*)0xE000ED88u |=
      0xFu << 20; /* CPACR: full access to coprocessors 10 and 11, the FPU and Helium */
  __asm__ volatile("dsb\n isb" ::: "memory");
#endif
  /* Through volatile: the compiler may not make calls of these loops before memory is ready. */
  const uint32_t* from = data_load;
  for (volatile uint32_t* to = data_start; to < data_end; ++to) *to = *from++;
  for (volatile uint32_t* to = bss_start; to < bss_end; ++to) *to = 0u;
  host_exit(main());
}
