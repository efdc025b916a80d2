/* From reset to the inference main on RISC-V, in machine mode with one hart. What differs between cores comes from the compiler's
 * macros, what differs between boards from the linker script made from board.json. */
#include <stdint.h>

#include "fault.h"
#include "intarsia_board/port.h"
#include "intarsia_board/stack.h"
#include "registers_riscv.h"
#include "sections.h"

void intarsia_reset(void);
_Noreturn void intarsia_start(void);

/* The first instructions of the memory of the role `code`, where cores start that are told nothing else. */
__attribute__((naked, used, section(".intarsia.vectors"))) void intarsia_reset(void) {
  __asm__ volatile(
      "la sp, __intarsia_stack_top\n"
      "la tp, __intarsia_thread\n"
      "la t0, intarsia_fault\n" INTARSIA_CSR_WRITE_ASM("t0", "0x305") /* mtvec: every trap there */
      "j intarsia_start\n");
}

/* The first entry of the memory protection, locked: machine mode is not exempt from such a one. */
static void guard_stack(void) {
  uint32_t log2_size = (uint32_t)(uintptr_t)__intarsia_stack_guard_log2;
  const uint32_t base = (uint32_t)(uintptr_t)__intarsia_stack_guard;
  __asm__("" : "+r"(log2_size)); /* else no compiler believes that an object's address is 0 */
  if (log2_size == 0u) return;
  /* A region of 2^n bytes is its address in words with n - 3 ones behind. */
  INTARSIA_CSR_WRITE(INTARSIA_PMPADDR0, base >> 2 | ((1u << (log2_size - 3u)) - 1u));
  INTARSIA_CSR_WRITE(INTARSIA_PMPCFG0, INTARSIA_PMP_LOCKED | INTARSIA_PMP_POWER_OF_TWO);
}

static void enable_core_features(void) {
#if defined(__riscv_flen)
  INTARSIA_CSR_SET(INTARSIA_MSTATUS, INTARSIA_MSTATUS_FS_INITIAL);
#endif
}

_Noreturn void intarsia_start(void) {
  guard_stack();
  enable_core_features();
  intarsia_stack_paint();
  intarsia_fill_sections();
  intarsia_port_exit(intarsia_inference_main());
}
