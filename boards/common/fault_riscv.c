#include "fault.h"

#include <stdint.h>

#include "intarsia_board/port.h"
#include "registers_riscv.h"
#include "text.h"

extern uint32_t __intarsia_stack_bottom[];
extern uint32_t __intarsia_stack_guard[];

enum { kInstructionAccess = 1, kLoadAccess = 5, kStoreAccess = 7 };

/* Named by the assembly below alone, which an optimiser of the whole program does not read. */
__attribute__((used)) _Noreturn void intarsia_report_fault(uint32_t cause, uint32_t pc,
                                                           uint32_t value);

/* The stack may be what broke, so the handler starts a new one at the top. Aligned as mtvec wants it. */
__attribute__((naked, aligned(4))) void intarsia_fault(void) {
  __asm__ volatile(                                     /* mcause, mepc, mtval */
                   INTARSIA_CSR_READ_ASM("a0", "0x342") /**/
                   INTARSIA_CSR_READ_ASM("a1", "0x341") /**/
                   INTARSIA_CSR_READ_ASM("a2", "0x343") /**/
                   "la sp, __intarsia_stack_top\n"
                   "j intarsia_report_fault\n");
}

_Noreturn void intarsia_report_fault(uint32_t cause, uint32_t pc, uint32_t value) {
  static char line[96]; /* the new stack overlaps the old one's oldest frames */
  struct intarsia_text text;
  const int is_access =
      cause == kInstructionAccess || cause == kLoadAccess || cause == kStoreAccess;
  const int below_stack = value >= (uint32_t)(uintptr_t)__intarsia_stack_guard &&
                          value < (uint32_t)(uintptr_t)__intarsia_stack_bottom;
  intarsia_text_start(&text, line, (int32_t)sizeof line);
  intarsia_text_add(&text, "intarsia: fault: exception ");
  intarsia_text_add_number(&text, (int32_t)cause);
  intarsia_text_add(&text, " at pc ");
  intarsia_text_add_hex(&text, pc);
  if (is_access) {
    intarsia_text_add(&text, ", address ");
    intarsia_text_add_hex(&text, value);
  }
  if (is_access && below_stack) intarsia_text_add(&text, ", stack overflow");
  intarsia_text_add(&text, "\n");
  intarsia_port_console(line);
  intarsia_port_exit(INTARSIA_EXIT_FAULT);
}
