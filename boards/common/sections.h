/* What the linker script says of sections, and how startup code fills those of RAM. */
#ifndef INTARSIA_BOARD_SECTIONS_H
#define INTARSIA_BOARD_SECTIONS_H

#include <stdint.h>

/* A region below the stack that nothing occupies; both values are symbols' addresses, size 0: none. */
extern uint32_t __intarsia_stack_guard[];
extern uint32_t __intarsia_stack_guard_log2[];
extern uint32_t __intarsia_data_start[];
extern uint32_t __intarsia_data_end[];
extern const uint32_t __intarsia_data_load[];
extern uint32_t __intarsia_bss_start[];
extern uint32_t __intarsia_bss_end[];

/* Word copies through volatile: the compiler may not turn them into calls of memcpy, whose
 * implementation may want the FPU that is not yet on. */
static inline void intarsia_fill_sections(void) {
  const uint32_t* from = __intarsia_data_load;
  for (volatile uint32_t* to = __intarsia_data_start; to < __intarsia_data_end;) *to++ = *from++;
  for (volatile uint32_t* to = __intarsia_bss_start; to < __intarsia_bss_end;) *to++ = 0;
}

#endif
