/* Empty functions around every run of a model. The instruction counting plugin, a debugger or
 * a trace probe finds them by their symbols. */
#ifndef INTARSIA_BOARD_MARKS_H
#define INTARSIA_BOARD_MARKS_H

void intarsia_mark_begin(void);
void intarsia_mark_end(void);
/* Around a wait for a device that is simulated in another program: how often it looks depends on the
 * machine, and what lies between is not counted. */
void intarsia_mark_pause(void);
void intarsia_mark_resume(void);

#endif
