/* Two empty functions around every run of a model. The instruction counting plugin, a debugger or
 * a trace probe finds them by their symbols. */
#ifndef INTARSIA_BOARD_MARKS_H
#define INTARSIA_BOARD_MARKS_H

void intarsia_mark_begin(void);
void intarsia_mark_end(void);

#endif
