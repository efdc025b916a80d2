#include "fault.h"

#include <stdint.h>

#include "intarsia_board/port.h"
#include "registers.h"
#include "text.h"

extern uint32_t __intarsia_stack_bottom[];
extern uint32_t __intarsia_stack_top[];

enum { kFrameWords = 8, kFramePc = 6 };

/* Named by the assembly below alone, which an optimiser of the whole program does not read. */
__attribute__((used)) _Noreturn void intarsia_report_fault(const uint32_t* frame);

/* The stack may be what broke, so the handler starts a new one at the top; the frame that the
 * processor pushed is read through the old pointer, if it points into the stack at all. */
__attribute__((naked)) void intarsia_fault(void) {
  __asm__ volatile(
      ".syntax unified\n"
      "mrs r0, msp\n"
      "ldr r1, =__intarsia_stack_top\n"
      "msr msp, r1\n"
      "ldr r1, =intarsia_report_fault\n"
      "bx r1\n"
      ".ltorg\n");
}

_Noreturn void intarsia_report_fault(const uint32_t* frame) {
  /* Static, and small: the new stack overlaps the old one's oldest frames, among them `frame`
   * when the fault came early. */
  static char line[96];
  struct intarsia_text text;
  const int in_stack = (INTARSIA_CFSR & INTARSIA_CFSR_STKOF) == 0u &&
                       frame >= __intarsia_stack_bottom &&
                       frame + kFrameWords <= __intarsia_stack_top;
  const uint32_t pc = in_stack ? frame[kFramePc] : 0u;
  intarsia_text_start(&text, line, (int32_t)sizeof line);
  intarsia_text_add(&text, "intarsia: fault: exception ");
  intarsia_text_add_number(&text, (int32_t)(INTARSIA_ICSR & 0x1FFu));
  if (in_stack) { /* otherwise the processor could not push where it was */
    intarsia_text_add(&text, " at pc ");
    intarsia_text_add_hex(&text, pc);
  } else {
    intarsia_text_add(&text, ", stack overflow");
  }
  intarsia_text_add(&text, ", cfsr ");
  intarsia_text_add_hex(&text, INTARSIA_CFSR);
  if ((INTARSIA_CFSR & INTARSIA_CFSR_BFARVALID) != 0u) {
    intarsia_text_add(&text, ", address ");
    intarsia_text_add_hex(&text, INTARSIA_BFAR);
  }
  intarsia_text_add(&text, "\n");
  intarsia_port_console(line);
  intarsia_port_exit(INTARSIA_EXIT_FAULT);
}
