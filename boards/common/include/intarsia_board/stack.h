/* Stack use, measured: paint the unused part, run something, look how deep the paint was scratched.
 * Exact to a word on boards; a board whose stack is not ours (the host) answers -1. */
#ifndef INTARSIA_BOARD_STACK_H
#define INTARSIA_BOARD_STACK_H

#include <stdint.h>

/* Paints everything below the caller's stack pointer. Uses no stack itself. */
void intarsia_stack_paint(void);
/* Bytes from the top of the stack to the caller's stack pointer at the last painting. */
int32_t intarsia_stack_level(void);
/* Bytes from the top of the stack to the deepest word written since the last painting, so
 * that depth - level is what the calls in between used. */
int32_t intarsia_stack_depth(void);
int32_t intarsia_stack_size(void);

#endif
