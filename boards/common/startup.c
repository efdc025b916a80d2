/* From reset to the inference main, for every Cortex-M board. What differs between cores comes from
 * the compiler's macros, what differs between boards from the linker script made from board.json.
 */
#include <stdint.h>

#include "fault.h"
#include "intarsia_board/port.h"
#include "intarsia_board/stack.h"
#include "registers.h"
#include "sections.h"

extern uint32_t __intarsia_stack_bottom[];
extern uint32_t __intarsia_stack_top[];

_Noreturn void intarsia_reset(void);

typedef void (*intarsia_vector)(void);

struct intarsia_vector_table {
  uint32_t* initial_stack;
  intarsia_vector handlers[15];
};

/* Only the system exceptions: no board enables an interrupt. Reserved entries fault as well. */
__attribute__((section(".intarsia.vectors"), used))
const struct intarsia_vector_table intarsia_vectors = {
    __intarsia_stack_top,
    {intarsia_reset, intarsia_fault, intarsia_fault, intarsia_fault, intarsia_fault, intarsia_fault,
     intarsia_fault, intarsia_fault, intarsia_fault, intarsia_fault, intarsia_fault, intarsia_fault,
     intarsia_fault, intarsia_fault, intarsia_fault}};

#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
/* The cores with the Security Extension leave reset in the secure state, where the SAU is off and
 * all memory is secure: nothing to configure, only the stack limit. */
static void guard_stack(void) {
  __asm__ volatile("msr msplim, %0" ::"r"(__intarsia_stack_bottom));
}
#else
/* Not every board faults on an access below its RAM, so the protection unit sees to it. */
static void guard_stack(void) {
  uint32_t log2_size = (uint32_t)(uintptr_t)__intarsia_stack_guard_log2;
  __asm__("" : "+r"(log2_size)); /* else no compiler believes that an object's address is 0 */
  if (((INTARSIA_MPU_TYPE >> 8) & 0xFFu) == 0u || log2_size == 0u) return;
  INTARSIA_MPU_RNR = 0u;
  INTARSIA_MPU_RBAR = (uint32_t)(uintptr_t)__intarsia_stack_guard;
  INTARSIA_MPU_RASR = INTARSIA_MPU_RASR_NO_ACCESS | (log2_size - 1u) << 1;
  INTARSIA_MPU_CTRL = INTARSIA_MPU_CTRL_ENABLE_WITH_DEFAULT;
}
#endif

static void enable_core_features(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  INTARSIA_CPACR |= INTARSIA_CPACR_CP10_CP11;
#endif
#if defined(__ARM_ARCH_8_1M_MAIN__)
  INTARSIA_CCR |= INTARSIA_CCR_LOB;
#endif
#if defined(__ARM_ARCH_6M__)
  /* Always so on these cores; a larger core that runs their code is made to fault like them. */
  INTARSIA_CCR |= INTARSIA_CCR_UNALIGN_TRP;
#endif
  __asm__ volatile("dsb\n isb" ::: "memory");
}

_Noreturn void intarsia_reset(void) {
  guard_stack();
  enable_core_features();
  intarsia_stack_paint();
  intarsia_fill_sections();
  intarsia_port_exit(intarsia_inference_main());
}
