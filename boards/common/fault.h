/* The handler of every exception that should not happen: says what and where on the console and
 * exits with INTARSIA_EXIT_FAULT. Works with a broken stack. */
#ifndef INTARSIA_BOARD_FAULT_H
#define INTARSIA_BOARD_FAULT_H

void intarsia_fault(void);

#endif
